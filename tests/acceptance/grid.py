"""What a person sees on a terminal: as much of one as the program's output needs, and an error for all else."""

import re

from wcwidth import wcwidth

_TOKEN = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|[\x00-\x1f]|[^\x00-\x1f]")
_IGNORED = "mhl"  # colours and modes


class Grid:
    """`columns` x `rows` cells; what has scrolled away is in `gone`."""

    def __init__(self, columns: int, rows: int) -> None:
        self.gone: list[str] = []
        self.whole = True
        """Whether the cursor is shown: it is hidden while something is drawn."""
        self.printed = ""
        """All that came, without what is obeyed."""
        self._columns, self._rows = columns, rows
        self._cells = [self._empty() for _ in range(rows)]
        self._x = self._y = 0
        self._held = ""

    def text(self) -> str:
        """The rows that are seen, without what is blank at their ends and below them."""
        return "\n".join("".join(row).rstrip() for row in self._cells).rstrip()

    def feed(self, text: str) -> None:
        """Takes in what was printed; half an escape sequence waits for its rest."""
        text = self._held + text
        cut = re.search(r"\x1b(\[[?\d;]*)?$", text)
        self._held = cut[0] if cut else ""
        for token in _TOKEN.finditer(text.removesuffix(self._held) if cut else text):
            if token[2]:
                self._obey(token[1], token[2])
            else:
                self.printed += token[0]
                self._print(token[0])

    def _empty(self) -> list[str]:
        return [" "] * self._columns

    def _print(self, char: str) -> None:
        if char == "\r":
            self._x = 0
        elif char == "\n":
            self._feed_line()
        elif char == "\b":
            self._x = max(0, min(self._x, self._columns - 1) - 1)
        elif char == "\x1b" or char < " ":
            raise AssertionError(f"the terminal was told {char!r}")
        elif (wide := wcwidth(char)) <= 0:
            self._cells[self._y][max(0, self._x - 1)] += char
        else:
            if self._x + wide > self._columns:
                self._x = 0
                self._feed_line()
            for place in range(wide):
                if self._x + place < self._columns:
                    self._cells[self._y][self._x + place] = "" if place else char
            self._x += wide

    def _feed_line(self) -> None:
        if self._y == self._rows - 1:
            self.gone.append("".join(self._cells.pop(0)).rstrip())
            self._cells.append(self._empty())
        else:
            self._y += 1

    def _obey(self, parameters: str, letter: str) -> None:
        count = int(parameters or 1) if parameters.isdigit() or not parameters else 0
        if letter == "A":
            self._y = max(0, self._y - count)
        elif letter == "B":
            self._y = min(self._rows - 1, self._y + count)
        elif letter == "C":
            self._x = min(self._columns - 1, self._x + count)
        elif letter == "D":
            self._x = max(0, self._x - count)
        elif letter == "K":
            self._cells[self._y][self._x :] = self._empty()[self._x :]
        elif letter == "J" and parameters in ("", "0"):
            self._cells[self._y][self._x :] = self._empty()[self._x :]
            for row in range(self._y + 1, self._rows):
                self._cells[row] = self._empty()
        elif parameters == "?25":
            self.whole = letter == "h"
        elif letter not in _IGNORED:
            raise AssertionError(f"the terminal was told ESC [ {parameters} {letter}")
