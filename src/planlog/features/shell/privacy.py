"""Keeps commands from reading this program: its memory, and through /proc the environment that it was started with."""

import sys
from contextlib import suppress
from functools import cache

_SET_DUMPABLE = 4
"""PR_SET_DUMPABLE of prctl(2): a process that is not dumpable is closed to others of the same user."""


@cache
def hide_from_commands() -> None:
    """From here on nobody but root and this program reads its /proc/PID, once and for all.

    It also means no core dump, and no debugger that attaches. Linux only: elsewhere other processes of a person cannot
    be read that easily, and nothing is done.
    """
    if sys.platform != "linux":
        return
    import ctypes  # only a command pays for it

    with suppress(OSError, AttributeError):  # a libc without it
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
