"""What carriers offer of a conversation besides its events: the open questions, and what is allowed."""

from collections.abc import AsyncGenerator

from planlog.agent.approval import APPROVALS
from planlog.agent.rules import GRANTED
from planlog.log.projection import Projections


async def plugin(projections: Projections) -> AsyncGenerator[None]:
    """Adds the projections `approvals` and `granted`."""
    with projections.add(APPROVALS, GRANTED):
        yield
