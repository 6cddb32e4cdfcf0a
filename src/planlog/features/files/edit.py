"""The tool `edit`: the model replaces a piece of a file's text by another one, exactly."""

import re
from itertools import islice
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from planlog.features.files.changing import LARGEST, Draft, details, drafted, existing, located, perform, propose
from planlog.features.files.diff import Diff
from planlog.features.files.paths import covers
from planlog.features.files.seen import Seen
from planlog.tools.tool import Execution, Presentation, Proposal, Tool, ToolFailure
from planlog.tools.workspace import plain, quoted

NAME = "edit"
DESCRIPTION = (
    "Replaces old_string in a text file of the working folder by new_string. old_string is the exact text, white space "
    "included and without the line numbers of read, and must occur once; with replace_all every occurrence is replaced."
)
_PLACES = 5
_TRIED = 100
"""Places that are compared with a text that was not found: a hint is worth no more."""
_NUMBERED = re.compile(r"\d+\t")


class Edit(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a call."""

    path: str
    old_string: str
    new_string: str
    replace_all: bool = False


def draft(params: Edit, root: Path, seen: Seen) -> Draft:
    """What the call would make of the file. Raises `ToolFailure` for a text that is not there, or not only once."""
    if not params.old_string:
        raise ToolFailure("old_string is empty; a whole file is written with write")
    if params.old_string == params.new_string:
        raise ToolFailure("old_string and new_string are the same; nothing was changed")
    place = located(root, params.path)
    old = existing(root, place, seen)
    if old is None:
        raise ToolFailure(f"{quoted(params.path)} does not exist; a new file is written with write")
    if old.content is None:
        raise ToolFailure(f"{quoted(params.path)} is not a text file")
    text, wanted, put = old.content.text, params.old_string, params.new_string
    if old.content.newline == "\r\n":
        wanted, put = wanted.replace("\r\n", "\n"), put.replace("\r\n", "\n")
    count = text.count(wanted)
    if (size := len(text) + count * (len(put) - len(wanted))) > LARGEST:
        raise ToolFailure(f"{quoted(place)} would have {size} characters, more than can be changed here; use a command")
    if not count:
        raise ToolFailure(f"old_string was not found in {quoted(place)}{_hint(text, wanted)}")
    if count > 1 and not params.replace_all:
        lines = ", ".join(map(str, _lines_of(text, wanted)))
        more = ", …" if count > _PLACES else ""
        raise ToolFailure(
            f"old_string occurs {count} times in {quoted(place)} (lines {lines}{more}); "
            "add the text around it, or set replace_all"
        )

    if old.content.encoding == "latin-1" and not put.isascii() and _reads_as_utf8(old.data):
        raise ToolFailure(f"{quoted(place)} is UTF-8 but for some bytes; only ASCII can be put into it here")

    def words(diff: Diff) -> str:
        replaced = "1 replacement" if count == 1 else f"{count} replacements"
        return f"Edited {plain(place)}: {replaced}, +{diff.added} -{diff.removed} lines."

    return drafted(place, old, replace(old.content, text=text.replace(wanted, put)), words)


def _reads_as_utf8(data: bytes) -> bool:
    """Whether there is a letter beyond ASCII in it that is whole as UTF-8: hardly ever so in Latin-1."""
    return any(
        letter > "\x7f" and not "\udc80" <= letter <= "\udcff" for letter in set(data.decode(errors="surrogateescape"))
    )


def _lines_of(text: str, wanted: str) -> list[int]:
    """The numbers of the lines in which the first few occurrences begin."""
    numbers: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(numbers) < _PLACES:
        numbers.append(text.count("\n", 0, at) + 1)
        at = text.find(wanted, at + len(wanted))
    return numbers


def _hint(text: str, wanted: str) -> str:
    lines = wanted.strip("\n").split("\n")
    if all(_NUMBERED.match(line) for line in lines):
        return "; the line numbers of read are not part of the file"
    squeezed = [" ".join(line.split()) for line in lines]
    here = [" ".join(line.split()) for line in text.split("\n")]
    places = (at for at, line in enumerate(here) if line and line == squeezed[0])
    for at in islice(places, _TRIED):
        if here[at : at + len(squeezed)] == squeezed:
            return f"; line {at + 1} differs from it in white space only"
    return "; read the file to see what is there"


async def _execute(params: Edit, execution: Execution) -> Draft:
    return await perform(lambda root, seen: draft(params, root, seen), execution)


async def _propose(params: Edit, execution: Execution) -> Proposal:
    return await propose(NAME, lambda root, seen: draft(params, root, seen), execution)


def _present(params: Edit) -> Presentation:
    raw_input = {"path": params.path, "old_string": params.old_string, "new_string": params.new_string}
    more = {"replace_all": True} if params.replace_all else {}
    return Presentation("generic", f"Edit {plain(params.path)}", "edit", {**raw_input, **more})


EDIT = Tool(
    NAME,
    DESCRIPTION,
    Edit,
    _execute,
    lambda draft: draft.words,
    needs_approval=True,
    present_call=_present,
    details=details,
    propose=_propose,
    covered=lambda pattern, params, folder: covers(pattern, params.path, folder),
)
