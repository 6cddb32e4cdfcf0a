"""The list of all sessions: what each is called, how far it is and what its features have to say about it."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from planlog.agent.event import SESSION_TITLE, TURN_START
from planlog.faces.cli import Column
from planlog.faces.renders import Line, Span, Style
from planlog.faces.stdio.cleaning import clean_line
from planlog.faces.stdio.painting import cells, shorten, shorten_left
from planlog.kernel.errors import PlanlogError
from planlog.kernel.scope import Scope
from planlog.log.event import read_line
from planlog.log.projection import Projection, Projections
from planlog.log.sessions import Sessions
from planlog.log.store import SessionRecord

NO_TITLE = "(untitled)"


class Listed(msgspec.Struct, frozen=True):
    """One session in the list; `values` holds the features' columns by their keys."""

    record: SessionRecord
    title: str | None
    turns: int
    running: bool
    values: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """The shape of `sessions --json`; times are epoch milliseconds."""
        record = self.record
        return {
            "id": record.id,
            "title": self.title,
            "cwd": record.cwd,
            "createdAt": record.created_at,
            "updatedAt": record.updated_at,
            "turns": self.turns,
            "running": self.running,
            **self.values,
        }


async def list_sessions(scope: Scope, columns: Iterable[Column]) -> list[Listed]:
    """All sessions, newest activity first. What cannot be read of one is left empty, so that the others are listed."""
    sessions, projections = scope.get(Sessions), scope.get(Projections)
    folds = {column.key: projections.get(column.projection) for column in columns}
    return [await _listed(sessions, record, folds) for record in await sessions.store.find("")]


async def _listed(sessions: Sessions, record: SessionRecord, folds: dict[str, Projection[Any] | None]) -> Listed:
    store = sessions.store
    running = await store.owner(record.id) is not None
    try:
        title = await store.last_of(record.id, (SESSION_TITLE.name,))
        turn = await store.last_of(record.id, (TURN_START.name,))
        values = {key: await _value(sessions, record.id, fold) for key, fold in folds.items()}
        return Listed(
            record,
            SESSION_TITLE.read(read_line(title)).title if title else None,
            TURN_START.read(read_line(turn)).turn if turn else 0,
            running,
            values,
        )
    except PlanlogError:
        return Listed(record, None, 0, running, dict.fromkeys(folds))


async def _value(sessions: Sessions, session: str, fold: Projection[Any] | None) -> Any:
    if fold is None:
        return None
    if not fold.last_of:
        return await (await sessions.open(session)).view(fold)
    line = await sessions.store.last_of(session, fold.last_of)
    return fold.view(fold.apply(fold.init, read_line(line)) if line else fold.init)


# The table

_GAP = 2
_ID = 10
"""Characters of an id that are shown at least; what `new_id` makes."""
_ACTIVE, _TURNS = 1, 2
_RIGID = 3
"""How many columns are never shortened: session, active, turns."""
_EASY, _TIGHT = 12, 8
"""Cells to which any other column may shrink: as long as there is something to leave out for it, and then."""


def table(
    listed: Sequence[Listed], columns: Sequence[Column], width: int | None, home: Path, now: float | None = None
) -> list[Line]:
    """A line for each session below a head: id, age, turns, title, the features' columns and the folder.

    Where `width` is too small for all of them, the folder is left out first, then turns and age; the rest is shortened,
    the folder from the left. `home` is where none were found.
    """
    now = time.time() if now is None else now
    head = ["session", "active", "turns", "title", *(column.title for column in columns), "folder"]
    ids = _short_ids([one.record.id for one in listed])
    rows = [[ids[one.record.id], *_row(one, columns, now)] for one in listed]
    if not rows:
        return [(Span(f"no sessions yet in {clean_line(str(home))}; planlog run PROMPT begins one", "dim"),)]
    widths = _fit([max(cells(row[index]) for row in [head, *rows]) for index in range(len(head))], width)
    body = [
        _line(row, widths, "bold", "busy" if one.running else "plain") for one, row in zip(listed, rows, strict=True)
    ]
    return [_line(head, widths, "dim", "dim", "dim"), *body]


def _short_ids(ids: Sequence[str]) -> dict[str, str]:
    """The beginning of each id that is enough to find it."""
    length = min(_ID, max(map(len, ids), default=_ID))
    while len({id[:length] for id in ids}) < len(ids):
        length += 1
    return {id: id[:length] for id in ids}


def _row(one: Listed, columns: Sequence[Column], now: float) -> list[str]:
    age = "running" if one.running else _age(now - one.record.updated_at / 1000)
    values = [column.text(value) if (value := one.values[column.key]) is not None else "" for column in columns]
    texts = (one.title or NO_TITLE, *values, one.record.cwd)
    return [age, str(one.turns), *(clean_line(text) for text in texts)]


def _fit(widths: Sequence[int], width: int | None) -> dict[int, int]:
    """The columns that are shown and their widths: what can be spared is left out, the rest shrinks."""
    shown = dict(enumerate(widths))
    if width is None:
        return shown
    folder = len(widths) - 1
    for spared in (folder, _TURNS, _ACTIVE):
        if _total(_shrunk(shown, _EASY)) > width:
            del shown[spared]
    for spared in range(folder - 1, 0, -1):
        if spared in shown and _total(_shrunk(shown, _TIGHT)) > width:
            del shown[spared]
    while _total(shown) > width and (soft := [index for index in shown if index >= _RIGID]):
        shown[max(soft, key=shown.__getitem__)] -= 1
    return shown


def _shrunk(widths: dict[int, int], least: int) -> dict[int, int]:
    return {index: min(width, least) if index >= _RIGID else width for index, width in widths.items()}


def _total(widths: dict[int, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _line(row: list[str], widths: dict[int, int], first: Style, second: Style, others: Style = "plain") -> Line:
    spans: list[Span] = []
    for index, width in widths.items():
        text = (shorten_left if index == len(row) - 1 else shorten)(row[index], width)
        padding = "" if index == max(widths) else " " * (width - cells(text) + _GAP)
        style = first if index == 0 else second if index == _ACTIVE else others
        spans.append(Span(text + padding, style))
    return tuple(spans)


def _age(seconds: float) -> str:
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"
