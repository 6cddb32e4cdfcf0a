"""The terminal as a line editor writes to it: what belongs together reaches it in one piece, and nobody waits."""

from collections.abc import Callable
from contextlib import suppress

from planlog.faces.stdio.outlet import ScreenGone
from planlog.kernel.errors import PlanlogError


class Paper:
    """A text stream, as far as a line editor needs one. `write_out` hands bytes to the terminal.

    Between `hold` and `release` what is written gathers; a flush does not part it.
    """

    def __init__(self, write_out: Callable[[bytes], None], encoding: str) -> None:
        self._write_out = write_out
        self._parts: list[str] = []
        self.held = False
        self.encoding = encoding

    def write(self, text: str) -> int:
        """Gathers `text`."""
        self._parts.append(text)
        return len(text)

    def flush(self) -> None:
        """Hands on what has gathered, unless it is held."""
        if self._parts and not self.held:
            text = "".join(self._parts)
            self._parts.clear()
            # Whoever watches the outlet hears of a terminal that is gone; a key's handler could do nothing about it.
            with suppress(ScreenGone, PlanlogError):
                self._write_out(text.encode(self.encoding, "replace"))

    def hold(self) -> None:
        """Begins a piece."""
        self.held = True

    def release(self) -> None:
        """Ends the piece."""
        self.held = False
        self.flush()

    def isatty(self) -> bool:
        """It stands for one."""
        return True
