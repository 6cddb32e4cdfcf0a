"""One session on the connection: its log is followed, prompts are answered in order, and questions are put."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from planlog.agent.event import AbortKind
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
    """`folder` is where tools work, `tasks` hold all that goes on.

    Nothing is told before `following` begins. Whoever comes to it does so under `coming`, see `Bridge`.
    """

    def __init__(self, house: House, connection: Connection, session: Session, folder: Path, tasks: TaskGroup) -> None:
        self.session = session
        self.choices = Choices(house.models, house.model, house.policy)
        self.coming = anyio.Lock()
        self.is_closing = False
        self.closed = anyio.Event()
        """Set when all prompts are answered and nobody comes any more: what it has started can go."""
        self.ended = anyio.Event()
        """Set when nothing of it is left."""
        self._house = house
        self._tasks = tasks
        self._servers: Sequence[McpServer] = ()
        self._here = OpenSession(session, folder, Tools(house.tools), Telling(connection, session.id), set())
        self._permissions = Permissions(connection, house.agent, session, tasks)
        self.following = Following(house, self._here, tasks, self._settle, self._silent)
        self.turns = Turns(house, self._here, self.choices, self.following, tasks)

    @asynccontextmanager
    async def opened(self, servers: Sequence[McpServer]) -> AsyncGenerator[None]:
        """Prompts are answered, and the servers run, as long as the block lasts."""
        self._servers = servers
        async with AsyncExitStack() as stack:
            for server in servers:
                if server.type != "stdio":
                    text = f'MCP server "{server.name}": only servers over stdio can be used, not {server.type}'
                    self.turns.report(text)
            if started := [_server(one) for one in servers if one.type == "stdio"]:
                self.turns.servers = await self._start(started, stack)
            stack.enter_context(self._house.live.listen(self.session.id, self.following.hear))
            self._tasks.start_soon(self.turns.answer_all)
            yield

    def come(self, folder: Path, servers: Sequence[McpServer]) -> None:
        """Somebody comes with a folder and servers, which may be others than those that it was opened with."""
        if folder != self._here.folder or list(servers) != list(self._servers):
            self.turns.report(
                f"this session is open already: tools go on working in {self._here.folder}, with the servers that were "
                "started then; close it first to change that"
            )

    async def _start(self, servers: Sequence[Server], life: AsyncExitStack) -> Connected | None:
        if self._house.servers is None:
            self.turns.report("no MCP server is started: the composition has no row for planlog.features.mcp")
            return None
        here = self._here
        connecting = self._house.servers.connect(servers, here.folder, here.tools, self.turns.report)
        return await life.enter_async_context(connecting)

    async def close(self, kind: AbortKind) -> None:
        """Stops what runs and waits until all prompts are answered and nobody comes any more; then it is `closed`."""
        self.following.interrupt()
        try:
            await self.turns.stop(kind)
            await self.turns.idle()
            async with self.coming:
                pass
        finally:
            self.closed.set()

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
