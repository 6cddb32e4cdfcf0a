"""A client made of the Python SDK, the twin of sdk_client.mjs.

`python sdk_client.py FOLDER AGENT...` prints what it was told, as JSON lines.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

FOLDER, *AGENT = sys.argv[1:]
Outcome = AllowedOutcome | DeniedOutcome
Decide = Callable[[ClientSideConnection, str], Awaitable[Outcome]]


def told(what: str, value: Any) -> None:
    """Prints one line."""
    sys.stdout.write(json.dumps([what, value]) + "\n")
    sys.stdout.flush()


def plain(model: Any) -> Any:
    """A message as it stood on the wire."""
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Told:
    """Prints what the agent tells, and answers its questions one after the other."""

    def __init__(self, *outcomes: Decide) -> None:
        self._outcomes = list(outcomes)
        self._agent: Any = None

    def on_connect(self, conn: Any) -> None:
        self._agent = conn

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        told("update", plain(update))

    async def request_permission(
        self, session_id: str, tool_call: Any, options: Any, **kwargs: Any
    ) -> RequestPermissionResponse:
        told("question", {"toolCall": plain(tool_call), "options": [plain(option) for option in options]})
        return RequestPermissionResponse(outcome=await self._outcomes.pop(0)(self._agent, session_id))


async def allow(agent: ClientSideConnection, session: str) -> Outcome:
    """Allows the call once."""
    return AllowedOutcome(outcome="selected", option_id="allow")


async def cancel(agent: ClientSideConnection, session: str) -> Outcome:
    """Cancels the turn that asks."""
    await agent.cancel(session)
    return DeniedOutcome(outcome="cancelled")


@asynccontextmanager
async def agent_for(client: Told) -> AsyncIterator[ClientSideConnection]:
    """An agent of its own, which ends with the block."""
    async with spawn_agent_process(cast(Any, client), *AGENT, env=os.environ) as (connection, process):
        told("initialized", (await connection.initialize(protocol_version=PROTOCOL_VERSION)).protocol_version)
        yield connection
    told("ended", process.returncode)


async def main() -> None:
    """Two turns, of which the second is cancelled, and the session once more in another process."""
    async with agent_for(Told(allow, cancel)) as agent:
        session = (await agent.new_session(cwd=FOLDER, mcp_servers=[])).session_id
        for text in ("go", "on"):
            told("stopped", (await agent.prompt(session_id=session, prompt=[text_block(text)])).stop_reason)
    async with agent_for(Told()) as agent:
        await agent.load_session(session_id=session, cwd=FOLDER, mcp_servers=[])
        told("loaded", session)


asyncio.run(main())
