"""Servers that bring tools of their own: what a program that has such servers offers to whoever opens a session."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from planlog.tools.tool import Tools

SERVED = "mcp__"
"""How the names of tools begin that servers bring."""


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
