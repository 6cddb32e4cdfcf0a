"""Reads a command as bash would, roughly: the simple commands in it, each as its words without quotes.

It knows quotes, substitutions, groups, redirections, comments and here-documents. It expands nothing: what a variable
holds or a program does with its arguments is not known here.
"""

import re

DEPTH = 20
"""Substitutions within each other, at most."""
SUBSTITUTED = "$()"
"""Stands in a word for what a command will have printed."""

_BLANK = " \t"
_RUN = re.compile(r"""[^ \t\n'"\\$`<>();&|#]+""")
_IN_QUOTES = re.compile(r'["\\`$]')
_REDIRECTION = re.compile(r"<<<|<<-?|[<>]{1,2}[&|]?")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)


class Unclear(Exception):
    """The text cannot be told: a quote or substitution has no end, or they lie too deep in each other."""


def simple_commands(text: str) -> list[list[str]]:
    """The words of each command in `text`, those of substitutions and here-documents among them. Raises `Unclear`."""
    reader = _Reader(text)
    reader.commands("", 0)
    return reader.found


class _Reader:
    def __init__(self, text: str) -> None:
        self.found: list[list[str]] = []
        self._text = text
        self._at = 0
        self._documents: list[tuple[str, bool]] = []

    def commands(self, closer: str, depth: int) -> None:
        """Reads commands up to `closer`, which is read as well; "" is the end of the text."""
        if depth > DEPTH:
            raise Unclear
        text, words = self._text, _Words()
        while self._at < len(text):
            char = text[self._at]
            if char == closer:
                self._at += 1
                break
            if char == "\n":
                self._end(words)
                self._at += 1
                self._skip_documents()
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif char in _BLANK:
                self._at += 1
                self._end_word(words)
            elif char == "#" and words.word is None:
                end = text.find("\n", self._at)
                self._at = len(text) if end < 0 else end
            elif found := _REDIRECTION.match(text, self._at):
                self._redirect(found[0], words, depth)
            elif char in ";&|()":
                self._at += 1
                self._end(words)
                if char == "(":
                    self.commands(")", depth + 1)
            else:
                words.add(self._piece(depth))
        else:
            if closer:
                raise Unclear
        self._end(words)

    def _piece(self, depth: int) -> str:
        """The next part of a word."""
        text, start = self._text, self._at
        char, two = text[start], text[start : start + 2]
        if found := _RUN.match(text, start):
            self._at = found.end()
            return found[0]
        if char == "\\":
            self._at += 2
            return two[1:].replace("\n", "")  # in double quotes it may go on in the next line
        if char == "'":
            self._at = self._find("'", start + 1) + 1
            return text[start + 1 : self._at - 1]
        if char == '"':
            return self._quoted(depth)
        if char == "`" or two == "$(":
            self._at += len(two) if two == "$(" else 1
            self.commands("`" if char == "`" else ")", depth + 1)
            return SUBSTITUTED
        if found := _ANSI.match(text, start):
            self._at = found.end()
            return found[1].replace("\\n", "\n").replace("\\", "")
        self._at += 1
        return "" if two == '$"' else char

    def _quoted(self, depth: int) -> str:
        parts: list[str] = []
        self._at += 1
        while (char := self._text[self._at : self._at + 1]) != '"':
            if not char:
                raise Unclear
            if char in "\\`" or self._text.startswith("$(", self._at):
                parts.append(self._piece(depth))
            else:
                end = self._find_any(_IN_QUOTES, self._at + 1)
                parts.append(self._text[self._at : end])
                self._at = end
        self._at += 1
        return "".join(parts)

    def _redirect(self, operator: str, words: "_Words", depth: int) -> None:
        self._at += len(operator)
        if self._text.startswith("(", self._at):  # <(…): a command like any other
            self._at += 1
            self.commands(")", depth + 1)
            words.add(SUBSTITUTED)
            return
        if words.word is not None and words.word.isdigit():
            words.word = None
        self._end_word(words)
        words.target = operator

    def _end_word(self, words: "_Words") -> None:
        if words.word is None:
            return
        if words.target in ("<<", "<<-"):
            self._documents.append((words.word, words.target == "<<-"))
        elif not words.target:
            words.words.append(words.word)
        words.word, words.target = None, ""

    def _end(self, words: "_Words") -> None:
        self._end_word(words)
        words.target = ""
        if words.words:
            self.found.append(words.words)
            words.words = []

    def _skip_documents(self) -> None:
        """Reads the here-documents that begin here, line by line: their quotes mean nothing to what follows."""
        documents, self._documents = self._documents, []
        for delimiter, indented in documents:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = end + 1
                if (line.lstrip("\t") if indented else line) == delimiter:
                    break
                self._read_document_line(line)

    def _read_document_line(self, line: str) -> None:
        inner = _Reader(line)
        try:
            inner.commands("", DEPTH // 2)
        except Unclear:
            inner.found.append(line.split())
        self.found += inner.found

    def _find_any(self, chars: re.Pattern[str], start: int) -> int:
        found = chars.search(self._text, start)
        return found.start() if found else len(self._text)

    def _find(self, char: str, start: int) -> int:
        found = self._text.find(char, start)
        if found < 0:
            raise Unclear
        return found


class _Words:
    """One command while it is read: `word` is the one that grows, `target` the redirection that takes it."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.word: str | None = None
        self.target = ""

    def add(self, piece: str) -> None:
        self.word = (self.word or "") + piece
