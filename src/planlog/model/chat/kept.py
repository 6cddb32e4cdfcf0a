"""What a vendor wants back with an answer beyond what the message says: the replay state of this dialect."""

import math
from typing import Any, Literal

import msgspec

from planlog.model.message import Message, is_by, replay_state_of

ReasoningName = Literal["reasoning_content", "reasoning", "content"]
"""How a vendor calls thinking; "content" means pieces of type `thinking` within the content (Mistral)."""


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """`reasoning` is the name under which thinking came; its text is in the message.

    `details` are OpenRouter's `reasoning_details`, put together again. `calls` holds what came as `extra_content` with
    each call that has a name, in order: Gemini's signatures.
    """

    reasoning: ReasoningName | None = None
    details: list[dict[str, Any]] = []
    calls: list[dict[str, Any] | None] = []


def is_keepable(value: Any, depth: int = 32) -> bool:
    """Whether the log takes JSON like this, and gives it back as it was: no NUL, no -0.0, not without bottom."""
    if isinstance(value, str):
        return "\0" not in value
    if isinstance(value, float):
        return value != 0.0 or math.copysign(1.0, value) > 0
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        return depth > 0 and all(is_keepable(one, depth - 1) for one in value)
    return True


def kept_of(message: Message, provider: str, model: str) -> Kept | None:
    """What was kept of an answer that this model of this provider gave; None where another one did."""
    if not is_by(message, provider, model):
        return None
    try:
        return msgspec.convert(replay_state_of(message), Kept)
    except msgspec.ValidationError:  # a log from elsewhere, written by another dialect
        return Kept()
