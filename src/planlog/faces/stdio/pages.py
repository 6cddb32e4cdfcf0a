"""Cuts lines into pages that a window can show whole, counting rows as its terminal breaks them."""

import os
from typing import NamedTuple

from planlog.faces.renders import Line, Span
from planlog.faces.stdio.cleaning import clean
from planlog.faces.stdio.unfinished import row_end

_SMALLEST = (20, 10)
"""A window that is smaller can show nothing as it is; what is cut for one of this size scrolls there."""
_MOST = 4
"""Characters of a line that are looked at for each cell of the page; a line may be a megabyte."""


class Window(NamedTuple):
    """Cells of a row, and rows."""

    columns: int
    rows: int


def window_of(descriptor: int) -> Window:
    """The window of a terminal at this moment; the usual one where it says 0 or nothing."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:
        columns = rows = 0
    return usable(columns or 80, rows or 24)


def usable(columns: int, rows: int) -> Window:
    """A window of this size, or of the smallest that makes sense."""
    return Window(max(columns, _SMALLEST[0]), max(rows, _SMALLEST[1]))


def rows_of(text: str, columns: int) -> int:
    """How many rows a line of cleaned text takes."""
    start, rows = 0, 1
    while end := row_end(text, start, columns):
        start, rows = end, rows + 1
    return rows


def cut_page(lines: list[Line], window: Window, encoding: str = "utf-8") -> tuple[list[Line], list[Line]]:
    """What fills the window's rows, and the rest; a line that does not fit goes on in the rest.

    `encoding` is that of the terminal: what it cannot say is spelled out, which takes more cells.
    """
    page: list[Line] = []
    left = window.rows
    for number, whole in enumerate(lines):
        raw, later = _split(whole, _MOST * window.rows * window.columns)
        line = tuple(Span(_printed(span.text, encoding), span.style) for span in raw)
        text = "".join(span.text for span in line)
        start = 0
        while end := row_end(text, start, window.columns):
            start, left = end, left - 1
            if not left:
                head, tail = _split(line, end)
                return [*page, head], [(*tail, *later), *lines[number + 1 :]]
        page.append(line)
        if later:
            return page, [later, *lines[number + 1 :]]
        left -= 1
        if not left:
            return page, lines[number + 1 :]
    return page, []


def _printed(text: str, encoding: str) -> str:
    text = clean(text).replace("\n", "\u240a")
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)


def _split(line: Line, end: int) -> tuple[Line, Line]:
    head: list[Span] = []
    tail: list[Span] = []
    for span in line:
        kept = min(max(end, 0), len(span.text))
        if kept:
            head.append(Span(span.text[:kept], span.style))
        if kept < len(span.text):
            tail.append(Span(span.text[kept:], span.style))
        end -= len(span.text)
    return tuple(head), tuple(tail)
