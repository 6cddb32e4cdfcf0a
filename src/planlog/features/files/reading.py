"""Reads a page of a file: a file of usual size whole, a larger one only as far as the page goes."""

import codecs
import os
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from planlog.features.files.content import BINARY, HEAD, Encoding, decode, encoding_of, kind_of
from planlog.features.files.page import Page
from planlog.features.files.seen import stamp
from planlog.tools.tool import ToolFailure
from planlog.tools.workspace import open_file, quoted

WHOLE = 10_000_000
"""Bytes up to which a file is read whole."""
LONG_LINE = 10_000_000
"""Characters after which the end of a line that is shown is not looked for any more."""
SECONDS = 20
"""How long a page may be looked for."""
PIECE = 1 << 18
"""Bytes or characters that are handled at once, between two looks at whether anybody waits."""

Stopped = Callable[[], bool]


class Shown(msgspec.Struct, frozen=True):
    """A page of a file. `total` is None where the rest was not read; `kind` is empty for a text.

    `stamp` is that of all the bytes, None where they were not all read.
    """

    place: str
    size: int
    stamp: str | None = None
    kind: str = ""
    lines: tuple[str, ...] = ()
    first: int = 1
    last: int = 0
    total: int | None = None
    encoding: Encoding = "utf-8"
    ends_open: bool = False
    has_signs: bool = False
    is_endless: bool = False


def read_page(root: Path, place: str, offset: int, limit: int, stopped: Stopped) -> Shown:
    """At most `limit` lines of the file at `place` from line `offset` on. Raises `ToolFailure` where there are none."""
    stopped = _in_time(stopped)
    descriptor = open_file(root, place)
    try:
        size = os.fstat(descriptor).st_size
        pieces = _pieces(descriptor, max(size, WHOLE + 1), stopped)
        head: list[bytes] = []
        length = 0
        # What the system says of the size may be wrong: a file in /proc has none, and another may be growing.
        for piece in pieces:
            head.append(piece)
            length += len(piece)
            if length > WHOLE or size > WHOLE:
                return _read_part(place, chain(head, pieces), max(size, length), Page(offset, limit))
        return _read_whole(place, b"".join(head), Page(offset, limit), stopped)
    except OSError as error:
        raise ToolFailure(f"{quoted(place)} could not be read: {error.strerror or error}") from error
    finally:
        os.close(descriptor)


def _pieces(descriptor: int, most: int, stopped: Stopped) -> Iterator[bytes]:
    while most > 0 and (piece := os.read(descriptor, min(PIECE, most))):
        _check(stopped)
        most -= len(piece)
        yield piece


def _check(stopped: Stopped) -> None:
    if stopped():
        raise ToolFailure("stopped before it was read")


def _in_time(stopped: Stopped) -> Stopped:
    """The same, with an end: a sparse file can be larger than anybody waits for."""
    deadline = time.monotonic() + SECONDS

    def ended() -> bool:
        if time.monotonic() > deadline:
            raise ToolFailure(f"stopped after {SECONDS} s of reading; look for what you need with grep or a command")
        return stopped()

    return ended


def _read_whole(place: str, data: bytes, page: Page, stopped: Stopped) -> Shown:
    content = decode(data)
    stamped = stamp(data)
    if content is None:
        return Shown(place, len(data), stamped, kind_of(data[: HEAD * 5]))
    # In pieces, since one long step over a whole text would hold up all that runs beside this thread.
    for at in range(0, len(content.text), PIECE):
        _check(stopped)
        page.feed(content.text[at : at + PIECE])
    return _shown(place, len(data), page, stamped, content.encoding)


def _read_part(place: str, pieces: Iterator[bytes], size: int, page: Page) -> Shown:
    head = next(pieces)
    bom, encoding = encoding_of(head)
    try:
        first = codecs.getincrementaldecoder(encoding)().decode(head[len(bom) :])
    except UnicodeDecodeError:
        first, encoding, bom = head.decode("latin-1"), "latin-1", b""
    if "\0" in first or (encoding == "latin-1" and kind_of(head) != BINARY):
        return Shown(place, size, kind=kind_of(head))
    # What is broken further on is shown as bytes: `\xff`.
    decoder = codecs.getincrementaldecoder(encoding)("backslashreplace")
    for piece in chain([head[len(bom) :]], pieces):
        if page.full and page.seen > page.last:
            return _shown(place, size, page, None, encoding, is_whole=False)
        page.feed(decoder.decode(piece))
        if page.wants and page.length > LONG_LINE:
            number = page.number
            page.end_line(whole=False)
            return msgspec.structs.replace(
                _shown(place, size, page, None, encoding, is_whole=False), is_endless=page.last == number
            )
    page.feed(decoder.decode(b"", final=True))
    return _shown(place, size, page, None, encoding)


def _shown(
    place: str, size: int, page: Page, stamped: str | None, encoding: Encoding, *, is_whole: bool = True
) -> Shown:
    ends_open = is_whole and page.length > 0
    if ends_open:
        page.end_line()
    total = page.seen if is_whole else None
    if page.last < page.offset and page.offset > 1:
        count = f"{page.seen} line{'' if page.seen == 1 else 's'}"
        raise ToolFailure(f"offset {page.offset} is beyond the end: {quoted(place)} has {count}")
    return Shown(
        place,
        size,
        stamped,
        lines=tuple(page.lines),
        first=page.offset,
        last=page.last,
        total=total,
        encoding=encoding,
        ends_open=ends_open and page.last == total,
        has_signs=page.has_signs,
    )
