"""Says on one line what runs now: a call by its title, for how long, and the last line that it printed."""

import anyio
from msgspec import Struct

from planlog.faces.stdio.cleaning import clean_line
from planlog.faces.stdio.painting import UNBOUNDED, shorten
from planlog.faces.stdio.summary import duration

QUIET = 2.0
"""Seconds after which it is worth saying how long a call has been running."""
_TITLE = 30
"""Cells of a call's title beside its output."""


class _Call(Struct):
    title: str
    summary: str
    start: float
    line: str = ""


class Running:
    """The calls that have begun and not ended. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._speaker = ""
        self.begun = anyio.Event()
        """Set while any call runs."""

    def begin(self, id: str, title: str, summary: str, now: float) -> None:
        """A call starts."""
        self._calls[id] = _Call(clean_line(title), clean_line(summary), now)
        self._speaker = id
        self.begun.set()

    def say(self, id: str, line: str) -> None:
        """It printed a line."""
        if id in self._calls:
            self._calls[id].line = line
            self._speaker = id

    def end(self, id: str) -> None:
        """It has its result."""
        self._calls.pop(id, None)
        if not self._calls:
            self.begun = anyio.Event()

    def clear(self) -> None:
        """Nothing runs any more."""
        for id in [*self._calls]:
            self.end(id)

    def status(self, now: float, width: int | None = None) -> str:
        """The line, empty while nothing runs. In a window of `width` cells its title leaves room for the rest."""
        if not self._calls:
            return ""
        one = self._calls.get(self._speaker) or next(reversed(self._calls.values()))
        took = now - min(call.start for call in self._calls.values())
        time = duration(int(took) * 1000).replace(".0", "") if took >= QUIET else ""
        # Once there is more to say than what runs, what runs is said shortly.
        room = min(_TITLE, (width or UNBOUNDED) // 2)
        title = shorten(one.title, room) if time or one.line else f"{one.title}  {one.summary}".rstrip()
        if len(self._calls) > 1:
            parts = [f"{len(self._calls)} running", time, title, one.line]
        else:
            parts = [title, time, one.line]
        return "  ".join(part for part in parts if part)
