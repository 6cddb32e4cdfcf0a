"""Writes a request: options, system prompt and tools first, then the conversation, which user and assistant share."""

from collections.abc import Iterable
from typing import Any

import msgspec

from planlog.model.anthropic.kept import kept_of
from planlog.model.call_ids import CallIds
from planlog.model.message import Block, Image, Message, Text, ToolCall, ToolResult
from planlog.model.model import Request

Json = dict[str, Any]

MAX_TOKENS = 32_000
"""The interface wants a bound. All models since Claude 4 can write as much in one answer."""
EPHEMERAL: Json = {"type": "ephemeral"}
IMAGE = "[an image, which cannot be shown here]"
"""Stands where a picture was."""
NOTHING = "(nothing)"
"""Stands where there is nothing to read: blank text is refused."""
_IDS = r"[a-zA-Z0-9_-]{1,64}"


def body_of(model: str, provider: str, request: Request, *, caches_by_itself: bool) -> bytes:
    """The request as JSON, deterministic to the byte."""
    body: Json = {"model": model, "max_tokens": request.max_tokens or MAX_TOKENS, "stream": True}
    if caches_by_itself:
        body["cache_control"] = EPHEMERAL
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    if request.tools:
        body["tools"] = [_tool(definition) for definition in request.tools]
    if request.system:
        # The cache holds tools before the system prompt, so this breakpoint is for both.
        body["system"] = [{"type": "text", "text": request.system, "cache_control": EPHEMERAL}]
    body["messages"] = _messages(model, provider, request)
    return msgspec.json.encode(body)


def _tool(definition: Json) -> Json:
    return {
        "name": definition["name"],
        "description": definition["description"],
        "input_schema": definition["parameters"],
    }


def _messages(model: str, provider: str, request: Request) -> list[Json]:
    """Roles take turns: whatever is said to the model between two answers is one message, results first."""
    written: list[Json] = []
    ids = CallIds(_IDS)
    for message in request.messages:
        content = _answer(message, provider, model, ids) if message.role == "assistant" else _said(message, ids)
        if written and written[-1]["role"] == message.role:
            written[-1]["content"] += content
        else:
            written.append({"role": message.role, "content": content})
    return written


def _answer(message: Message, provider: str, model: str, ids: CallIds) -> list[Json]:
    kept = kept_of(message, provider, model)
    blocks = [block for block in (_answered(block, kept is not None, ids) for block in message.content) if block]
    if kept is None:
        # Another model may have talked after it called.
        return sorted(blocks, key=lambda block: block["type"] == "tool_use")
    # An answer may not end with thinking, as one does that was stopped in the middle of it.
    led_on = [thought for thought in kept.thoughts if thought.after < len(blocks)]
    for thought in reversed(led_on):
        blocks.insert(thought.after, thought.block)
    return blocks


def _answered(block: Block, own: bool, ids: CallIds) -> Json | None:
    if isinstance(block, ToolCall):
        arguments = msgspec.Raw(block.arguments.encode())
        return {"type": "tool_use", "id": ids.of_call(block.id, own), "name": block.name, "input": arguments}
    if isinstance(block, Text) and block.text.strip():
        return {"type": "text", "text": block.text}
    return None


def _said(message: Message, ids: CallIds) -> list[Json]:
    results = [_result(block, ids) for block in message.content if isinstance(block, ToolResult)]
    text = _text(message.content)
    if results:
        return results if text == NOTHING else [*results, {"type": "text", "text": text}]
    return [{"type": "text", "text": text}]


def _result(result: ToolResult, ids: CallIds) -> Json:
    id = ids.of_result(result.tool_call_id)
    written = {"type": "tool_result", "tool_use_id": id, "content": _text(result.content)}
    return {**written, "is_error": True} if result.is_error else written


def _text(content: Iterable[Block]) -> str:
    parts = (IMAGE if isinstance(block, Image) else block.text for block in content if isinstance(block, Text | Image))
    text = "\n".join(parts)
    return text if text.strip() else NOTHING
