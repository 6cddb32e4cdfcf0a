"""A server that has been greeted: what it can do is asked, called, and asked again when it says that it has changed."""

import json
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio import to_thread

from planlog.agent.tasks import task_group
from planlog.features.mcp.offer import Listed
from planlog.features.mcp.process import ServerEnded, ServerProcess, running
from planlog.features.mcp.schemas import inlined
from planlog.log.text import mend_escapes
from planlog.tools.environment import command_environment
from planlog.tools.servers import Server
from planlog.tools.tool import ToolFailure

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCError

MOST = 200
"""Tools of one server."""
UNSENT = 1_000
"""Messages to a server that wait until it reads; nobody who sends one waits for that."""
UNANSWERED = 100
"""Requests of a server whose answers it has not read: one that asks on is ended."""


class Connection:
    """A server that takes calls; several may be under way."""

    def __init__(self, inbound: "MemoryObjectReceiveStream[Any]", outbound: "MemoryObjectSendStream[Any]") -> None:
        from mcp.client.session import ClientSession
        from mcp_types import ToolListChangedNotification

        async def hear(message: object) -> None:
            if isinstance(message, ToolListChangedNotification):
                self._changed.set()

        self._changed = anyio.Event()
        self.session: ClientSession = ClientSession(inbound, outbound, message_handler=hear)

    async def tools(self) -> list[Listed]:
        """What the server can do; of more than `MOST` things one more than these."""
        from mcp_types import PaginatedRequestParams

        listed: list[Listed] = []
        cursor: str | None = None
        while True:
            page = await self.session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            listed += [
                Listed(one.name, one.description or one.title or "", inlined(one.input_schema)) for one in page.tools
            ]
            cursor = page.next_cursor
            if not cursor or len(listed) > MOST:
                return listed[: MOST + 1]

    async def changed(self) -> None:
        """Returns when the server has said that its tools are others now."""
        await self._changed.wait()
        self._changed = anyio.Event()

    async def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The `CallToolResult` as JSON. Raises `ToolFailure` where there is none."""
        from mcp.shared.exceptions import MCPError

        try:
            result = await self.session.call_tool(name, arguments)
        except MCPError as error:
            raise ToolFailure(str(error)) from error
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)


@asynccontextmanager
async def connected(server: Server, cwd: Path, report: Callable[[str], None]) -> AsyncGenerator[Connection]:
    """The server for as long as the block lasts, started in the folder `cwd`; `report` hears of what is no message.

    Raises `ImportError` without the SDK, `ServerEnded` when the server cannot be started and in the block when it ends,
    and whatever the SDK raises when it does not speak MCP.
    """
    # It takes about a second, in which others have their turns.
    await to_thread.run_sync(_import_sdk, abandon_on_cancel=True)
    env = command_environment(os.environ) | server.env
    async with running([server.command, *server.args], cwd, env) as process, task_group() as tasks:
        to_session, inbound = anyio.create_memory_object_stream[Any](0)
        outbound, from_session = anyio.create_memory_object_stream[Any](UNSENT)
        with to_session, inbound, outbound, from_session:
            lines = _Lines(process)
            tasks.start_soon(lines.read, to_session, report)
            tasks.start_soon(lines.write, from_session)
            connection = Connection(inbound, outbound)
            async with connection.session:
                await connection.session.initialize()
                yield connection
            tasks.cancel_scope.cancel()


def _import_sdk() -> None:
    import mcp.client.session
    import mcp.shared.message  # noqa: F401


class _Lines:
    """Messages of the SDK as lines of the process, and back."""

    def __init__(self, process: ServerProcess) -> None:
        self._process = process
        self._unanswered = 0

    async def read(self, session: "MemoryObjectSendStream[SessionMessage]", report: Callable[[str], None]) -> None:
        from mcp.shared.message import SessionMessage
        from mcp_types import JSONRPCRequest, jsonrpc_message_adapter

        reported = False
        while True:
            line = mend_escapes(await self._process.read())
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                if not reported:
                    report(f"it prints what is no message: {line[:80].decode(errors='replace')}")
                reported = True
                if (message := _failed(line)) is None:
                    continue
            if isinstance(message, JSONRPCRequest):
                self._unanswered += 1
                if self._unanswered > UNANSWERED:
                    raise ServerEnded("it asks for more and more and reads no answer")
            await session.send(SessionMessage(message))

    async def write(self, session: "MemoryObjectReceiveStream[SessionMessage]") -> None:
        from mcp_types import JSONRPCError, JSONRPCResponse

        async for sent in session:
            line = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
            await self._process.write(line.encode() + b"\n")
            if isinstance(sent.message, JSONRPCError | JSONRPCResponse):
                self._unanswered -= 1


def _failed(line: bytes) -> "JSONRPCError | None":
    """An answer that cannot be read, as the failure of what it answers: nobody shall wait for a better one."""
    from mcp_types import ErrorData, JSONRPCError

    try:
        said = json.loads(line, parse_int=_number)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or "method" in said or not isinstance(id := cast(Any, said.get("id")), int):
        return None
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=-32603, message="the server's answer is none"))


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < 20 else digits
