"""The engine for where ripgrep is not installed: a child process of plain Python, so that no pattern can hold us up.

Run as `python -I -S -c START JSON`: nothing but the standard library and its neighbours in this folder is imported.
"""

import json
import os
import re
import stat
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

from planlog.features.search.dialect import Unsupported, compiled
from planlog.features.search.ignoring import Ignoring, ignoring_at
from planlog.tools.globs import matcher

CHUNK = 1 << 20
"""Bytes of a file that are gone over at once."""
LINE = 1 << 24
"""Bytes of a line; what comes behind a longer one is not searched."""
_OPENING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_EDGES = re.compile(r"\\[AzZ]")


def main(request: dict[str, Any]) -> int:
    """Carries out a request; the exit status, as ripgrep's: 0 found, 1 nothing found, 2 something failed."""
    found, failed = False, False
    try:
        engine = Engine(request)
    except Unsupported as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    if request["in_file"]:
        return 0 if engine.search("<stdin>", 0, stops_at_nul=False) else 1
    for path, folder in engine.files():
        if path is None:
            failed = True
        elif engine.pattern is None:
            engine.write_name(path)
            found = True
        else:
            try:
                descriptor = os.open(path.rpartition("/")[2], _OPENING, dir_fd=folder)
            except OSError:
                failed = True
                continue
            try:
                found |= engine.search(path, descriptor, stops_at_nul=True)
            except OSError:
                failed = True
            finally:
                os.close(descriptor)
    return 2 if failed else 0 if found else 1


class Engine:
    """A search in the folder that this process stands in."""

    def __init__(self, request: dict[str, Any]) -> None:
        pattern: str | None = request["pattern"]
        self.pattern = None if pattern is None else compiled(pattern, ignore_case=request["ignore_case"])
        # A quick look at many lines at once decides nothing where the pattern speaks of the edges of the text.
        self._quick = pattern is not None and not _EDGES.search(pattern)
        self._context: int = request["context"]
        self._only_names: bool = request["only_names"]
        self._left_out = frozenset(request["left_out"])
        self._wanted = matcher(request["glob"]) if request["glob"] else None
        self._device = os.stat(".").st_dev

    def files(self) -> Iterator[tuple[str | None, int]]:
        """The path of each file with its folder, open until the next one; None for what could not be listed."""
        todo: list[tuple[str, Ignoring]] = [("", ignoring_at(os.getcwd()))]
        while todo:
            folder, ignoring = todo.pop()
            try:
                descriptor = _entered(folder)
            except OSError:
                yield None, -1
                continue
            try:
                yield from self._listed(folder, descriptor, ignoring, todo)
            except OSError:
                yield None, -1
            finally:
                os.close(descriptor)

    def _listed(
        self, folder: str, descriptor: int, ignoring: Ignoring, todo: list[tuple[str, Ignoring]]
    ) -> Iterator[tuple[str | None, int]]:
        """What is in a folder; its folders are added to what is still to do."""
        with os.scandir(descriptor) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
        folders: list[tuple[str, Ignoring]] = []
        for entry in entries:
            path = f"{folder}{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name.casefold() == ".git" or path in self._left_out:
                continue
            if not (is_folder or entry.is_file(follow_symlinks=False)) or ignoring.ignores(entry.name, is_folder):
                continue
            if not is_folder:
                if self._wanted is None or self._wanted(path):
                    yield path, descriptor
            elif entry.stat(follow_symlinks=False).st_dev == self._device:
                folders.append((f"{path}/", ignoring.below(entry.name, os.path.join(os.getcwd(), path))))
        todo.extend(reversed(folders))

    def search(self, path: str, descriptor: int, *, stops_at_nul: bool) -> bool:
        """Whether the file has a match; writes what was asked for."""
        assert self.pattern is not None
        if stops_at_nul and not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        before: deque[tuple[int, str]] = deque(maxlen=self._context)
        number, after, found = 0, 0, False
        for chunk in _chunks(descriptor, stops_at_nul=stops_at_nul):
            if chunk is None:
                if found and not self._only_names:
                    _send("end", {"path": _path(path), "binary_offset": 0})
                return False
            if self._quick and not after and not self.pattern.search(chunk.replace("\r\n", "\n")):
                count = chunk.count("\n") + (not chunk.endswith("\n"))
                if self._context:
                    lines = chunk.removesuffix("\n").split("\n")[-self._context :]
                    before.extend((number + count - len(lines) + at + 1, line) for at, line in enumerate(lines))
                number += count
                continue
            for line in chunk.removesuffix("\n").split("\n"):
                number += 1
                if match := self.pattern.search(line.removesuffix("\r")):
                    found = True
                    if self._only_names:
                        continue
                    for earlier in before:
                        _write("context", path, *earlier, None)
                    before.clear()
                    _write("match", path, number, line, match)
                    after = self._context
                elif after:
                    _write("context", path, number, line, None)
                    after -= 1
                else:
                    before.append((number, line))
        if found and self._only_names:
            self.write_name(path, b"1\n")
        return found

    def write_name(self, path: str, count: bytes = b"") -> None:
        """Writes a path as an answer of its own."""
        name = path if path == "<stdin>" else f"./{path}"
        sys.stdout.buffer.write(os.fsencode(name) + b"\0" + count)


def _entered(folder: str) -> int:
    """Opens a folder name by name, so that one that was exchanged for a link meanwhile leads nowhere."""
    descriptor = os.open(".", _FOLDER)
    for name in folder.split("/"):
        if name:
            above = descriptor
            try:
                descriptor = os.open(name, _FOLDER, dir_fd=above)
            finally:
                os.close(above)
    return descriptor


def _chunks(descriptor: int, *, stops_at_nul: bool) -> Iterator[str | None]:
    """The text of a file in pieces of whole lines. Of one that has a NUL, None for that piece."""
    rest = b""
    encoding = None
    while data := os.read(descriptor, CHUNK):
        if encoding is None:
            encoding = _encoding(data)
            data = data.removeprefix(b"\xef\xbb\xbf")
        if encoding != "utf-8":
            yield _whole(data, descriptor, encoding)
            return
        if b"\0" in data:
            if stops_at_nul:
                yield None
                return
            data = data.replace(b"\0", b"\n")
        head, feed, tail = data.rpartition(b"\n")
        if feed:
            yield (rest + head + feed).decode("utf-8", "surrogateescape")
            rest = tail
        else:
            rest += data
            if len(rest) > LINE:
                return
    if rest:
        yield rest.decode("utf-8", "surrogateescape")


def _encoding(head: bytes) -> str:
    return "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"


def _whole(head: bytes, descriptor: int, encoding: str) -> str:
    while len(head) < LINE and (data := os.read(descriptor, CHUNK)):
        head += data
    return head.decode(encoding, "replace")


def _write(kind: str, path: str, number: int, line: str, match: "re.Match[str] | None") -> None:
    start = len(_bytes(line[: match.start()])) if match else 0
    data = {
        "path": _path(path),
        "lines": _text(f"{line}\n"),
        "line_number": number,
        "submatches": [{"start": start}] if match else [],
    }
    _send(kind, data)


def _send(kind: str, data: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps({"type": kind, "data": data}, separators=(",", ":")).encode() + b"\n")


def _path(path: str) -> dict[str, str]:
    return _text(path if path == "<stdin>" else f"./{path}")


def _text(text: str) -> dict[str, str]:
    if text.isascii():
        return {"text": text}
    try:
        text.encode()
    except UnicodeEncodeError:
        from base64 import b64encode  # few files need it

        return {"bytes": b64encode(_bytes(text)).decode()}
    return {"text": text}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
