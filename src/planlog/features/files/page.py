"""Takes the lines that were asked for out of a text that comes in pieces, numbered and fit to be read by a model."""

LONGEST = 2000
"""Characters of a line that are shown."""
ROOM = 28_000
"""Characters of a page: what is left of the cap of a result is for the notice at its end."""

# Characters that end a line for somebody, move a cursor, cannot be seen or turn the direction of writing, as signs.
# Only the line feed ends a line here, so nothing in a file can look like another line, or like a notice after it.
_SIGNS = (
    {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
    | {0x7F: "\u2421"}
    | {code: f"<U+{code:04X}>" for code in (*range(0x80, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))}
)


class Page:
    """The lines from number `offset` on, at most `limit`, and at most `ROOM` characters of whole lines.

    `number` is the line that the text has come to, `length` how much of it there was. `full` says that no more lines
    are taken, `has_signs` that some characters are shown as others.
    """

    def __init__(self, offset: int, limit: int) -> None:
        self.offset = offset
        self.lines: list[str] = []
        self.number = 1
        self.length = 0
        self.full = False
        self.has_signs = False
        self._limit = limit
        self._room = ROOM
        self._head = ""

    @property
    def last(self) -> int:
        """The number of the last line that was taken."""
        return self.offset + len(self.lines) - 1

    @property
    def seen(self) -> int:
        """How many lines there were so far; the last one need not have ended."""
        return self.number if self.length else self.number - 1

    @property
    def wants(self) -> bool:
        """Whether the line that the text has come to belongs on the page."""
        return not self.full and self.number >= self.offset

    def feed(self, text: str) -> None:
        """Goes on with the next piece of the text."""
        at = 0
        # What is before or behind the page is only counted, and a whole piece of it at once.
        skip = self.full or self.number + text.count("\n") < self.offset
        while at < len(text):
            if skip or self.full:
                self._skip(text, at)
                return
            end = text.find("\n", at)
            stop = len(text) if end < 0 else end
            self._take(text, at, stop)
            if end >= 0:
                self.end_line()
            at = stop + 1

    def end_line(self, *, whole: bool = True) -> None:
        """Ends the line: at a line feed, where the text ends, or, not `whole`, where nobody wants more of it."""
        if self.wants:
            self._show(whole)
        self.number += 1
        self.length = 0
        self._head = ""

    def _skip(self, text: str, at: int) -> None:
        if ends := text.count("\n", at):
            self.number += ends
            self.length = 0
        self.length += len(text) - max(at, text.rfind("\n", at) + 1)

    def _take(self, text: str, start: int, stop: int) -> None:
        if self.wants and len(self._head) < LONGEST:
            self._head += text[start : min(stop, start + LONGEST - len(self._head))]
        self.length += stop - start

    def _show(self, whole: bool) -> None:
        line = self._head.translate(_SIGNS)
        shown = f"{self.number}\t{line}"
        if self.length > LONGEST:
            shown += f"… [{self.length - LONGEST if whole else 'many'} more characters]"
        if self.lines and len(shown) >= self._room:
            self.full = True
            return
        self._room -= len(shown) + 1
        self.lines.append(shown)
        self.has_signs |= line != self._head
        self.full = len(self.lines) >= self._limit
