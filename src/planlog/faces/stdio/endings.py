"""How a turn ended, for a person and for the shell."""

from typing import NamedTuple

from planlog.agent.event import Aborted, Blocked, Completed, EndReason, Failed, Failure, Interrupted, MaxTokens

INTERRUPTED = 130
MOST = 500
"""Characters that are shown of what a provider says: some answer with a whole page."""

_STOPPED_BY = {
    "user": "stopped by its user",
    "parent": "stopped by the agent that asked for it",
    "hook": "stopped by a hook",
    "disposed": "stopped because its program ended",
}


class Ending(NamedTuple):
    """One line about the end of a turn, empty when there is nothing to say, and the exit code that goes with it."""

    text: str
    exit_code: int


def ending(reason: EndReason) -> Ending:
    """Says how the turn ended."""
    match reason:
        case Completed():
            return Ending("", 0)
        case Aborted(reason=who):
            return Ending(f"the turn was {_STOPPED_BY[who.kind]}", INTERRUPTED)
        case Blocked():
            return Ending("the prompt was refused by a hook", 1)
        case MaxTokens():
            return Ending("the answer was cut off by the model's length limit", 1)
        case Interrupted():
            return Ending("the turn was cut off when its process died; --resume goes on from there", 1)
        case Failed(error=failure):
            return Ending(said(failure), 1)


def said(failure: Failure) -> str:
    """What went wrong, as much of it as a person reads; the log has it whole."""
    text = failure.message
    return text if len(text) <= MOST else text[: MOST - 1].rstrip() + "…"
