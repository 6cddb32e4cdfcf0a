"""What changed in a file, as `git diff` shows it."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from planlog.features.files.lcs import changed_lines
from planlog.features.files.sliding import slide

CONTEXT = 3
HEADING = 80
"""Bytes of the heading behind a hunk's numbers."""
_QUOTED = re.compile('[\0-\x1f\x7f"\\\\]')
_SHORT = {
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\a": "\\a",
    "\b": "\\b",
    "\v": "\\v",
    "\f": "\\f",
    '"': '\\"',
    "\\": "\\\\",
}
_OPEN = "\\ No newline at end of file\n"


class Diff(msgspec.Struct, frozen=True):
    """A unified diff, from its `---` line on; empty where nothing changed. `added` and `removed` count lines."""

    text: str
    added: int
    removed: int


Change = tuple[int, int, int, int]
"""Old lines from, to, and the new ones from, to that stand for them."""


def changes(path: str, before: str | None, after: str | None) -> Diff:
    """The diff between two texts of the file at `path`; None stands for no file.

    Names are quoted as git does it where they have control characters in them; other letters stay as they are
    (git's `core.quotePath` off).
    """
    old, new = _lines(before or ""), _lines(after or "")
    gone, come = changed_lines(old, new)
    slide(old, gone, come)
    slide(new, come, gone)
    hunks = list(_hunks(list(_changes(gone, come))))
    if not hunks:
        return Diff("", 0, 0)
    parts = [f"--- {_name('a', path, before)}\n+++ {_name('b', path, after)}\n"]
    looked_to, heading = 0, ""
    for hunk in hunks:
        start = max(hunk[0][0] - CONTEXT, 0)
        heading = _heading(old, range(looked_to, start)) or heading
        looked_to = max(looked_to, start)
        parts.append(_hunk(old, new, hunk, heading))
    return Diff("".join(parts), sum(come), sum(gone))


def _lines(text: str) -> list[str]:
    """With their line feeds; nothing else ends a line."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _changes(gone: bytearray, come: bytearray) -> Iterator[Change]:
    one = other = 0
    while one < len(gone) or other < len(come):
        start, begin = one, other
        while one < len(gone) and gone[one]:
            one += 1
        while other < len(come) and come[other]:
            other += 1
        if one > start or other > begin:
            yield start, one, begin, other
        # What stays, stays on both sides.
        one, other = one + 1, other + 1


def _hunks(found: Sequence[Change]) -> Iterator[list[Change]]:
    hunk: list[Change] = []
    for change in found:
        if hunk and change[0] - hunk[-1][1] > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    if hunk:
        yield hunk


def _hunk(old: Sequence[str], new: Sequence[str], hunk: Sequence[Change], heading: str) -> str:
    start, end = max(hunk[0][0] - CONTEXT, 0), min(hunk[-1][1] + CONTEXT, len(old))
    begin, stop = max(hunk[0][2] - CONTEXT, 0), min(hunk[-1][3] + CONTEXT, len(new))
    parts = [f"@@ -{_span(start, end)} +{_span(begin, stop)} @@{heading}\n"]
    at = start
    for first, last, fresh, fresh_end in hunk:
        parts += [_marked(" ", line) for line in old[at:first]]
        parts += [_marked("-", line) for line in old[first:last]]
        parts += [_marked("+", line) for line in new[fresh:fresh_end]]
        at = last
    parts += [_marked(" ", line) for line in old[at:end]]
    return "".join(parts)


def _marked(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_OPEN}"


def _span(start: int, end: int) -> str:
    """Lines count from 1; where there are none, the line before them is named."""
    count = end - start
    return f"{start + 1 if count else start}" + ("" if count == 1 else f",{count}")


def _heading(lines: Sequence[str], places: range) -> str:
    """The last of these lines that looks like the beginning of something."""
    for at in reversed(places):
        first = lines[at][0]
        if first.isascii() and (first.isalpha() or first in "_$"):
            return f" {lines[at].encode()[:HEADING].decode(errors='ignore').rstrip()}"
    return ""


def _name(side: str, path: str, text: str | None) -> str:
    if text is None:
        return "/dev/null"
    name = f"{side}/{path}"
    if _QUOTED.search(name):
        return '"' + _QUOTED.sub(lambda match: _SHORT.get(match[0]) or f"\\{ord(match[0]):03o}", name) + '"'
    return f"{name}\t" if " " in name else name
