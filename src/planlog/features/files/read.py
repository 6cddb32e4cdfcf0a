"""The tool `read`: the model reads a text file of the workspace, page by page."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from planlog.features.files.content import encoding_name
from planlog.features.files.paths import covers
from planlog.features.files.reading import Shown, read_page
from planlog.tools.thread import Stopped, in_thread
from planlog.tools.tool import Coverage, Execution, Presentation, Tool, ToolFailure
from planlog.tools.workspace import confine, plain, quoted

NAME = "read"
LIMIT = 2000

DESCRIPTION = (
    "Reads a text file of the working folder, as numbered lines: the number, a tab, the line. "
    f"At most {LIMIT} lines from line offset (1) on; a notice at the end says where to go on."
)


class Read(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a call."""

    path: str
    offset: int | None = None
    limit: int | None = None


async def _execute(params: Read, execution: Execution) -> Shown:
    offset = 1 if params.offset is None else params.offset
    limit = LIMIT if params.limit is None else params.limit
    if offset < 1:
        raise ToolFailure(f"offset must be at least 1, the first line; got {offset}")
    if limit < 1:
        raise ToolFailure(f"limit must be at least 1; got {limit}")

    def work(stopped: Stopped) -> Shown:
        return read_page(execution.cwd, confine(execution.cwd, params.path), offset, limit, stopped)

    return await in_thread(work)


def render(shown: Shown) -> str:
    """The lines, and after them at most one line in brackets with whatever else there is to know."""
    if shown.kind:
        return f"[{quoted(shown.place)} is not text: {shown.kind}, {shown.size} bytes]"
    if not shown.lines:
        return "[the file is empty]"
    notices = "; ".join(_notices(shown))
    return "\n".join([*shown.lines, f"[{notices}]"] if notices else shown.lines)


def _notices(shown: Shown) -> list[str]:
    notices: list[str] = []
    if shown.is_endless:
        return [f"line {shown.last} of a file of {shown.size} bytes is too long to be read to its end"]
    has_more = shown.total is None or shown.last < shown.total
    if has_more or shown.first > 1:
        total = f"of {shown.total}" if shown.total is not None else f"of a file of {shown.size} bytes"
        one = shown.first == shown.last
        notices.append(f"{f'line {shown.first}' if one else f'lines {shown.first} to {shown.last}'} {total}")
    if has_more:
        notices.append(f"go on with offset {shown.last + 1}")
    if shown.encoding == "latin-1":
        notices.append("not UTF-8, shown as Latin-1")
    elif shown.encoding != "utf-8":
        notices.append(f"the file is {encoding_name(shown.encoding)}")
    if shown.has_signs:
        notices.append("signs such as ␛ and <U+0085> stand for control characters")
    if shown.ends_open:
        notices.append("no line feed at the end")
    return notices


def details(shown: Shown) -> dict[str, Any] | None:
    """Which state of which file was read, and which of its lines; for later calls and for faces."""
    file = {"path": shown.place} if shown.stamp is None else {"path": shown.place, "stamp": shown.stamp}
    if shown.kind:
        return {"file": file, "kind": shown.kind, "size": shown.size}
    return {"file": file, "lines": [shown.first, shown.last, shown.total]}


def _present(params: Read) -> Presentation:
    given = {"offset": params.offset, "limit": params.limit}
    raw_input = {"path": params.path, **{name: value for name, value in given.items() if value is not None}}
    return Presentation("generic", f"Read {plain(params.path)}", "read", raw_input)


def _covered(pattern: str, params: Read, folder: Path) -> Coverage:
    return covers(pattern, params.path, folder)


READ = Tool(
    NAME,
    DESCRIPTION,
    Read,
    _execute,
    render,
    concurrency_safe=True,
    present_call=_present,
    details=details,
    covered=_covered,
)
