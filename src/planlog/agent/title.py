"""Calls a session by its first prompt, until somebody finds a better name."""

from collections.abc import Sequence

from planlog.agent.event import SESSION_TITLE, SessionTitle
from planlog.kernel.errors import PlanlogError
from planlog.log.event import Fact
from planlog.log.session import Session
from planlog.log.store import SessionBusy
from planlog.log.text import clean_text
from planlog.model.message import Block, Text

MAX_LENGTH = 60
LONGEST = 200
"""Characters of a title that a person gives."""


def title_of(content: Sequence[Block]) -> str:
    """The first line that says something, in at most 60 characters."""
    lines = (" ".join(line.split()) for block in content if isinstance(block, Text) for line in block.text.splitlines())
    title = next((line for line in lines if line), "")
    return title if len(title) <= MAX_LENGTH else f"{title[: MAX_LENGTH - 1].rstrip()}…"


def title_fact(title: str, message: int) -> Fact:
    """The title, made from the message at the seq `message`."""
    return SESSION_TITLE.fact(SessionTitle(title, [message], {"kind": "fallback"}))


async def entitle(session: Session, title: str) -> str:
    """Calls the session what its person says, and returns that. Raises a `PlanlogError` while a turn runs."""
    title = " ".join(clean_text(title).split())
    if not title:
        raise PlanlogError("the title is empty")
    if len(title) > LONGEST:
        raise PlanlogError(f"the title has {len(title)} characters; at most {LONGEST} are taken")
    try:
        async with session.lease():
            await session.append(SESSION_TITLE.fact(SessionTitle(title, [], {"kind": "user"})))
    except SessionBusy as error:
        raise PlanlogError("another process is running this session; try again when it is done") from error
    return title
