"""Starts the servers of a session side by side and offers what they can do; each fault is one line for a person."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from planlog.agent.tasks import task_group
from planlog.features.mcp.connection import connected
from planlog.features.mcp.offering import Offering
from planlog.kernel.errors import one_line
from planlog.kernel.last_acts import LastActs
from planlog.tools.child import kill_living
from planlog.tools.servers import Server, ToolServers
from planlog.tools.tool import Tools

START_SECONDS = 10.0
"""How long a server may take until it has said what it can do, at the start and whenever that changes."""
PAUSE_SECONDS = 1.0
"""Between two looks at what a server can do, however often it says that this has changed."""

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
        offering = Offering(server, connection.call, tools, report)
        try:
            while True:
                offering.update(await connection.tools())
                start.deadline = float("inf")
                settled.set()
                again = anyio.current_time() + PAUSE_SECONDS
                await connection.changed()
                await anyio.sleep_until(again)
                start.deadline = anyio.current_time() + START_SECONDS
        finally:
            offering.clear()


async def plugin(last_acts: LastActs) -> AsyncGenerator[ToolServers]:
    """Starts servers for whoever opens a session."""
    with last_acts.add(kill_living):
        yield McpServers()
