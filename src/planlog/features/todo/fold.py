"""The standing plan: the latest list written, until the next turn starts."""

from collections.abc import AsyncGenerator

from planlog.features.todo.event import TODO_WRITE, Todo
from planlog.features.todo.history import PLAN_HISTORY
from planlog.log.event import Event
from planlog.log.projection import Projection, Projections

Plan = list[Todo] | None
"""The list that stands, perhaps empty; None when none was written in this turn."""


def _apply(state: Plan, event: Event) -> Plan:
    if event.type == "todo/write":
        return TODO_WRITE.read(event).todos
    return None if event.type == "turn/start" else state


TODOS: Projection[Plan] = Projection("todos", None, _apply, last_of=("todo/write", "turn/start"), state_version=2)


async def plugin(projections: Projections) -> AsyncGenerator[None]:
    """Offers the standing plan, and every plan that ever stood."""
    with projections.add(TODOS, PLAN_HISTORY):
        yield
