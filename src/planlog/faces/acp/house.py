"""What the sessions of a connection share: the services of the program, and what stood on its command line."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from planlog.agent.agent import Agent
from planlog.agent.event import Policy
from planlog.agent.live import Live
from planlog.faces.acp.codec import INTERNAL_ERROR
from planlog.faces.acp.registry import AcpRenders
from planlog.faces.acp.requests import RpcError
from planlog.log.projection import Projection, Projections
from planlog.log.sessions import Sessions
from planlog.model.models import Models
from planlog.tools.servers import ToolServers
from planlog.tools.tool import Tools


@dataclass(frozen=True, slots=True)
class House:
    """`models` and `servers` are None where the composition has none; `model` and `policy` as on the command line."""

    agent: Agent
    sessions: Sessions
    projections: Projections
    renders: AcpRenders
    tools: Tools
    live: Live
    models: Models | None
    servers: ToolServers | None
    model: str | None
    policy: Policy

    async def refuse_running(self, session: str, instead: str) -> None:
        """Raises `RpcError` while a process runs the session; `instead` is what can be done when its turn is over."""
        if owner := await self.sessions.store.owner(session):
            text = f"process {owner.pid} on {owner.host} is running this session; {instead} when its turn is over"
            raise RpcError(INTERNAL_ERROR, text, {"pid": owner.pid, "host": owner.host})

    def folds(self) -> Iterable[Projection[Any]]:
        """The projections that features draw."""
        return [fold for key in self.renders.viewed() if (fold := self.projections.get(key))]
