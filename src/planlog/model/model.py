"""The protocol between the loop and whatever produces an answer: a request in, a stream of chunks out."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

import msgspec

from planlog.model.message import Block, Message, Usage

FinishKind = Literal["stop", "tool-calls", "max-tokens", "aborted", "error"]


class BlockStart(msgspec.Struct, frozen=True, tag="block-start", rename="camel"):
    """Block number `index` of the answer begins; indexes count from 0 and never go back."""

    index: int
    block_type: Literal["text", "reasoning", "tool-call"]


class TextDelta(msgspec.Struct, frozen=True, tag="text-delta"):
    """More text of block `index`."""

    index: int
    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, tag="reasoning-delta"):
    """More thinking of block `index`."""

    index: int
    text: str


class ToolCallDelta(msgspec.Struct, frozen=True, tag="tool-call-delta", rename="camel", omit_defaults=True):
    """More of a call's raw argument text; `name` comes with the first piece, `id` may be empty or repeated."""

    index: int
    id: str
    name: str | None = None
    arguments_delta: str = ""


class BlockEnd(msgspec.Struct, frozen=True, tag="block-end"):
    """Block `index` is whole; a call's arguments are still the model's raw text."""

    index: int
    block: Block


class UsageChunk(msgspec.Struct, frozen=True, tag="usage"):
    """The provider's count for this request so far; the last one counts."""

    usage: Usage


class FinishReason(msgspec.Struct, frozen=True):
    """Why the answer ended."""

    kind: FinishKind


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """The answer is complete. A stream that ends without this was cut."""

    reason: FinishReason


Chunk = BlockStart | TextDelta | ReasoningDelta | ToolCallDelta | BlockEnd | UsageChunk | Finish


class Replay(msgspec.Struct, frozen=True):
    """What the provider wants back verbatim with this answer (`ModelSource.replay_state`); the last one counts.

    It is no chunk: it is kept with the message alone.
    """

    state: Any


class Request(msgspec.Struct, frozen=True):
    """All that a model is told. `tools` are definitions (name, description, parameters) sorted by name.

    `agent` is the description of the subagent that asks, None for the session's own agent. `max_tokens` bounds the
    answer; `effort` is how hard the model should think, in the provider's words. None leaves both to the provider.
    """

    system: str
    messages: Sequence[Message]
    tools: Sequence[dict[str, Any]]
    agent: str | None = None
    max_tokens: int | None = None
    effort: str | None = None


class ModelError(Exception):
    """The provider failed. The text is one line for a person; `status` is HTTP's where there was one.

    `retryable` says whether the same request may succeed later; `retry_after` is the provider's wish in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "MODEL_ERROR",
        status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.request_id = request_id


def stream_cut() -> ModelError:
    """A reply that ended before its end."""
    return ModelError("the connection to the model was cut in mid-answer", code="STREAM_CUT", retryable=True)


class Model(Protocol):
    """One model of one provider. `stream` is entered for each request and left when no more is wanted.

    `max_tokens` and `effort` are what requests to it shall say, see `Request`.
    """

    provider: str
    name: str
    context_window: int | None
    max_tokens: int | None
    effort: str | None

    def stream(self, request: Request) -> AbstractAsyncContextManager[AsyncGenerator[Chunk | Replay]]:
        """Chunks as they come. Raises `ModelError` when entered or while iterated; leaving early stops the provider."""
        ...
