"""The tool `grep`: the model finds lines of the workspace's files by a regular expression."""

import re
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct

from planlog.features.search.answers import MOST_LINES, MOST_NAMES, STDIN, Found, Lines, Names
from planlog.features.search.covering import covers
from planlog.features.search.request import Request, tolerant
from planlog.features.search.searching import SECONDS, Searched, Stopped, search, wanted
from planlog.features.search.shown import blocks, counted, fitting, named, worded
from planlog.tools.thread import in_thread
from planlog.tools.tool import Execution, Presentation, Tool, ToolFailure

NAME = "grep"
LONGEST = 10_000
"""Characters of a pattern."""
MOST_CONTEXT = 20

DESCRIPTION = (
    "Finds lines that match a regular expression (no look-around, no back-references) in files of the working folder, "
    "as path:line:text. Skips .git, binary files and what .gitignore names."
)


class Grep(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a call."""

    pattern: str
    path: str | None = None
    glob: Annotated[str | None, Meta(description="Which files: src/**/*.{js,ts}")] = None
    ignore_case: bool = False
    context: int = 0
    files_only: bool = False


class Grepped(Struct, frozen=True):
    """What was found: lines, or paths where only files were asked for."""

    searched: Searched
    lines: tuple[Found, ...] = ()
    paths: tuple[str, ...] = ()
    context: int = 0

    @property
    def matches(self) -> int:
        """How many matching lines."""
        return sum(line.is_match for line in self.lines)

    @property
    def files(self) -> int:
        """In how many files."""
        return len(self.paths) or len({line.path for line in self.lines})


async def _execute(params: Grep, execution: Execution) -> Grepped:
    return await in_thread(lambda stopped: grep(params, execution.cwd, stopped))


def grep(params: Grep, root: Path, stopped: Stopped, seconds: float = SECONDS) -> Grepped:
    """Carries out a call; blocks."""
    _check(params)
    request = Request(
        pattern=tolerant(params.pattern),
        glob=params.glob or "",
        ignore_case=params.ignore_case,
        context=params.context,
        only_names=params.files_only,
    )
    keep = wanted(request.glob)
    path = "." if params.path is None else params.path
    if params.files_only:
        names = Names(lambda name: name == STDIN or keep(name), counts=True)
        searched = search(root, path, request, names.take, stopped, seconds)
        return Grepped(searched, paths=tuple(sorted(_at(searched.place, name) for name in names.paths)))
    lines = Lines(lambda name: name == STDIN or keep(name))
    searched = search(root, path, request, lines.take, stopped, seconds)
    found = [Found(_at(searched.place, one.path), one.number, one.text, one.is_match) for one in lines.found]
    found.sort(key=lambda one: (one.path, one.number))
    return Grepped(searched, tuple(found), (), params.context)


def _check(params: Grep) -> None:
    if not params.pattern:
        raise ToolFailure("the pattern is empty; glob lists files")
    if len(params.pattern) > LONGEST:
        raise ToolFailure(f"the pattern has {len(params.pattern)} characters; at most {LONGEST} are possible")
    if "\0" in params.pattern or re.search("[\ud800-\udfff]", params.pattern):
        raise ToolFailure("the pattern has a NUL or half of a character in it; \\x00 stands for a NUL")
    if not 0 <= params.context <= MOST_CONTEXT:
        raise ToolFailure(f"context must be 0 to {MOST_CONTEXT} lines, got {params.context}")


def _at(place: str, name: str) -> str:
    if name == STDIN:
        return place
    return name if place == "." else f"{place}/{name}"


def render(grepped: Grepped) -> str:
    """The lines or the paths that fit, and what else there is to know in brackets."""
    if grepped.paths:
        every = [named(path) for path in grepped.paths]
    elif grepped.context:
        every = list(blocks(grepped.lines))
    else:
        every = [worded(line) for line in grepped.lines]
    return "\n".join([*(shown := fitting(every)), *_notices(grepped, len(shown), len(every))])


def _notices(grepped: Grepped, shown: int, count: int) -> list[str]:
    narrow = "narrow the pattern or the path"
    notices: list[str] = []
    noun = "file" if grepped.paths else "line"
    match grepped.searched.cut:
        case "enough":
            most = f"{MOST_NAMES} files" if grepped.paths else f"{MOST_LINES} matching lines"
            notices.append(f"[more than {most}; {narrow}]")
        case "time":
            notices.append(f"[stopped after {grepped.searched.seconds:g} s, so there may be more; {narrow}]")
        case "" if shown < count:
            notices.append(f"[{counted(count - shown, f'more {noun}')} in {counted(grepped.files, 'file')}; {narrow}]")
        case "" if not count:
            notices.append("[no matches]")
    if grepped.searched.unread:
        notices.append("[some files or folders could not be read]")
    return notices


def details(grepped: Grepped) -> dict[str, Any]:
    """How much was found, for faces."""
    return {"search": {"lines": grepped.matches, "files": grepped.files, "cut": bool(grepped.searched.cut)}}


def present(params: Grep) -> Presentation:
    """A card titled by pattern and place."""
    where = f" {params.path}" if params.path else ""
    raw = {"pattern": params.pattern, "path": params.path, "glob": params.glob}
    given = {key: value for key, value in raw.items() if value is not None}
    return Presentation("generic", f"{NAME} {params.pattern[:200]}{where}", "search", given)


GREP = Tool(
    NAME,
    DESCRIPTION,
    Grep,
    _execute,
    render,
    concurrency_safe=True,
    present_call=present,
    details=details,
    covered=lambda pattern, params, folder: covers(pattern, params.path or ".", folder),
)
