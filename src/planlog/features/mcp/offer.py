"""A server's tool as one of ours: under a name of its own, with the server's schema, and never without approval."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from planlog.features.mcp.names import tool_name
from planlog.features.mcp.results import result_text
from planlog.log.text import clean_text
from planlog.tools.schema import Unchecked
from planlog.tools.servers import present_served
from planlog.tools.tool import Execution, Presentation, Proposal, Tool

DESCRIPTION = 2_000
"""Characters of a description that the model is told."""
SCHEMA = 20_000
"""Characters of a schema that are still reasonable: all of it goes into every request."""
CALL_SECONDS = 120.0

Call = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Calls a tool of the server by its own name, with its arguments; the `CallToolResult` as JSON."""


class Listed(Struct, frozen=True):
    """A tool as its server lists it."""

    name: str
    description: str
    schema: dict[str, Any]


def unusable(listed: Listed) -> str:
    """Why the tool cannot be offered; empty if it can."""
    if listed.schema.get("type") != "object":
        return "its schema is not that of an object"
    if len(json.dumps(listed.schema)) > SCHEMA:
        return f"its schema is longer than {SCHEMA} characters"
    return ""


def offered(server: str, listed: Listed, call: Call) -> Tool[Unchecked, dict[str, Any]]:
    """The tool; whatever the server says of its harmlessness, it is the server that says so."""
    name = tool_name(server, listed.name)

    async def execute(params: Unchecked, execution: Execution) -> dict[str, Any]:
        return await call(listed.name, params.arguments)

    async def propose(params: Unchecked, execution: Execution) -> Proposal:
        return Proposal(rule=name)

    def present(params: Unchecked) -> Presentation:
        return present_served(name, params.arguments)

    return Tool(
        name,
        clean_text(listed.description)[:DESCRIPTION] or f"The tool {clean_text(listed.name)} of {clean_text(server)}.",
        Unchecked,
        execute,
        result_text,
        timeout=CALL_SECONDS,
        needs_approval=True,
        present_call=present,
        propose=propose,
        given_schema=listed.schema,
    )
