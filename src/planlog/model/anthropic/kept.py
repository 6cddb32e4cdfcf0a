"""What Anthropic wants back with an answer beyond what the message says: its thinking, as it was sent.

Each block goes back unchanged and in its place, also one whose text is empty because the server shows none: its
signature holds the thought. While tools are called that is required, later it is recommended
(platform.claude.com/docs/en/build-with-claude/thinking, "Preserving thinking blocks").

From Claude 5.1 on a thought is bound to all that stood before it, and refused anywhere else: after a compaction, with
other tools, with another version of planlog (the same, preserved-thinking). So it is kept together with a digest of the
request that it answered, and goes back only where the same bytes stand before it again.
"""

from hashlib import blake2b
from typing import Annotated

import msgspec

from planlog.model.message import Message, replay_state_of

START = b'"stream":true'
"""Where the part of a request begins that thoughts are bound to; options stand before it."""
CLOSING = b"]}"
"""The end of a request, behind its last message."""


class Thinking(msgspec.Struct, frozen=True, tag="thinking"):
    """A thought, its text perhaps empty."""

    thinking: str
    signature: Annotated[str, msgspec.Meta(min_length=1)]


class Redacted(msgspec.Struct, frozen=True, tag="redacted_thinking"):
    """A thought that nobody may read."""

    data: Annotated[str, msgspec.Meta(min_length=1)]


class Thought(msgspec.Struct, frozen=True):
    """A block, and how many blocks of text and calls stood before it."""

    after: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
    block: Thinking | Redacted


class Kept(msgspec.Struct, frozen=True):
    """The replay state of this dialect; `bound_to` is a digest as `Binding` makes it."""

    bound_to: str = ""
    thoughts: list[Thought] = []


class Binding:
    """Follows a request as it is written, to tell what stands before an answer."""

    def __init__(self, start: bytes) -> None:
        """`start` is the request up to its first message."""
        self._hash = blake2b(start[start.index(START) :], digest_size=12)

    def add(self, written: bytes) -> None:
        """More of the request."""
        self._hash.update(written)

    def digest(self) -> str:
        """Of the request as it would be if it ended here."""
        ended = self._hash.copy()
        ended.update(CLOSING)
        return ended.hexdigest()


def binding_of(body: bytes) -> str:
    """The digest of a whole request."""
    binding = Binding(body.removesuffix(CLOSING))
    return binding.digest()


def thoughts_of(message: Message, bound_to: str) -> list[Thought]:
    """The thoughts that may go back with an answer of the model that is asked, behind a request with that digest."""
    try:
        kept = msgspec.convert(replay_state_of(message), Kept)
    except msgspec.ValidationError:  # a log from elsewhere, written by another dialect
        return []
    return kept.thoughts if kept.bound_to == bound_to else []
