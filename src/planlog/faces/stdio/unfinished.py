"""Running text above a prompt: what fills its rows may be printed for good, the row that still grows may not.

A long line is broken where the terminal would break it, and in the terminal's own way where its width is beyond doubt
(the row is filled and one more cell written), so that it stays one line when it is copied or the window gets wider.
"""

import re

from planlog.faces.stdio.painting import cells

_TAB = 8
_DOUBTFUL = re.compile("[^\x20-\x7e\u3041-\u30fe\u4e00-\u9fff\uac00-\ud7a3]")
"""Characters of which terminals do not agree how wide they are."""


class Unfinished:
    """The row that grows, in `rest`."""

    def __init__(self) -> None:
        self.rest = ""

    def more(self, text: str, width: int) -> str:
        """Takes `text` in; returns what a terminal of `width` cells may print at the beginning of a row."""
        whole, feed, rest = (self.rest + text).rpartition("\n")
        parts = [whole, feed]
        start = 0
        while end := row_end(rest, start, width):
            parts += (rest[start:end], _break(rest[start:end], width))
            start = end
        self.rest = rest[start:]
        return "".join(parts)


def row_end(text: str, start: int, width: int) -> int:
    """Where the row that begins at `start` is full; 0 where all that follows fits into one."""
    if not _DOUBTFUL.search(text, start, start + width + 1) and text.isascii():
        return start + width if len(text) - start > width else 0
    from wcwidth import iter_graphemes

    used, end = 0, start
    for grapheme in iter_graphemes(text[start:]):
        # A terminal's tab goes to the last cell of a row at most.
        wide = min(_TAB - used % _TAB, max(0, width - 1 - used)) if grapheme == "\t" else cells(grapheme)
        if used + wide > width and end > start:
            return end
        used += wide
        end += len(grapheme)
    return 0


def _break(row: str, width: int) -> str:
    if _DOUBTFUL.search(row):
        return "\n"
    return " " * (width - cells(row) + 1) + "\r"
