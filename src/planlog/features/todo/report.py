"""Puts plans into words and JSON for the command line."""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from planlog.faces.renders import Line, Span
from planlog.features.todo.event import Todo
from planlog.features.todo.fold import TODOS, Plan
from planlog.features.todo.history import Standing, left_open
from planlog.features.todo.lines import item_line, plan_lines
from planlog.features.todo.summary import Counts, count
from planlog.features.todo.texts import ENGLISH, left_open_text
from planlog.kernel.errors import ConfigError
from planlog.log.session import Session


class PlanReport(msgspec.Struct, frozen=True, rename="camel"):
    """What `plan --json` prints: the plan that stood at `seq` (-1: an empty log), None when none did."""

    session_id: str
    seq: int
    todos: list[Todo] | None
    counts: Counts


def report_plan(session: str, seq: int, plan: Plan) -> PlanReport:
    """The report of one moment; where no plan stands all counts are 0."""
    return PlanReport(session, seq, plan, count(plan or ()))


async def plan_at(session: Session, seq: int) -> Plan:
    """The plan that stood right after the event `seq`. A seq that the log does not have is a `ConfigError`."""
    if not 0 <= seq < session.head:
        last = f"its last event is {session.head - 1}" if session.head else "it is empty"
        raise ConfigError(f"session {session.id} has no event {seq}: {last}")
    plan = TODOS.init
    async for page in session.pages(types=TODOS.types):
        plan = TODOS.go_on(plan, [event for event in page if event.seq <= seq])
        if page[-1].seq >= seq:
            break
    return plan


def draw_report(report: PlanReport, lists: Sequence[Standing]) -> list[Line]:
    """The plan as on a terminal; where none stands, that, and what was left open of the last of `lists`."""
    if report.todos is not None:
        return plan_lines(report.todos)
    lines: list[Line] = [(Span(f"{ENGLISH.none_stands} in session {report.session_id}"),)]
    if left := left_open(lists):
        lines.append((Span(f"{left_open_text(left)}; planlog plan {report.session_id} --history shows it", "dim"),))
    return lines


def draw_history(lists: Sequence[Standing]) -> list[Line]:
    """Each list under its turn, seq and time: `+` added, `-` removed, `~` another status, `moved` another place."""
    lines: list[Line] = []
    before: Sequence[Todo] = ()
    for standing in lists:
        lines.append(_head(standing))
        lines += _draw_difference(standing, before)
        before = standing.todos
    return lines


def _head(standing: Standing) -> Line:
    where = f"turn {standing.turn} · seq {standing.seq} · {clock_text(standing.time)}"
    return (Span(where, "bold"), Span("" if standing.todos else " · cleared", "dim"))


def _draw_difference(standing: Standing, before: Sequence[Todo]) -> list[Line]:
    added, moved = set(standing.diff.added), set(standing.diff.reordered)
    changed = {change.content for change in standing.diff.status_changed}
    lines: list[Line] = []
    for todo in standing.todos:
        mark = "+" if todo.content in added else "~" if todo.content in changed else " "
        line = item_line(todo, f"  {mark} ")
        lines.append((*line, Span("  moved", "dim")) if todo.content in moved else line)
    removed = set(standing.diff.removed)
    lines += [item_line(todo, "  - ") for todo in before if todo.content in removed]
    return lines


def clock_text(time: int) -> str:
    """Local time, in seconds; the bare number for a time that no calendar has."""
    try:
        return f"{datetime.fromtimestamp(time / 1000, UTC).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return f"{time} ms"
