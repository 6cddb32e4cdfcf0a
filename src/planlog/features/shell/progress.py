"""Passes a running command's output on to those who watch, as much of it as a person can read."""

import asyncio
from collections.abc import Callable

INTERVAL = 0.1
"""Seconds between two pieces."""
PIECE = 4096
"""Characters of a piece, at most."""


class Progress:
    """At most one piece in `INTERVAL`; of a flood the latest `PIECE` characters, after "…" for what was left out."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._pending = ""
        self._skipped = False
        self._pause: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        """Takes the next text, which is heard now or within `INTERVAL`."""
        self._skipped |= len(self._pending) + len(text) > PIECE
        self._pending = (self._pending + text[-PIECE:])[-PIECE:]
        if self._pause is None:
            self.flush()

    def flush(self) -> None:
        """Lets what is pending be heard without waiting."""
        self.close()
        if not self._pending:
            return
        piece = "…" + self._pending if self._skipped else self._pending
        self._pending, self._skipped = "", False
        self._pause = asyncio.get_running_loop().call_later(INTERVAL, self.flush)
        self._hear(piece)

    def close(self) -> None:
        """Nothing is heard after this unless it is asked for."""
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
