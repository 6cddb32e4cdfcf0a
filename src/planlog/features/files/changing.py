"""Changes files: what a call would make of a file is worked out, shown to whoever approves it, and then written."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from planlog.features.files.content import Content, decode, encode, encoding_name, raw
from planlog.features.files.diff import Diff, changes
from planlog.features.files.paths import coverage
from planlog.features.files.seen import SEEN, Seen, stamp
from planlog.tools.thread import Stopped, in_thread
from planlog.tools.tool import Execution, Proposal, ToolFailure
from planlog.tools.workspace import confine, open_file, plain, quoted, replace_file

LARGEST = 10_000_000
"""Bytes of a file that can be changed: as many as are read whole."""
MOST_LINES = 200_000
"""Lines of a file that can be changed; a diff of more would take longer than a person waits, or reads."""


class Old(msgspec.Struct, frozen=True):
    """A file before a change. `content` is None for one that is no text."""

    data: bytes
    content: Content | None


class Draft(msgspec.Struct, frozen=True):
    """A file as a call would leave it, and as it was found; `words` says so to the model.

    `notice` is what the diff cannot show: another encoding.
    """

    place: str
    before: bytes | None
    after: bytes
    diff: Diff
    words: str
    notice: str = ""


Drafting = Callable[[Path, Seen], Draft]
"""Works out a change in a workspace, where the states `seen` were shown before; blocks, and writes nothing."""


def existing(root: Path, place: str, seen: Seen) -> Old | None:
    """The file at `place`, None where there is none. Raises `ToolFailure` for one that is not what was seen."""
    if not os.path.lexists(root / place):
        return None
    with open(open_file(root, place), "rb") as file:
        if (size := os.fstat(file.fileno()).st_size) > LARGEST:
            raise _too_large(place, size)
        try:
            data = file.read(LARGEST + 1)
        except OSError as error:
            raise ToolFailure(f"{quoted(place)} could not be read: {error.strerror or error}") from error
    if len(data) > LARGEST:
        raise _too_large(place, len(data))
    if place in seen and seen[place] != stamp(data):
        raise ToolFailure(f"{quoted(place)} has changed since it was read; read it again")
    return Old(data, decode(data))


def _too_large(place: str, size: int) -> ToolFailure:
    return ToolFailure(f"{quoted(place)} has {size} bytes, more than can be changed here; use a command")


def drafted(place: str, old: Old | None, new: Content, words: Callable[[Diff], str]) -> Draft:
    """The draft that turns `old` into `new`. Raises `ToolFailure` for a text that its encoding does not have."""
    for content in (old.content if old else None, new):
        if content is not None and (lines := content.text.count("\n")) > MOST_LINES:
            raise ToolFailure(f"{quoted(place)} has {lines} lines, more than can be changed here; use a command")
    after = encode(new, new.text)
    if len(after) > LARGEST:
        raise _too_large(place, len(after))
    diff = _diff(place, old, new)
    before = old.content.encoding if old and old.content else new.encoding
    reads_as = decode(after)
    now = reads_as.encoding if reads_as else new.encoding
    notice = "" if now == before else f"It was {encoding_name(before)} and is {encoding_name(now)} now."
    if old is not None and old.content is None:
        notice = f"It was no text: {len(old.data)} bytes are replaced."
    return Draft(place, old.data if old else None, after, diff, f"{words(diff)} {notice}".rstrip(), notice)


def _diff(place: str, old: Old | None, new: Content) -> Diff:
    if old is None:
        return changes(place, None, raw(new))
    if old.content is None:
        return changes(place, "", raw(new))
    if (old.content.newline, old.content.bom) == (new.newline, new.bom):
        return changes(place, old.content.text, new.text)
    return changes(place, raw(old.content), raw(new))


async def propose(name: str, drafting: Drafting, execution: Execution) -> Proposal:
    """What the call of the tool `name` would change, with all such calls as what may be allowed."""
    seen = await _seen(execution)
    draft = await in_thread(lambda stopped: drafting(execution.cwd, seen))
    rule = name if coverage("", draft.place) == "all" else ""
    notice = f"\\ {draft.notice}\n" if draft.notice else ""
    preview = f"{draft.diff.text}{notice}" or f"nothing in {plain(draft.place)} changes"
    return Proposal(preview, rule, _about(draft))


async def perform(drafting: Drafting, execution: Execution) -> Draft:
    """Works the change out and writes it, if nobody has changed the file meanwhile, not even since it was approved."""
    seen = await _seen(execution)

    def work(stopped: Stopped) -> Draft:
        draft = drafting(execution.cwd, seen)
        if execution.approved and execution.approved.about != _about(draft):
            raise ToolFailure(f"{quoted(draft.place)} has changed since this was approved; read it again")
        if draft.before != draft.after:
            replace_file(execution.cwd, draft.place, draft.after, before=draft.before, stopped=stopped)
        return draft

    return await in_thread(work)


def _about(draft: Draft) -> str:
    """The file, and what it held."""
    return f"{draft.place}\n{'' if draft.before is None else stamp(draft.before)}"


async def _seen(execution: Execution) -> Seen:
    return {} if execution.session is None else await execution.session.view(SEEN)


def located(root: Path, path: str) -> str:
    """The place of a file that is to be changed. Raises `ToolFailure`."""
    place = confine(root, path)
    if place == ".":
        raise ToolFailure(f"{quoted(path)} is a folder, not a file")
    return place


def details(draft: Draft) -> dict[str, Any]:
    """For later calls and for faces: which state of the file is known now, and what the change was."""
    diff = draft.diff
    return {
        "file": {"path": draft.place, "stamp": stamp(draft.after)},
        "diff": diff.text,
        "added": diff.added,
        "removed": diff.removed,
    }
