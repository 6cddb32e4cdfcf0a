"""One session on the connection: its log is followed, prompts are answered in order, and questions are put."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio

from planlog.agent.event import AbortKind
from planlog.agent.tasks import task_group
from planlog.faces.acp.choices import Choices
from planlog.faces.acp.connection import Connection
from planlog.faces.acp.following import Following
from planlog.faces.acp.house import House
from planlog.faces.acp.messages import McpServer
from planlog.faces.acp.opening import OpenSession
from planlog.faces.acp.permissions import Permissions
from planlog.faces.acp.telling import Telling
from planlog.faces.acp.translation import Translation
from planlog.faces.acp.turns import Turns
from planlog.kernel.errors import PlanlogError, one_line
from planlog.log.event import Event
from planlog.log.session import Session
from planlog.tools.servers import Connected, Server
from planlog.tools.tool import Tools


class Talk:
    """Lives in `live`. `folder` is where tools work. Nothing is told before one of `following`'s beginnings.

    Whoever comes to it or closes it does so under `coming`, `is_closing` and `ended`, see `Bridge`.
    """

    following: Following
    turns: Turns
    _permissions: Permissions

    def __init__(self, house: House, connection: Connection, session: Session, folder: Path) -> None:
        self.session = session
        self.choices = Choices(house.models, house.model, house.policy)
        self._house = house
        self._connection = connection
        self._here = OpenSession(session, folder, Tools(house.tools), Telling(connection, session.id), set())
        self.coming = anyio.Lock()
        self.is_closing = False
        self.ended = anyio.Event()
        self._closing = anyio.Event()

    async def live(self, servers: Sequence[McpServer], ready: anyio.Event) -> None:
        """Answers prompts until `close`; sets `ready` once it can."""
        async with task_group() as tasks, AsyncExitStack() as stack:
            self._permissions = Permissions(self._connection, self._house.agent, self.session, tasks)
            self.following = Following(self._house, self._here, tasks, self._settle, self._silent)
            self.turns = Turns(self._house, self._here, self.choices, self.following, tasks)
            for server in servers:
                if server.type != "stdio":
                    text = f'MCP server "{server.name}": only servers over stdio can be used, not {server.type}'
                    self.turns.report(text)
            if started := [_server(one) for one in servers if one.type == "stdio"]:
                self.turns.servers = await self._start(started, stack)
            stack.enter_context(self._house.live.listen(self.session.id, self.following.hear))
            tasks.start_soon(self.turns.answer_all)
            ready.set()
            await self._closing.wait()
            tasks.cancel_scope.cancel()

    async def _start(self, servers: Sequence[Server], life: AsyncExitStack) -> Connected | None:
        if self._house.servers is None:
            self.turns.report("no MCP server is started: the composition has no row for planlog.features.mcp")
            return None
        here = self._here
        connecting = self._house.servers.connect(servers, here.folder, here.tools, self.turns.report)
        return await life.enter_async_context(connecting)

    async def close(self, kind: AbortKind) -> None:
        """Stops what runs and waits until all prompts are answered and nobody comes any more; then `live` ends."""
        self.following.interrupt()
        try:
            await self.turns.stop(kind)
            await self.turns.idle()
            async with self.coming:
                pass
        finally:
            self._closing.set()

    def _settle(self, event: Event, translation: Translation) -> None:
        self.turns.event(event)
        self._permissions.event(event, translation.calls)

    def _silent(self, error: PlanlogError | None) -> None:
        if error:
            self.turns.fail(one_line(error))
        else:
            self.turns.unshown()


def _server(server: McpServer) -> Server:
    env = {one.name: one.value for one in server.env or ()}
    return Server(server.name, server.command, tuple(server.args or ()), env)
