"""Servers that bring tools of their own: what a program that has such servers offers to whoever opens a session."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Protocol

import msgspec

from planlog.log.text import clean_text
from planlog.tools.tool import Presentation, Tools

SERVED = "mcp__"
"""How the names of tools begin that servers bring: `mcp__server__tool`."""


def present_served(name: str, arguments: dict[str, Any]) -> Presentation:
    """How a call of a server's tool looks; the same whether or not the server is there."""
    server, _, tool = name.removeprefix(SERVED).partition("__")
    text = clean_text(json.dumps(arguments, ensure_ascii=False, indent=2))
    return Presentation("generic", clean_text(f"{server}: {tool}"), "other", arguments, text=text)


class Server(msgspec.Struct, frozen=True):
    """A program that speaks MCP over stdio; `env` is added to the environment that commands get."""

    name: str
    command: str
    args: tuple[str, ...]
    env: dict[str, str]


class Connected(Protocol):
    """Servers that have been started."""

    async def settled(self) -> None:
        """Waits until each server has brought its tools or failed, no longer than the deadline that each has."""
        ...


class ToolServers(Protocol):
    """Starts servers and puts their tools among those of a session."""

    def connect(
        self, servers: Sequence[Server], cwd: Path, tools: Tools, report: Callable[[str], None]
    ) -> AbstractAsyncContextManager[Connected]:
        """Entering returns at once: tools are added to `tools` as they come. Leaving ends every server.

        `report` gets one line for a person about each server that fails, and about each tool that cannot be used.
        """
        ...
