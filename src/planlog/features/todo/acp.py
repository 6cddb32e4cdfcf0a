"""Shows plans in an editor: as the protocol's plan, in the card of the call, and by `/plan` where neither is shown."""

from collections.abc import AsyncGenerator, Iterable

from planlog.faces.acp import AcpRenders
from planlog.faces.acp.registry import Command
from planlog.faces.acp.updates import Card, PlanEntry, PlanUpdate, Update, text_item
from planlog.faces.acp.wording import fenced
from planlog.faces.renders import Call, Line, Renders
from planlog.features.todo import TOOL_NAME
from planlog.features.todo.fold import TODOS, Plan
from planlog.features.todo.history import PLAN_HISTORY
from planlog.features.todo.lines import plain_text
from planlog.features.todo.report import draw_history, draw_report, report_plan
from planlog.features.todo.tool import TodoWrite
from planlog.kernel.errors import ConfigError
from planlog.log.session import Session
from planlog.tools.schema import Violations, check_arguments


def draw_plan(plan: Plan) -> list[Update]:
    """The plan that stands; one without entries, which clears what is shown, when none does."""
    return [PlanUpdate(tuple(PlanEntry(todo.content, todo.status) for todo in plan or ()))]


def call_card(call: Call) -> Card:
    """The list as text, for clients that show no plan; a call that failed shows why."""
    params = check_arguments(TodoWrite, call.arguments)
    if call.is_error or isinstance(params, Violations):
        return Card()
    return Card((text_item(fenced(plain_text(params.todos)) if params.todos else "The list is cleared."),))


async def tell_plan(session: Session, text: str) -> str:
    """The plan that stands, or with the word "history" all that ever stood."""
    if text not in ("", "history"):
        raise ConfigError("/plan shows the plan that stands, /plan history all that ever stood")
    lists = await session.view(PLAN_HISTORY)
    if text:
        return _worded(draw_history(lists)) if lists else "No plan was ever written in this session."
    return _worded(draw_report(report_plan(session.id, session.head - 1, await session.view(TODOS)), lists))


def _worded(lines: Iterable[Line]) -> str:
    return fenced("\n".join("".join(span.text for span in line) for line in lines))


PLAN = Command("plan", "Show the plan that stands; history: all that ever stood", tell_plan, hint="history")


async def plugin(editor: AcpRenders) -> AsyncGenerator[None]:
    """Shows plans for as long as it is mounted."""
    with editor.add(Renders(views={TODOS.key: draw_plan}, rows={TOOL_NAME: call_card})), editor.offer(PLAN):
        yield
