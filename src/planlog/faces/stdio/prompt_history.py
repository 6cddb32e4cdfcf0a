"""What was typed at the prompt, kept in a file for the next time: one JSON string a line, oldest first.

Several programs may add to it at once. Nothing depends on it: where it cannot be read or written, there is none.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from planlog.log.text import clean_text

MOST_BYTES = 1 << 20
"""How much of the file's end is read."""


class PromptHistory:
    """The entries in `path`, which its owner alone may read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def newest_first(self) -> Iterator[str]:
        """All entries, each as often as it was typed, but not twice in a row; what is no entry is passed over."""
        last = None
        for line in reversed(self._end().split(b"\n")):
            entry = None
            with suppress(msgspec.MsgspecError):
                entry = msgspec.json.decode(line, type=str)
            if entry and entry != last:
                yield entry
                last = entry

    def add(self, entry: str) -> None:
        """Puts `entry` behind the others."""
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                # A disk that was full has left half a line.
                begin = b"" if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n" else b"\n"
                os.write(descriptor, begin + msgspec.json.encode(clean_text(entry)) + b"\n")
            finally:
                os.close(descriptor)

    def _end(self) -> bytes:
        try:
            with self._path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - MOST_BYTES))
                return file.read()
        except OSError:
            return b""
