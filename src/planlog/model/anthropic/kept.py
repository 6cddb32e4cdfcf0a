"""What Anthropic wants back with an answer beyond what the message says: its thinking, as it was sent.

Each block goes back unchanged and in its place, also one whose text is empty because the server shows none: its
signature holds the thought. While tools are called that is required, later it is recommended
(platform.claude.com/docs/en/build-with-claude/thinking, "Preserving thinking blocks").
"""

from typing import Any

import msgspec

from planlog.model.message import Message, ModelSource


class Thought(msgspec.Struct, frozen=True):
    """A block `thinking` or `redacted_thinking`, and how many blocks of text and calls stood before it."""

    after: int
    block: dict[str, Any]


class Kept(msgspec.Struct, frozen=True):
    """The replay state of this dialect. A block without its signature is never kept: it would be refused."""

    thoughts: list[Thought] = []


def kept_of(message: Message, provider: str, model: str) -> Kept | None:
    """What was kept of an answer that this model of this provider gave; None where another one did."""
    source = message.source
    if not isinstance(source, ModelSource) or (source.provider, source.model) != (provider, model):
        return None
    try:
        return msgspec.convert(source.replay_state or {}, Kept)
    except msgspec.ValidationError:  # a log from elsewhere, written by another dialect
        return Kept()
