"""Serves one editor over ACP, from the first line that it sends to the end of its stream."""

from typing import TYPE_CHECKING, NamedTuple

import anyio

from planlog.agent.agent import Agent
from planlog.agent.event import Policy
from planlog.agent.live import Live
from planlog.agent.rules import check_named
from planlog.agent.tasks import task_group
from planlog.faces.acp import AcpRenders
from planlog.faces.acp.bridge import Bridge
from planlog.faces.acp.commands import TITLE
from planlog.faces.acp.house import House
from planlog.faces.acp.streams import Inlet, Outlet
from planlog.kernel.scope import NotRunning, Scope
from planlog.log.projection import Projections
from planlog.log.sessions import Sessions
from planlog.model.models import Models
from planlog.tools.servers import ToolServers
from planlog.tools.tool import Tools

if TYPE_CHECKING:
    from typing import TypeVar

    from planlog.app.signals import Signals

    T = TypeVar("T")

ACP_ROLES = ("event", "fold", "service", "tool", "acp")
"""What a program needs to serve an editor."""
LEAVE_SECONDS = 2.8
"""How long the whole end may take; a database that somebody keeps locked is not waited for any longer."""


class Wires(NamedTuple):
    """The two descriptors, what was read of the first already, and whether the client was greeted."""

    inlet: int
    outlet: int
    read: bytes
    greeted: bool


async def serve(scope: Scope, signals: "Signals", wires: Wires, model: str | None, approve: Policy | None) -> int:
    """Serves until the client is gone or a signal comes; both are an orderly end."""
    agent, tools, renders = scope.get(Agent), scope.get(Tools), scope.get(AcpRenders)
    check_named((*agent.rules.allow, *agent.rules.deny), tools)
    house = House(
        agent,
        scope.get(Sessions),
        scope.get(Projections),
        renders,
        tools,
        scope.get(Live),
        _find(scope, Models),
        _find(scope, ToolServers),
        model,
        approve or agent.policy,
    )
    serving = anyio.CancelScope()
    signals.on_end = serving.cancel
    with renders.offer(TITLE):
        async with task_group() as tasks:
            bridge = Bridge(house, Inlet(wires.inlet, wires.read), Outlet(wires.outlet), tasks)
            try:
                with serving:
                    await bridge.serve(initialized=wires.greeted)
            finally:
                signals.leave_after(LEAVE_SECONDS, 0)
                with anyio.CancelScope(shield=True):
                    await bridge.end()
            tasks.cancel_scope.cancel()
    return 0


def _find(scope: Scope, kind: "type[T]") -> "T | None":
    try:
        return scope.get(kind)
    except NotRunning:
        return None
