"""The tool `write`: the model writes a whole file."""

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from planlog.features.files.changing import Draft, Old, details, drafted, existing, located, perform, propose
from planlog.features.files.content import Content, encode
from planlog.features.files.diff import Diff
from planlog.features.files.paths import covers
from planlog.features.files.seen import Seen
from planlog.tools.tool import Execution, Presentation, Proposal, Tool, ToolFailure
from planlog.tools.workspace import plain, quoted

NAME = "write"
DESCRIPTION = (
    "Writes a whole text file in the working folder, and makes the folders that are missing. "
    "A file that exists has to be read first; to change a part of it use edit."
)


class Write(Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a call."""

    path: str
    content: str


def draft(params: Write, root: Path, seen: Seen) -> Draft:
    """What the call would make of the file. Raises `ToolFailure` where something stands there that nobody has read."""
    if params.path.endswith("/"):
        raise ToolFailure(f"{quoted(params.path)} is the name of a folder, not of a file")
    place = located(root, params.path)
    old = existing(root, place, seen)
    if old is not None and place not in seen:
        raise ToolFailure(f"{quoted(place)} exists; read it first, so that nothing in it is lost unseen")
    new = _as_it_was(params.content, old)
    lines = params.content.count("\n") + (not params.content.endswith("\n") and params.content != "")
    counted = f"{lines} line{'' if lines == 1 else 's'}"

    def words(diff: Diff) -> str:
        if old is None:
            return f"Created {plain(place)}: {counted}."
        if not diff.text:
            return f"{plain(place)} has this content already; nothing was written."
        return f"Wrote {plain(place)}: {counted}, +{diff.added} -{diff.removed}."

    return drafted(place, old, new, words)


def _as_it_was(text: str, old: Old | None) -> Content:
    """The text with line ends, mark and encoding of what stands there; in UTF-8 where that encoding lacks something."""
    if old is None or old.content is None:
        return Content(text)
    if old.content.bom:
        text = text.removeprefix("\ufeff")
    if old.content.newline == "\r\n":
        text = text.replace("\r\n", "\n")
    new = replace(old.content, text=text)
    try:
        encode(new, text)
    except ToolFailure:
        return replace(new, encoding="utf-8", bom=b"")
    return new


async def _execute(params: Write, execution: Execution) -> Draft:
    return await perform(lambda root, seen: draft(params, root, seen), execution)


async def _propose(params: Write, execution: Execution) -> Proposal:
    return await propose(NAME, lambda root, seen: draft(params, root, seen), execution)


def _present(params: Write) -> Presentation:
    raw_input = {"path": params.path, "content": params.content}
    return Presentation("generic", f"Write {plain(params.path)}", "edit", raw_input)


WRITE = Tool(
    NAME,
    DESCRIPTION,
    Write,
    _execute,
    lambda draft: draft.words,
    needs_approval=True,
    present_call=_present,
    details=details,
    propose=_propose,
    covered=lambda pattern, params, folder: covers(pattern, params.path, folder),
)
