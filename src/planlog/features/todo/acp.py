"""Shows plans in an editor: the list as the protocol's plan, and the call as a card that reads well by itself."""

from collections.abc import AsyncGenerator

from planlog.faces.acp import AcpRenders
from planlog.faces.acp.updates import PlanEntry, PlanUpdate, Update
from planlog.faces.renders import Renders
from planlog.features.todo.fold import TODOS, Plan


def draw_plan(plan: Plan) -> list[Update]:
    """The plan that stands; one without entries, which clears what is shown, when none does."""
    return [PlanUpdate(tuple(PlanEntry(todo.content, todo.status) for todo in plan or ()))]


async def plugin(editor: AcpRenders) -> AsyncGenerator[None]:
    """Shows plans for as long as it is mounted."""
    with editor.add(Renders(views={TODOS.key: draw_plan})):
        yield
