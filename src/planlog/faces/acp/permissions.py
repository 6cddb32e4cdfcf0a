"""Asks the editor's person about calls, as one of those who may answer an approval."""

import anyio
import msgspec
from anyio.abc import TaskGroup

from planlog.agent.agent import Agent
from planlog.agent.event import APPROVAL_ASKED, APPROVAL_DECIDED, TURN_END, ApprovalAsked
from planlog.faces.acp.calls import Calls
from planlog.faces.acp.connection import Connection
from planlog.faces.acp.diffs import draw_diff
from planlog.faces.acp.messages import Permission, PermissionAnswer
from planlog.faces.acp.requests import ClientFailed
from planlog.faces.acp.tracing import trace
from planlog.faces.acp.updates import text_item
from planlog.faces.acp.wording import fenced
from planlog.kernel.errors import PlanlogError
from planlog.log.event import Event
from planlog.log.session import Session

ALLOW = Permission("allow", "Allow", "allow_once")
ALWAYS = "always"
REJECT = Permission("reject", "Reject", "reject_once")


class Permissions:
    """Answers what is asked while this process runs the session; another process asks its own person."""

    def __init__(self, connection: Connection, agent: Agent, session: Session, tasks: TaskGroup) -> None:
        self._connection = connection
        self._agent = agent
        self._session = session
        self._tasks = tasks
        self._open: dict[str, anyio.CancelScope] = {}

    def event(self, event: Event, calls: Calls) -> None:
        """Takes notice of a question, an answer or the end of a turn; `calls` are those of the step so far."""
        if event.type == APPROVAL_ASKED.name and self._agent.runs(self._session):
            asked = APPROVAL_ASKED.read(event)
            self._open[asked.id] = scope = anyio.CancelScope()
            self._tasks.start_soon(self._settle, asked, _card(asked, calls), scope)
        elif event.type == APPROVAL_DECIDED.name:
            if scope := self._open.pop(APPROVAL_DECIDED.read(event).id, None):
                scope.cancel()
        elif event.type == TURN_END.name:
            for scope in self._open.values():
                scope.cancel()
            self._open.clear()

    async def _settle(self, asked: ApprovalAsked, card: dict[str, object], scope: anyio.CancelScope) -> None:
        options = [ALLOW, *_always(asked), REJECT]
        params = {"sessionId": self._session.id, "toolCall": card, "options": options}
        with scope:
            try:
                answer = await self._connection.ask("session/request_permission", params, PermissionAnswer)
                chosen = answer.outcome.option_id if answer.outcome.outcome == "selected" else ""
            except ClientFailed:
                chosen = ""
            # From here on the decision on the log is this one.
            self._open.pop(asked.id, None)
            always = chosen == ALWAYS and bool(asked.rule)
            allowed = always or chosen == ALLOW.option_id
            try:
                await self._agent.answer(self._session, asked.id, "allowed" if allowed else "denied", always=always)
            except PlanlogError:  # the turn waits on, until it is stopped
                trace()


def _always(asked: ApprovalAsked) -> list[Permission]:
    return [Permission(ALWAYS, f'Always allow "{asked.rule}" in this session', "allow_always")] if asked.rule else []


def _card(asked: ApprovalAsked, calls: Calls) -> dict[str, object]:
    """As much as can be shown of the call: that it is asked for counts for more than how it looks."""
    try:
        card = _whole_card(asked, calls)
    except Exception:
        trace()
        card = None
    return card or {"toolCallId": asked.call_id or asked.id, "title": asked.tool_name, "status": "pending"}


def _whole_card(asked: ApprovalAsked, calls: Calls) -> dict[str, object] | None:
    """All that is known of the call, with the preview of what it will do in the place of its content."""
    shown = calls.shown(asked.call_id or "")
    if shown is None:
        return None
    if asked.preview:
        drawn = draw_diff(asked.preview)
        preview = calls.placed(drawn.content) if drawn else (text_item(fenced(asked.preview)),)
        shown = msgspec.structs.replace(shown, content=preview)
    card = msgspec.to_builtins(shown)
    del card["sessionUpdate"]
    return card
