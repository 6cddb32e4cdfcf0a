"""Cuts a stream of bytes into lines, at LF alone."""

from collections.abc import Iterator


class Lines:
    """Takes bytes in any chunks; a line of more than `limit` bytes becomes None, and is not kept meanwhile."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that end in `data`, without their LF."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            self._add(piece)
            yield self._take()
        self._add(rest)

    def end(self) -> Iterator[bytes | None]:
        """What came after the last LF, where something did: at its end a stream may leave it out."""
        if self._size:
            yield self._take()

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._pieces.clear()
        elif piece:
            self._pieces.append(piece)

    def _take(self) -> bytes | None:
        line = None if self._size > self._limit else b"".join(self._pieces)
        self._pieces, self._size = [], 0
        return line
