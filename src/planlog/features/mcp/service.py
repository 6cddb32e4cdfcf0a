"""Starts the servers of a session side by side and offers what they can do; each fault is one line for a person."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import anyio

from planlog.agent.tasks import task_group
from planlog.features.mcp.connection import MOST, connected
from planlog.features.mcp.offer import Call, Listed, offered, unusable
from planlog.kernel.errors import ConfigError, one_line
from planlog.kernel.last_acts import LastActs
from planlog.tools.child import kill_living
from planlog.tools.servers import Server, ToolServers
from planlog.tools.tool import Tools

START_SECONDS = 10.0
"""How long a server may take until it has said what it can do, at the start and whenever that changes."""
NAMED = 5
"""Tools that a report about several names."""

Report = Callable[[str], None]


class Settling:
    """The servers of one session; each counts as settled when it has brought its tools, or will bring none."""

    def __init__(self, servers: Sequence[Server]) -> None:
        self.servers = [(server, anyio.Event()) for server in servers]

    async def settled(self) -> None:
        """Waits for all of them."""
        for _, event in self.servers:
            await event.wait()


class McpServers:
    """Connects to servers over stdio."""

    @asynccontextmanager
    async def connect(
        self, servers: Sequence[Server], cwd: Path, tools: Tools, report: Report
    ) -> AsyncGenerator[Settling]:
        """Entering returns at once: tools are added to `tools` as they come. Leaving ends every server."""
        settling = Settling(servers)
        async with task_group() as tasks:
            for server, settled in settling.servers:
                tasks.start_soon(_attend, server, cwd, tools, _naming(server, report), settled)
            yield settling
            tasks.cancel_scope.cancel()


def _naming(server: Server, report: Report) -> Report:
    return lambda line: report(f'MCP server "{server.name}": {line}')


async def _attend(server: Server, cwd: Path, tools: Tools, report: Report, settled: anyio.Event) -> None:
    """Whatever happens to one server, nobody else is the worse for it."""
    try:
        with anyio.CancelScope() as start:
            await _serve(server, cwd, tools, report, settled, start)
        if start.cancelled_caught:
            report(f"it is given up: it has not said within {START_SECONDS:.0f} seconds what it can do")
    except ImportError as error:
        report(f"it cannot be used: {one_line(error)}; pip install 'planlog[mcp]'")
    except Exception as error:
        report(f"its tools cannot be used: {one_line(error)}")
    finally:
        settled.set()


async def _serve(
    server: Server, cwd: Path, tools: Tools, report: Report, settled: anyio.Event, start: anyio.CancelScope
) -> None:
    start.deadline = anyio.current_time() + START_SECONDS
    async with connected(server, cwd, report) as connection:
        listed = await connection.tools()
        while True:
            with ExitStack() as offers:
                _offer(server, listed, connection.call, tools, report, offers)
                start.deadline = float("inf")
                settled.set()
                await connection.changed()
                start.deadline = anyio.current_time() + START_SECONDS
                listed = await connection.tools()


def _offer(server: Server, listed: list[Listed], call: Call, tools: Tools, report: Report, offers: ExitStack) -> None:
    if len(listed) > MOST:
        report(f"only the first {MOST} of its tools are offered")
    left_out: list[str] = []
    for one in listed[:MOST]:
        if reason := unusable(one):
            left_out.append(f"{one.name[:80]} ({reason})")
            continue
        tool = offered(server.name, one, call)
        try:
            offers.enter_context(tools.add(tool))
        except ConfigError:
            left_out.append(f"{one.name[:80]} (another has the name {tool.name})")
    if left_out:
        more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
        report(f"tools that cannot be offered: {', '.join(left_out[:NAMED])}{more}")


async def plugin(last_acts: LastActs) -> AsyncGenerator[ToolServers]:
    """Starts servers for whoever opens a session."""
    with last_acts.add(kill_living):
        yield McpServers()
