"""Writes a request: options, system prompt and tools first, then the conversation, which user and assistant share."""

from collections.abc import Iterable
from typing import Any

import msgspec

from planlog.model.anthropic.kept import CLOSING, Binding, thoughts_of
from planlog.model.call_ids import CallIds
from planlog.model.message import Block, Image, Message, Text, ToolCall, ToolResult, is_by
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
    body: Json = {"model": model, "max_tokens": request.max_tokens or MAX_TOKENS}
    if request.effort is not None:
        body["output_config"] = {"effort": request.effort}
    body["stream"] = True
    if own_server:
        # The server moves this breakpoint to the last block of each request, so no byte of an earlier message changes.
        # It takes one of 4 places and goes with others (platform.claude.com/docs/en/build-with-claude/prompt-caching).
        body["cache_control"] = EPHEMERAL
    if request.tools:
        body["tools"] = [_tool(definition) for definition in request.tools]
    if request.system:
        # The cache holds tools before the system prompt, so this breakpoint is for both.
        body["system"] = [{"type": "text", "text": request.system, "cache_control": EPHEMERAL}]
    body["messages"] = []
    writing = _Writing(msgspec.json.encode(body).removesuffix(CLOSING))
    ids = CallIds(_IDS)
    for message in request.messages:
        if message.role == "assistant":
            writing.say("assistant", _answer(message, is_by(message, provider, model), writing, ids))
        else:
            writing.say("user", _said(message, ids))
    return writing.whole()


class _Writing:
    """Roles take turns: whatever is said to the model between two answers is one message, results first."""

    def __init__(self, start: bytes) -> None:
        """`start` is the request up to its first message."""
        self._parts = [start]
        self._binding = Binding(start)
        self._role = ""
        self._content: list[Json] = []

    def say(self, role: str, content: list[Json]) -> None:
        """More of the conversation."""
        if role != self._role:
            self._end_message()
            self._role = role
        self._content += content

    def bound_to(self) -> str:
        """The digest of the request that ends here, "" where none could: the model spoke last."""
        if self._role == "assistant":
            return ""
        self._end_message()
        return self._binding.digest()

    def whole(self) -> bytes:
        """The request."""
        self._end_message()
        return b"".join([*self._parts, CLOSING])

    def _end_message(self) -> None:
        if not self._content:
            return
        written = msgspec.json.encode({"role": self._role, "content": self._content})
        for part in (b"," if len(self._parts) > 1 else b"", written):
            self._parts.append(part)
            self._binding.add(part)
        self._role, self._content = "", []


def _tool(definition: Json) -> Json:
    return {
        "name": definition["name"],
        "description": definition["description"],
        "input_schema": definition["parameters"],
    }


def _answer(message: Message, own: bool, writing: _Writing, ids: CallIds) -> list[Json]:
    """What the model said, with its thoughts where they stood; of another model only what it said."""
    blocks = [block for block in (_answered(block, own, ids) for block in message.content) if block]
    for thought in reversed(thoughts_of(message, writing.bound_to()) if own else []):
        blocks.insert(thought.after, msgspec.to_builtins(thought.block))
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
