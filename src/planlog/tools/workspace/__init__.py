"""Which files a tool may reach: what lies in the folder that a session works in, and nothing else.

`confine` turns what a model wrote into a place, a path below the workspace with no link in it; `open_file` and
`replace_file` go to such a place step by step, following no link, so that a place stays inside even if somebody
changes a folder in between. All of it blocks: callers use a thread.
"""

from planlog.tools.workspace.confine import confine
from planlog.tools.workspace.opening import open_file
from planlog.tools.workspace.replacing import replace_file
from planlog.tools.workspace.wording import plain, quoted

__all__ = ["confine", "open_file", "plain", "quoted", "replace_file"]
