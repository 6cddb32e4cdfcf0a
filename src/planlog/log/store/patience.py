"""How long to wait for a database that another process keeps locked, and what is said meanwhile."""

import random
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from planlog.log.store import StoreLocked

SHORTEST, LONGEST = 0.0003, 0.003
"""Bounds of one pause in seconds. SQLite's own handler waits ever longer and so starves whoever has waited longest."""


class Patience(msgspec.Struct, frozen=True):
    """Seconds of waiting until a notice is given, and until the call fails."""

    notice: float = 1.0
    limit: float = 10.0


class Wait:
    """One wait for the lock of the database at `path`. `tell` gets the notice, at most once."""

    def __init__(self, path: Path, patience: Patience, tell: Callable[[str], None]) -> None:
        self._path = path
        self._patience = patience
        self._tell = tell
        self._began: float | None = None
        self._told = False

    def pause(self) -> float:
        """Seconds to pause before the next attempt. Raises `StoreLocked` when enough has been waited."""
        now = time.monotonic()
        if self._began is None:
            self._began = now
        waited = now - self._began
        if waited >= self._patience.limit:
            raise StoreLocked(
                f"cannot use {self._path}: another process has kept it locked for {waited:.0f} s; "
                "end that process or wait for it, then try again"
            )
        if waited >= self._patience.notice and not self._told:
            self._told = True
            self._tell(f"waiting for {self._path}: another process keeps it locked")
        return random.uniform(SHORTEST, LONGEST)
