"""One output stream: writes whole lines and streamed text, knows where it stands, and never raises for a character."""

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TextIO

from planlog.faces.renders import Line
from planlog.faces.stdio.cleaning import StreamCleaner, clean_line, escape_json
from planlog.faces.stdio.outlet import Outlet, open_outlet
from planlog.faces.stdio.painting import can_move, paint, shorten, wants_color

_ERASE_LINE = "\r\x1b[K"
_DEFAULT_WIDTH = 80
# The face's own signs, for streams that cannot encode them.
_PLAIN_SIGNS = str.maketrans({"…": "...", "·": "-", "✓": "+", "✗": "x", "●": "*", "›": ">", "‹": "<"})


class Screen:
    """Text for one stream. Everything is cleaned of control characters; whole writes go out at once.

    Raises `ScreenGone` when the reader has gone, `PlanlogError` when the stream cannot be written for another reason.
    """

    def __init__(
        self,
        sink: Callable[[bytes], None],
        *,
        is_terminal: bool,
        env: Mapping[str, str],
        encoding: str = "utf-8",
        columns: Callable[[], int] = lambda: _DEFAULT_WIDTH,
    ) -> None:
        self._sink = sink
        self.encoding = encoding
        self._has_signs = _can_encode(encoding)
        self._columns = columns
        self._cleaner = StreamCleaner()
        self._in_line = False
        self._status = ""
        self._show_status: Callable[[str], None] | None = None
        self.is_terminal = is_terminal
        self.color = wants_color(is_terminal, env)
        self.moves = can_move(is_terminal, env)

    @property
    def width(self) -> int | None:
        """Cells of a line, None where no terminal says so."""
        return self._columns() if self.is_terminal else None

    @contextmanager
    def redirected(self, sink: Callable[[bytes], None], show_status: Callable[[str], None]) -> Generator[None]:
        """Until the block ends, what is printed goes to `sink`, and the status line to whoever shows it elsewhere."""
        kept = self._sink
        self._sink, self._show_status = sink, show_status
        try:
            yield
        finally:
            self.end_line()
            self._sink, self._show_status = kept, None

    def lines(self, lines: Iterable[Line]) -> None:
        """Prints each line on a line of its own."""
        text = "".join(f"{paint(line, self.color)}\n" for line in lines)
        if text:
            self.end_line()
            self._write(text)

    def text(self, piece: str) -> None:
        """Prints a piece of running text as it is."""
        self._running(self._cleaner.more(piece))

    def end_line(self) -> None:
        """Ends what is unfinished, so that the next output starts a line of its own."""
        self._running(self._cleaner.rest())
        self.status("")
        if self._in_line:
            self._write("\n")
            self._in_line = False

    def status(self, text: str) -> None:
        """Shows one dim line that the next output replaces; only where a cursor can move and no text is unfinished."""
        if not self.moves or (text and self._in_line):
            return
        if self._show_status is not None:
            self._show_status(clean_line(text))
            return
        shown = shorten(clean_line(text), self._columns() - 1)
        if shown == self._status:
            return
        self._status = shown
        self._write(_ERASE_LINE + (f"\x1b[2m{shown}\x1b[0m" if self.color and shown else shown))

    def json_lines(self, documents: Iterable[bytes]) -> None:
        """Prints each JSON document on a line of its own: byte for byte, but escaped where a terminal would obey it."""
        lines = b"".join(document + b"\n" for document in documents)
        self._sink(escape_json(lines) if self.is_terminal else lines)

    def question(self, text: str) -> None:
        """Prints text after which somebody types on the same line, and ends that line with the return key."""
        self.end_line()
        self._write(text)

    def _running(self, text: str) -> None:
        if text:
            self.status("")
            self._write(text)
            self._in_line = not text.endswith("\n")

    def _write(self, text: str) -> None:
        if not self._has_signs:
            text = text.translate(_PLAIN_SIGNS)
        self._sink(text.encode(self.encoding, "backslashreplace"))


def open_screen(stream: TextIO | None, env: Mapping[str, str], outlet: Outlet | None = None) -> Screen:
    """A screen on `stream` (None: a closed one, where nothing is written). What is buffered in it goes out first.

    `outlet` is the stream's file where it is open already, perhaps under another descriptor.
    """
    if stream is None:
        return Screen(lambda data: None, is_terminal=False, env=env)
    encoding = stream.encoding or "utf-8"
    outlet = outlet or open_outlet(stream)
    if outlet is None:

        def keep(data: bytes) -> None:
            stream.write(data.decode(encoding))

        return Screen(keep, is_terminal=False, env=env, encoding=encoding)
    stream.flush()
    descriptor = stream.fileno()
    return Screen(
        outlet.write,
        is_terminal=os.isatty(descriptor),
        env=env,
        encoding=encoding,
        columns=lambda: _terminal_width(descriptor),
    )


def _terminal_width(descriptor: int) -> int:
    try:
        return os.get_terminal_size(descriptor).columns or _DEFAULT_WIDTH
    except OSError:
        return _DEFAULT_WIDTH


def _can_encode(encoding: str) -> bool:
    try:
        "".join(map(chr, _PLAIN_SIGNS)).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
