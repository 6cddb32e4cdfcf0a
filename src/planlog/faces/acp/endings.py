"""How the end of a turn answers the prompt that began it."""

from planlog.agent.event import Aborted, Blocked, Completed, EndReason, Failed, Interrupted, MaxTokens
from planlog.faces.acp.codec import INTERNAL_ERROR
from planlog.faces.acp.messages import Stopped
from planlog.faces.acp.requests import Asked
from planlog.faces.acp.translation import short


def answer_turn(asked: Asked, reason: EndReason) -> None:
    """Answers with the reason to stop, or with an error that says in one line what went wrong."""
    match reason:
        case Completed():
            asked.reply(Stopped("end_turn"))
        case Aborted():
            asked.reply(Stopped("cancelled"))
        case MaxTokens():
            asked.reply(Stopped("max_tokens"))
        case Failed(error=failure) if failure.code == "STEP_LIMIT":
            asked.reply(Stopped("max_turn_requests"))
        case Failed(error=failure) if failure.code == "REFUSAL":
            asked.reply(Stopped("refusal"))
        case Failed(error=failure):
            asked.fail(INTERNAL_ERROR, short(failure.message), {"code": failure.code})
        case Blocked():
            asked.fail(INTERNAL_ERROR, "the prompt was refused by a hook")
        case Interrupted():
            asked.fail(INTERNAL_ERROR, "the turn was cut off when its process died; prompt again to go on")
