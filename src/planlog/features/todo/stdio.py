"""Draws plans on a plain terminal: the list after each write, and a row for the call."""

from collections.abc import AsyncGenerator, Sequence

from planlog.faces.renders import Call, Line, Renders, Row, Span
from planlog.faces.stdio import StdioRenders
from planlog.features.todo import TOOL_NAME
from planlog.features.todo.event import TODO_WRITE
from planlog.features.todo.fold import TODOS, Plan
from planlog.features.todo.history import PLAN_HISTORY, Standing, left_open
from planlog.features.todo.lines import plan_lines
from planlog.features.todo.summary import summarize_arguments
from planlog.features.todo.texts import ENGLISH, left_open_text, suffix_text, summary_text
from planlog.log.event import Event


def draw_written(event: Event) -> list[Line]:
    """The list that was written."""
    return plan_lines(TODO_WRITE.read(event).todos)


def draw_plan(plan: Plan) -> list[Line]:
    """The list that stands, nothing when none does."""
    return [] if plan is None else plan_lines(plan)


def draw_left_open(lists: Sequence[Standing]) -> list[Line]:
    """One dim line about the last list where it was left unfinished; for when none stands."""
    left = left_open(lists)
    return [(Span(f"no plan stands; {left_open_text(left)}", "dim"),)] if left else []


def draw_call(call: Call) -> Row:
    """The call in one line. What the model sent may be anything; a failed call shows why, and no count."""
    if call.is_error:
        return Row(ENGLISH.title, summary=next(iter((call.result or "").strip().splitlines()), ""))
    summary = summarize_arguments(call.arguments)
    if summary is None:
        return Row(ENGLISH.title)
    suffix, words = suffix_text(summary)
    return Row(ENGLISH.title, summary_text(summary), suffix, words)


RENDERS = Renders(
    events={TODO_WRITE.name: draw_written},
    views={TODOS.key: draw_plan, PLAN_HISTORY.key: draw_left_open},
    rows={TOOL_NAME: draw_call},
)


async def plugin(screen: StdioRenders) -> AsyncGenerator[None]:
    """Draws plans for as long as it is mounted."""
    with screen.add(RENDERS):
        yield
