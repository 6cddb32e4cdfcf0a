"""What a chat tells beside its turns: help and the plan."""

from planlog.app.chat_moves import COMMANDS
from planlog.faces.renders import Line, Span
from planlog.faces.stdio import StdioRenders
from planlog.kernel.scope import Scope
from planlog.log.projection import Projections
from planlog.log.session import Session

PLANS = ("todos", "planHistory")
"""Keys of the projections that tell of plans, the one that stands first; features draw them."""
NO_PLAN: list[Line] = [(Span("no plan stands", "dim"),)]
NO_SESSION = "there is no session yet; the first prompt begins it"
KEYS = {
    "Enter": "sends; a turn that runs hears it at its next step",
    "Tab": "leaves it for after the turn that runs",
    "Alt-Enter": "begins a new line, as Ctrl-J does",
    "Ctrl-C": "stops the turn, or else clears the line",
    "Ctrl-D": "on an empty line: leaves",
}


def help_lines() -> list[Line]:
    """What can be typed."""
    words = {**KEYS, **COMMANDS, "//TEXT": "send /TEXT"}
    return [(Span(f"{word:<14}"), Span(text, "dim")) for word, text in words.items()]


async def plan_lines(scope: Scope, session: Session) -> list[Line]:
    """The plan that stands, or else what was left open; nothing where no feature tells of one."""
    renders, projections = scope.get(StdioRenders), scope.get(Projections)
    for projection in filter(None, map(projections.get, PLANS)):
        if lines := renders.view(projection.key, await session.view(projection)):
            return lines
    return []
