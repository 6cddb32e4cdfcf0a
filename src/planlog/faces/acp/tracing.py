"""Tells of faults of ours where a client's log shows them."""

import os
import threading
import traceback
from contextlib import suppress

STDERR = 2


def trace() -> None:
    """The error that is being handled, on stderr; nobody waits for whoever reads that, if anybody does."""
    text = traceback.format_exc().encode(errors="replace")
    threading.Thread(target=_write_stderr, args=(text,), name="ACP trace", daemon=True).start()


def _write_stderr(text: bytes) -> None:
    # Not by `sys.stderr`: the interpreter's end would wait for the lock of one that is full.
    with suppress(OSError):
        os.write(STDERR, text)
