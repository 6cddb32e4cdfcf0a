"""Adds up a turn for its person: what features count of its calls, the time it took, the tokens it read and wrote."""

from collections.abc import Iterable, Sequence

from planlog.faces.renders import Call, Line, Span
from planlog.faces.stdio.painting import cells
from planlog.model.message import Usage


class Tally:
    """What happened in a turn that began at `start`, in epoch milliseconds; None where its beginning was not seen."""

    def __init__(self, start: int | None) -> None:
        self._start = start
        self._read = self._cached = self._written = 0
        self.calls: list[Call] = []
        """Those that have a result, in the order of their results."""

    def use(self, usage: Usage) -> None:
        """One more request was answered."""
        cached = usage.cache_read_tokens or 0
        self._read += usage.input_tokens + cached + (usage.cache_write_tokens or 0)
        self._cached += cached
        self._written += usage.output_tokens

    def parts(self, totals: Iterable[str], end: int) -> list[str]:
        """What there is to say at the time `end`, with what the features say of the calls; the time is not alone."""
        parts = [*totals]
        tokens = self._tokens()
        if not parts and not tokens:
            return []
        took = [] if self._start is None else [duration(max(end - self._start, 0))]
        return [*parts, *took, *tokens]

    def _tokens(self) -> list[str]:
        if not self._read and not self._written:
            return []
        cached = f" ({_short(self._cached)} from cache)" if self._cached else ""
        return [f"{_short(self._read)} tokens in{cached}, {_short(self._written)} out"]


def summary_lines(parts: Sequence[str], width: int | None) -> list[Line]:
    """The parts on as few lines as they fit on, none cut in two."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]} · {part}" if lines else part
        if lines and (width is None or cells(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(part)
    return [(Span(line, "dim"),) for line in lines]


def duration(milliseconds: int) -> str:
    """As people say it: `0.8 s`, `12 s`, `1 min 04 s`, `2 h 05 min`."""
    seconds = milliseconds / 1000
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def _short(count: int) -> str:
    if count < 1000:
        return str(count)
    if count < 999_950:
        return f"{count / 1000:.1f}k"
    return f"{count / 1_000_000:.1f}M"
