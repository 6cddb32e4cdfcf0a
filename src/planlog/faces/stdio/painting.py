"""Turns lines and rows of spans into text for one terminal: cleaned, shortened to its width, coloured where it can."""

from collections.abc import Mapping

from planlog.faces.renders import Line, Row, Span, Style
from planlog.faces.stdio.cleaning import clean, clean_line

_CODES: dict[Style, str] = {
    "plain": "",
    "dim": "\x1b[2m",
    "bold": "\x1b[1m",
    "good": "\x1b[32m",
    "bad": "\x1b[31m",
    "busy": "\x1b[33m",
}
_RESET = "\x1b[0m"
_WIDE = 30
_LETTERS = 16
"""Characters that a cell has at most, as far as anybody looks: a letter can carry many marks."""
UNBOUNDED = 200
"""Cells of a row where no terminal says how wide it is: a call's arguments may be a megabyte."""


def wants_color(is_terminal: bool, env: Mapping[str, str]) -> bool:
    """Whether a stream gets colours: `NO_COLOR` forbids, `FORCE_COLOR` demands, else its terminal decides."""
    if env.get("NO_COLOR"):
        return False
    forced = env.get("FORCE_COLOR", "")
    if forced:
        return forced not in ("0", "false")
    return can_move(is_terminal, env)


def can_move(is_terminal: bool, env: Mapping[str, str]) -> bool:
    """Whether the cursor of a stream may be moved."""
    return is_terminal and env.get("TERM", "dumb") != "dumb"


def paint(line: Line, color: bool) -> str:
    """The line without its line feed."""
    return "".join(_painted(span, color) for span in line)


def _painted(span: Span, color: bool) -> str:
    text, code = clean(span.text).replace("\n", "\u240a"), _CODES[span.style]
    return f"{code}{text}{_RESET}" if color and code and text else text


def cells(text: str) -> int:
    """How many columns a cleaned text takes."""
    if text.isascii():
        return len(text)
    from wcwidth import width

    return width(text)


def shorten(text: str, room: int) -> str:
    """`text` in at most `room` cells, with an ellipsis where something was left out; never half a character."""
    if cells(text) <= room:
        return text
    if room < 1:
        return ""
    from wcwidth import clip

    return clip(text, 0, room - 1).rstrip() + "…"


def shorten_left(text: str, room: int) -> str:
    """`shorten` for what is told apart by its end, such as a path."""
    whole = cells(text)
    if whole <= room:
        return text
    if room < 1:
        return ""
    from wcwidth import clip

    return "…" + clip(text, whole - room + 1, whole).lstrip()


def lay_out(row: Row, mark: Span, width: int | None) -> list[Line]:
    """A row as lines: mark, title, summary and suffix on one, the body below it; only the suffix is never shortened.

    In a window a line of the body has two rows, and ends in an ellipsis where that is not enough.
    """
    room = (width or UNBOUNDED) - cells(mark.text) - 1
    suffix = clean_line(row.suffix)
    if suffix:
        room -= cells(suffix) + 1
    summary = clean_line(_bounded(row.summary, room))
    # A long title leaves some room to the summary, which may say how the call ended.
    kept = min(cells(summary) + 2, room * 2 // 5) if summary and room >= _WIDE else 0
    title = shorten(clean_line(_bounded(row.title, room)), max(room - kept, 1))
    room -= cells(title) + 2
    summary = shorten(summary, room)
    first = [mark, Span(" "), Span(title, "bold")]
    if summary:
        first += [Span("  "), Span(summary)]
    if suffix:
        first += [Span(" "), Span(suffix, "bold")]
    body = row.body if width is None else (_cut(line, 2 * width - 3) for line in row.body)
    return [tuple(first), *((Span("  "), *line) for line in body)]


def _bounded(text: str, room: int) -> str:
    """As much of a text as can matter for `room` cells: it may be a megabyte."""
    return text[: max(room, 1) * _LETTERS]


def _cut(line: Line, room: int) -> Line:
    kept: list[Span] = []
    for span in line:
        text = clean(_bounded(span.text, room + 1))
        if cells(text) > room:
            return (*kept, Span(shorten(text, room), span.style))
        room -= cells(text)
        kept.append(span)
    return tuple(kept)
