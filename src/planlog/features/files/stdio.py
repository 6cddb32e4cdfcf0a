"""How files look in the terminal: which lines were read, and the diff of each change."""

from collections.abc import AsyncGenerator, Callable, Sequence

import msgspec

from planlog.faces.renders import Call, Line, Renders, Row, Span
from planlog.faces.stdio import StdioRenders
from planlog.faces.stdio.diffs import diff_lines
from planlog.features.files import edit, read, write
from planlog.features.files.details import change_of
from planlog.tools.schema import Violations, check_arguments

LINES = 80
"""How many lines of a diff are shown."""
WIDTH = 500
"""How many characters of a line."""


def change_row(call: Call) -> Row:
    """`edit src/a.py  +3 −2`, and the diff below it, folded after `LINES` lines."""
    title = f"{call.name} {_path_of(call)}".rstrip()
    if call.is_error:
        return _failed(title, call)
    change = change_of(call.details)
    if change is None:
        return Row(title)
    if not change.diff:
        return Row(title, "nothing changed")
    summary = _counts(change.added, change.removed)
    new = ", new" if change.diff.startswith("--- /dev/null\n") else ""
    return Row(title, f"{summary}{new}", body=_folded(diff_lines(change.diff)))


def read_row(call: Call) -> Row:
    """`read src/a.py  lines 1–200 of 340`."""
    title = f"read {_path_of(call)}".rstrip()
    if call.is_error:
        return _failed(title, call)
    match call.details:
        case {"lines": [int(first), int(last), None | int() as total]}:
            of = "" if total is None else f" of {total}"
            return Row(title, f"lines {first}–{last}{of}" if last >= first else "empty")
        case {"kind": str(kind)}:
            return Row(title, kind)
        case _:
            return Row(title)


def totals(calls: Sequence[Call]) -> str:
    """`2 files changed (+12 −3)`; a file that was changed twice counts once."""
    changes = [change for call in calls if not call.is_error and (change := change_of(call.details)) and change.diff]
    files = len({change.path for change in changes})
    if not files:
        return ""
    counts = _counts(sum(change.added for change in changes), sum(change.removed for change in changes))
    return f"{files} file{'' if files == 1 else 's'} changed ({counts})"


def _counts(added: int, removed: int) -> str:
    return f"+{added} −{removed}"


def _failed(title: str, call: Call) -> Row:
    return Row(title, (call.result or "").removeprefix("Error: ").partition("\n")[0])


_PARAMS = {edit.NAME: edit.Edit, write.NAME: write.Write, read.NAME: read.Read}


def _path_of(call: Call) -> str:
    params = check_arguments(_PARAMS[call.name], call.arguments)
    return "" if isinstance(params, Violations) else params.path


def _folded(lines: Sequence[Line]) -> tuple[Line, ...]:
    shown = [_cut(line) for line in lines[:LINES]]
    if more := len(lines) - len(shown):
        shown.append((Span(f"… {more} more line{'' if more == 1 else 's'} of the diff", "dim"),))
    return tuple(shown)


def _cut(line: Line) -> Line:
    return tuple(
        span if len(span.text) <= WIDTH else msgspec.structs.replace(span, text=f"{span.text[:WIDTH]}…")
        for span in line
    )


_ROWS: dict[str, Callable[[Call], Row]] = {edit.NAME: change_row, write.NAME: change_row, read.NAME: read_row}


async def plugin(screen: StdioRenders) -> AsyncGenerator[None]:
    """Draws `read`, `edit` and `write` on the terminal."""
    with screen.add(Renders(rows=_ROWS, totals=totals)):
        yield
