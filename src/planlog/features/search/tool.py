"""Offers the tools that search."""

from collections.abc import AsyncGenerator

from planlog.features.search.glob import GLOB
from planlog.features.search.grep import GREP
from planlog.tools.tool import Tools


async def plugin(tools: Tools) -> AsyncGenerator[None]:
    """Offers `glob` and `grep` to the models of this program."""
    with tools.add(GLOB), tools.add(GREP):
        yield
