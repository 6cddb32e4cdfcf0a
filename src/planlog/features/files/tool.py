"""Offers the tools for files."""

from collections.abc import AsyncGenerator

from planlog.features.files.read import READ
from planlog.tools.tool import Tools


async def plugin(tools: Tools) -> AsyncGenerator[None]:
    """Offers `read` to the models of this program."""
    with (
        tools.add(READ),
    ):
        yield
