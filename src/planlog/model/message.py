"""What people, models and tools say to each other: content blocks and messages, in the shape the log keeps."""

from typing import Any

import msgspec


class Text(msgspec.Struct, frozen=True, gc=False, tag="text"):
    """Plain text."""

    text: str


class Reasoning(msgspec.Struct, frozen=True, gc=False, tag="reasoning"):
    """A model's thinking, kept apart from what it says."""

    text: str


class Image(msgspec.Struct, frozen=True, gc=False, tag="image"):
    """A picture, by reference to where it is kept."""

    attachment: Any


class ToolCall(msgspec.Struct, frozen=True, gc=False, tag="tool-call"):
    """A model's wish to run a tool. `arguments` is valid JSON text, `{}` where the model wrote none."""

    id: str
    name: str
    arguments: str


class ToolResult(msgspec.Struct, frozen=True, gc=False, tag="tool-result", rename="camel"):
    """What came of a call, as the model reads it."""

    tool_call_id: str
    content: list[Text | Image]
    is_error: bool = False


Block = Text | Reasoning | Image | ToolCall | ToolResult


class UserSource(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="user"):
    """A person said it."""


class PluginSource(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="plugin"):
    """A part of the harness said it, in a person's place."""

    plugin: str


class ToolSource(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="tool", rename="camel"):
    """A tool answered the call `call_id`."""

    call_id: str


class ModelSource(
    msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="model", rename="camel", omit_defaults=True
):
    """A model said it. `replay_state` is what its provider wants back verbatim (signatures of thinking)."""

    provider: str
    model: str
    replay_state: Any = None


Source = UserSource | PluginSource | ToolSource | ModelSource


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message of a conversation; `role` is `user` or `assistant` (tool results are said by the user)."""

    id: str
    role: str
    source: Source
    content: list[Block]


class Usage(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Tokens of one request as the provider counted them.

    `input_tokens` is what was read afresh: without what came from the cache (`cache_read_tokens`) or was put into it
    (`cache_write_tokens`), so that the three make up the whole prompt. `output_tokens` includes `reasoning_tokens`.
    A part that the provider does not count, or that is zero, may be None.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


def is_by(message: Message, provider: str, model: str) -> bool:
    """Whether this model of this provider gave the answer."""
    source = message.source
    return isinstance(source, ModelSource) and (source.provider, source.model) == (provider, model)


def replay_state_of(message: Message) -> Any:
    """What its provider wants back with an answer; empty where there is nothing, or another kind of message."""
    return (message.source.replay_state if isinstance(message.source, ModelSource) else None) or {}
