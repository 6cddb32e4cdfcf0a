"""Offers the tools for files."""

from collections.abc import AsyncGenerator

from planlog.features.files.edit import EDIT
from planlog.features.files.read import READ
from planlog.features.files.write import WRITE
from planlog.tools.tool import Tools


async def plugin(tools: Tools) -> AsyncGenerator[None]:
    """Offers `read`, `edit` and `write` to the models of this program."""
    with (
        tools.add(READ),
        tools.add(EDIT),
        tools.add(WRITE),
    ):
        yield
