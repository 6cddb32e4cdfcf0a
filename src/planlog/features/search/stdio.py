"""How a search looks in the terminal: what was looked for where, and how much was found."""

from collections.abc import AsyncGenerator, Sequence
from typing import Any

from planlog.faces.renders import Call, Renders, Row
from planlog.faces.stdio import StdioRenders
from planlog.features.search import glob, grep
from planlog.features.search.shown import counted
from planlog.tools.schema import Violations, check_arguments

WIDTH = 200
"""How many characters of a pattern or a path."""


def grep_row(call: Call) -> Row:
    """`grep "pattern" src  12 lines in 4 files`."""
    params = check_arguments(grep.Grep, call.arguments)
    if isinstance(params, Violations):
        return _row(grep.NAME, call)
    return _row(" ".join([grep.NAME, f'"{_short(params.pattern)}"', *_where(params.path), *_where(params.glob)]), call)


def glob_row(call: Call) -> Row:
    """`glob **/*.py  40 files`."""
    params = check_arguments(glob.Glob, call.arguments)
    if isinstance(params, Violations):
        return _row(glob.NAME, call)
    return _row(" ".join([glob.NAME, _short(params.pattern), *_where(params.path)]), call)


def totals(calls: Sequence[Call]) -> str:
    """`3 searches`."""
    count = sum(call.name in (grep.NAME, glob.NAME) for call in calls)
    return f"{count} search{'' if count == 1 else 'es'}" if count else ""


def _row(title: str, call: Call) -> Row:
    if call.is_error:
        return Row(title, next(iter((call.result or "").removeprefix("Error: ").strip().splitlines()), ""))
    return Row(title, _amount(call.details))


def _amount(details: Any) -> str:
    match details:
        case {"search": {"lines": int(lines), "files": int(files), "cut": bool(is_cut)}} if lines:
            amount = f"{counted(lines, 'line')} in {counted(files, 'file')}"
        case {"search": {"files": int(files), "cut": bool(is_cut)}}:
            amount = counted(files, "file") if files else ("nothing found in time" if is_cut else "nothing found")
        case _:
            return ""
    return f"{amount}, and more" if is_cut and files else amount


def _where(text: str | None) -> list[str]:
    return [_short(text)] if text else []


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}…"


async def plugin(screen: StdioRenders) -> AsyncGenerator[None]:
    """Draws `glob` and `grep` on the terminal."""
    with screen.add(Renders(rows={grep.NAME: grep_row, glob.NAME: glob_row}, totals=totals)):
        yield
