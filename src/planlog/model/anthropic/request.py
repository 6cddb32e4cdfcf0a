"""Writes a request: options, system prompt and tools first, then the conversation, which user and assistant share."""

from collections.abc import Iterable
from typing import Any

import msgspec

from planlog.model.anthropic.binding import LENIENT, binds_thinking
from planlog.model.anthropic.kept import kept_of
from planlog.model.call_ids import CallIds
from planlog.model.message import Block, Image, Message, Text, ToolCall, ToolResult
from planlog.model.model import Request

Json = dict[str, Any]

MAX_TOKENS = 32_000
"""The interface wants a bound, thinking included. All models since Claude 4 can write as much in one answer."""
EPHEMERAL: Json = {"type": "ephemeral"}
IMAGE = "[an image, which cannot be shown here]"
"""Stands where a picture was."""
NOTHING = "(nothing)"
"""Stands where there is nothing to read: blank text is refused."""
_IDS = r"[a-zA-Z0-9_-]{1,64}"


def body_of(model: str, provider: str, request: Request, *, own_server: bool) -> bytes:
    """The request as JSON, deterministic to the byte."""
    body: Json = {"model": model, "max_tokens": request.max_tokens or MAX_TOKENS, "stream": True}
    if own_server:
        # The server moves this breakpoint to the last block of each request, so no byte of an earlier message changes.
        # It takes one of 4 places and goes with others (platform.claude.com/docs/en/build-with-claude/prompt-caching).
        body["cache_control"] = EPHEMERAL
        if binds_thinking(model):
            body["thinking"] = LENIENT
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
    """What the model said, with its thoughts where they stood; of another model only what it said."""
    kept = kept_of(message, provider, model)
    blocks = [block for block in (_answered(block, kept is not None, ids) for block in message.content) if block]
    for thought in reversed(kept.thoughts if kept else []):
        blocks.insert(thought.after, thought.block)
    return _rounded_off(blocks)


def _answered(block: Block, own: bool, ids: CallIds) -> Json | None:
    if isinstance(block, ToolCall):
        arguments = msgspec.Raw(block.arguments.encode())
        return {"type": "tool_use", "id": ids.of_call(block.id, own), "name": block.name, "input": arguments}
    text = IMAGE if isinstance(block, Image) else block.text if isinstance(block, Text) else ""
    return {"type": "text", "text": text} if text.strip() else None


def _rounded_off(blocks: list[Json]) -> list[Json]:
    """The blocks as they may end: with a call where there is one, with text where there is none.

    An answer ends otherwise that was cut off by its length or stopped by a person, or that another model gave. With
    thinking in it, text after its calls is refused as if the model were to go on there (github.com/stacklok/mecatl,
    issue 1465), so it goes before them. A thought at the end is refused (github.com/tailcallhq/forgecode, issue 2107)
    and may be missing there (platform.claude.com/docs/en/build-with-claude/preserved-thinking).
    """
    kinds = [block["type"] for block in blocks]
    end = len(kinds)
    while end and kinds[end - 1] != "tool_use":
        end -= 1
    calls = end
    while calls and kinds[calls - 1] == "tool_use":
        calls -= 1
    if calls < end:
        return [*blocks[:calls], *(block for block in blocks[end:] if block["type"] == "text"), *blocks[calls:end]]
    while blocks and blocks[-1]["type"] != "text":
        blocks = blocks[:-1]
    return blocks


def _said(message: Message, ids: CallIds) -> list[Json]:
    results = [_result(block, ids) for block in message.content if isinstance(block, ToolResult)]
    text = _text(message.content)
    if results:
        return results if text == NOTHING else [*results, {"type": "text", "text": text}]
    return [{"type": "text", "text": text}]


def _result(result: ToolResult, ids: CallIds) -> Json:
    """The content may be one string (platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls)."""
    id = ids.of_result(result.tool_call_id)
    written = {"type": "tool_result", "tool_use_id": id, "content": _text(result.content)}
    return {**written, "is_error": True} if result.is_error else written


def _text(content: Iterable[Block]) -> str:
    parts = (IMAGE if isinstance(block, Image) else block.text for block in content if isinstance(block, Text | Image))
    text = "\n".join(parts)
    return text if text.strip() else NOTHING
