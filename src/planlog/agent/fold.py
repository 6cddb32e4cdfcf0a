"""What carriers offer of a conversation besides its events: the questions that wait for an answer."""

from collections.abc import AsyncGenerator

from planlog.agent.approval import APPROVALS
from planlog.log.projection import Projections


async def plugin(projections: Projections) -> AsyncGenerator[None]:
    """Adds the projection `approvals`."""
    with projections.add(APPROVALS):
        yield
