"""The tool `glob`: the model finds files of the workspace by their names."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from planlog.features.search.answers import MOST_NAMES, Names
from planlog.features.search.covering import covers
from planlog.features.search.request import Request
from planlog.features.search.searching import SECONDS, Searched, Stopped, search, wanted
from planlog.features.search.shown import counted, fitting, named
from planlog.tools.thread import in_thread
from planlog.tools.tool import Execution, Presentation, Tool, ToolFailure

NAME = "glob"
LONGEST = 4096

DESCRIPTION = (
    "Lists files of the working folder whose path matches a glob, sorted: *.py in any folder, src/**/*.{js,ts} from "
    "path on. Skips .git and what .gitignore names."
)


class Glob(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a call."""

    pattern: str
    path: str | None = None


class Globbed(Struct, frozen=True):
    """The files that were found."""

    searched: Searched
    paths: tuple[str, ...]


async def _execute(params: Glob, execution: Execution) -> Globbed:
    return await in_thread(lambda stopped: glob(params, execution.cwd, stopped))


def glob(params: Glob, root: Path, stopped: Stopped, seconds: float = SECONDS) -> Globbed:
    """Carries out a call; blocks."""
    if not params.pattern:
        raise ToolFailure("the pattern is empty; ** lists all files")
    if len(params.pattern) > LONGEST:
        raise ToolFailure(f"the pattern has {len(params.pattern)} characters; at most {LONGEST} are possible")
    names = Names(wanted(params.pattern))
    path = "." if params.path is None else params.path
    searched = search(root, path, Request(glob=params.pattern), names.take, stopped, seconds)
    below = "" if searched.place == "." else f"{searched.place}/"
    return Globbed(searched, tuple(sorted(f"{below}{name}" for name in names.paths)))


def render(globbed: Globbed) -> str:
    """The paths that fit, and what else there is to know in brackets."""
    shown = fitting(named(path) for path in globbed.paths)
    return "\n".join([*shown, *_notices(globbed, len(globbed.paths) - len(shown))])


def _notices(globbed: Globbed, more: int) -> list[str]:
    narrow = "narrow the pattern or the path"
    notices: list[str] = []
    match globbed.searched.cut:
        case "enough":
            notices.append(f"[more than {MOST_NAMES} files; {narrow}]")
        case "time":
            notices.append(f"[stopped after {globbed.searched.seconds:g} s, so there may be more; {narrow}]")
        case "" if more:
            notices.append(f"[{counted(more, 'more file')}; {narrow}]")
        case "" if not globbed.paths:
            notices.append("[no files]")
    if globbed.searched.unread:
        notices.append("[some folders could not be read]")
    return notices


def details(globbed: Globbed) -> dict[str, Any]:
    """How much was found, for faces."""
    return {"search": {"files": len(globbed.paths), "cut": bool(globbed.searched.cut)}}


def present(params: Glob) -> Presentation:
    """A card titled by pattern and place."""
    where = f" {params.path}" if params.path else ""
    given = {"pattern": params.pattern, **({"path": params.path} if params.path else {})}
    return Presentation("generic", f"{NAME} {params.pattern[:200]}{where}", "search", given)


GLOB = Tool(
    NAME,
    DESCRIPTION,
    Glob,
    _execute,
    render,
    concurrency_safe=True,
    present_call=present,
    details=details,
    covered=lambda pattern, params, folder: covers(pattern, params.path or ".", folder),
)
