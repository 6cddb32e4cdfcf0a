"""Where a command talks to its person: results on stdout, everything about them on stderr."""

from collections.abc import Iterable

from planlog.faces.renders import Line, Span
from planlog.faces.stdio.screen import Screen


class Console:
    """Two screens that are often the same terminal, so that neither writes into the other's unfinished line."""

    def __init__(self, out: Screen, err: Screen) -> None:
        self.out = out
        self.err = err

    def note(self, text: str) -> None:
        """A dim line on stderr: something worth knowing that is no result."""
        self.note_lines([(Span(text, "dim"),)])

    def note_lines(self, lines: Iterable[Line]) -> None:
        """Lines on stderr."""
        self._part()
        self.err.lines(lines)

    def ask(self, question: str) -> None:
        """A question on stderr, to be answered on the same line."""
        self._part()
        self.err.question(question)

    def _part(self) -> None:
        if self.out.is_terminal and self.err.is_terminal:
            self.out.end_line()
