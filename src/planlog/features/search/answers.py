"""Reads what an engine answers, piece by piece, in memory that has an end."""

import os
import re
from base64 import b64decode
from collections.abc import Callable

import msgspec

MOST_LINES = 20_000
"""Matching lines that are kept; behind them the search is stopped."""
MOST_NAMES = 200_000
"""The same for names."""
MOST_TEXT = 1 << 24
"""Characters of all lines that are kept."""
MOST_MESSAGE = 1 << 22
"""Bytes of one message: a line in a longer one is only named."""
SHOWN = 300
"""Characters of a line that are kept, around its match."""
BEFORE = 100
"""How many of them are before the match, where there are more than fit."""


STDIN = "<stdin>"
"""What engines call the one file that was named."""


class Found(msgspec.Struct, frozen=True):
    """A line: a match or one around it. `number` 0: its number is not known, for it is too long to be read."""

    path: str
    number: int
    text: str
    is_match: bool


class _Text(msgspec.Struct, frozen=True):
    text: str | None = None
    bytes: str | None = None


class _Submatch(msgspec.Struct, frozen=True):
    start: int = 0


class _Data(msgspec.Struct, frozen=True):
    path: _Text = _Text()
    lines: _Text = _Text()
    line_number: int | None = None
    submatches: list[_Submatch] = []
    binary_offset: int | None = None


class _Message(msgspec.Struct, frozen=True):
    type: str
    data: _Data = _Data()


_decoder = msgspec.json.Decoder(_Message)
_MATCH = b'{"type":"match"'
_WANTED = (_MATCH, b'{"type":"context"', b'{"type":"end"')
_PATH = re.compile(rb'"path":(\{"(?:text|bytes)":"(?:\\.|[^"\\])*"\})')


class Names:
    """Paths that end in NUL, those that `wanted` means. `counts` says that a number and a line feed follow each."""

    def __init__(self, wanted: Callable[[str], bool], *, counts: bool = False) -> None:
        self.paths: list[str] = []
        self._wanted = wanted
        self._counts = counts
        self._rest = b"\n" if counts else b""

    def take(self, data: bytes) -> bool:
        """Takes the next piece; whether more is wanted."""
        *whole, self._rest = (self._rest + data).split(b"\0")
        if self._counts:
            whole = [name.partition(b"\n")[2] for name in whole]
        self.paths += filter(self._wanted, (os.fsdecode(name).removeprefix("./") for name in whole))
        return len(self.paths) <= MOST_NAMES


class Lines:
    """Messages of ripgrep, those about files that `wanted` means and that have no NUL.

    Whether a match before the NUL is told of is a matter of how much was read at once, so it does not count. A file
    that was named is searched whatever is in it.
    """

    def __init__(self, wanted: Callable[[str], bool]) -> None:
        self.found: list[Found] = []
        self.matches = 0
        self._wanted = wanted
        self._rest: list[bytes] = []
        self._length = 0
        self._room = MOST_TEXT

    def take(self, data: bytes) -> bool:
        """Takes the next piece; whether more is wanted."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._hold(line)
            self._read(b"".join(self._rest), self._length)
            self._rest, self._length = [], 0
            if self.matches > MOST_LINES or self._room < 0:
                return False
        self._hold(rest)
        return True

    def _hold(self, piece: bytes) -> None:
        # Of a message that is too long the beginning is kept: it says which file it is about.
        if piece and self._length <= MOST_MESSAGE:
            self._rest.append(piece)
        self._length += len(piece)

    def _read(self, line: bytes, length: int) -> None:
        if not line.startswith(_WANTED):
            return
        if length > MOST_MESSAGE:
            self._keep(self._too_long(line))
            return
        message = _decoder.decode(line)
        path = _path(message.data.path)
        if message.type == "end":
            if message.data.binary_offset is not None and path != STDIN:
                self._drop(path)
            return
        starts = message.data.submatches
        text = cut(_bytes(message.data.lines), starts[0].start if starts else 0)
        self._keep(Found(path, message.data.line_number or 0, text, message.type == "match"))

    def _keep(self, found: Found) -> None:
        if self._wanted(found.path):
            self.found.append(found)
            self.matches += found.is_match
            self._room -= len(found.text) + len(found.path)

    def _drop(self, path: str) -> None:
        while self.found and self.found[-1].path == path:
            last = self.found.pop()
            self.matches -= last.is_match
            self._room += len(last.text) + len(path)

    def _too_long(self, line: bytes) -> Found:
        path = _PATH.search(line[: 1 << 16])
        name = _path(msgspec.json.decode(path[1], type=_Text)) if path else "?"
        return Found(name, 0, f"[a line of more than {MOST_MESSAGE >> 20} MB]", line.startswith(_MATCH))


def _path(path: _Text) -> str:
    return os.fsdecode(_bytes(path)).removeprefix("./")


def cut(line: bytes, start: int) -> str:
    """The text of `line` without its end; of a long one what is around the byte `start`. Not UTF-8: as Latin-1."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    try:
        text, at = line.decode(), len(line[:start].decode(errors="ignore"))
    except UnicodeDecodeError:
        text, at = line.decode("latin-1"), start
    if len(text) <= SHOWN:
        return text
    first = max(0, min(at - BEFORE, len(text) - SHOWN))
    last = first + SHOWN
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def _bytes(text: _Text) -> bytes:
    if text.text is not None:
        return text.text.encode()
    return b64decode(text.bytes or "")
