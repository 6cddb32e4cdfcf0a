"""The commands that an editor has from planlog itself, beside those of features."""

from planlog.agent.title import entitle
from planlog.faces.acp.registry import Command
from planlog.log.session import Session


async def _entitle(session: Session, text: str) -> str:
    return f"This session is called {await entitle(session, text)}"


TITLE = Command("title", "Name this session", _entitle, hint="the name")
