"""`python -m planlog`."""

import sys

from planlog.app.main import main

sys.exit(main())
