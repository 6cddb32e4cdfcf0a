"""Turns a unified diff into what an editor draws as one: a piece of the file before and after, hunk by hunk."""

import re

import msgspec

from planlog.faces.acp.updates import CallContent, DiffItem, Location, text_item
from planlog.faces.acp.wording import TEXT, fenced

_HEAD = re.compile(r"--- (?P<old>[^\n]*)\n\+\+\+ (?P<new>[^\n]*)\n(?=@@ |$)")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_OPEN = "\\ No newline at end of file"
_ESCAPED = re.compile(r"\\([0-7]{3}|.)")
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}


class Drawn(msgspec.Struct, frozen=True):
    """A diff as an editor gets it, and where in the file its hunks begin (paths as in the diff)."""

    content: tuple[CallContent, ...]
    places: tuple[Location, ...]


def draw_diff(text: str) -> Drawn | None:
    """The diff of one file; None for what is none. One that is too long for an update stays text, cut."""
    head = _HEAD.match(text)
    if head is None:
        return None
    is_new = head["old"] == "/dev/null"
    path = _path(head["old"] if head["new"] == "/dev/null" else head["new"])
    content: list[CallContent] = []
    places: list[Location] = []
    lines = text[head.end() :].split("\n")
    at = 0
    while at < len(lines) and (numbers := _HUNK.match(lines[at])):
        before, after, at = _hunk(lines, at + 1, int(numbers[1] or 1), int(numbers[3] or 1))
        content.append(DiffItem(path, after, None if is_new else before))
        places.append(Location(path, max(1, int(numbers[2]))))
    notice = "\n".join(lines[at:]).strip()
    if len(text) > TEXT:
        return Drawn((text_item(fenced(text, "diff")),), tuple(places[:1]))
    if notice:
        content.append(text_item(notice.removeprefix("\\ ")))
    return Drawn(tuple(content), tuple(places))


def _hunk(lines: list[str], at: int, old: int, new: int) -> tuple[str, str, int]:
    """The piece before and after, of so many lines each, and where the next hunk begins."""
    before: list[str] = []
    after: list[str] = []
    while at < len(lines) and (old or new or lines[at] == _OPEN):
        mark, line = lines[at][:1], lines[at][1:] + "\n"
        at += 1
        if mark == "\\":
            # It is about the line above: of which side, that line's mark says.
            for side, marks in ((before, " -"), (after, " +")):
                if lines[at - 2][:1] in marks:
                    side[-1] = side[-1].removesuffix("\n")
            continue
        if mark in ("-", " "):
            before.append(line)
            old -= 1
        if mark in ("+", " "):
            after.append(line)
            new -= 1
    return "".join(before), "".join(after), at


def _path(name: str) -> str:
    name = _ESCAPED.sub(_meant, name[1:-1]) if name.startswith('"') else name.removesuffix("\t")
    return name.partition("/")[2]


def _meant(escaped: re.Match[str]) -> str:
    sign = escaped[1]
    return chr(int(sign, 8)) if len(sign) == 3 else _MEANT.get(sign, sign)
