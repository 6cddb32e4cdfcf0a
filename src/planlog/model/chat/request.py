"""Writes a request: options and tools first, then the conversation in the roles of this dialect."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from planlog.model.call_ids import CallIds
from planlog.model.chat.kept import Kept, kept_of
from planlog.model.chat.schema import plain_schema
from planlog.model.message import Block, Image, Message, Reasoning, Text, ToolCall, ToolResult
from planlog.model.model import Request

if TYPE_CHECKING:
    from planlog.model.chat.dialect import ChatCompletions

Json = dict[str, Any]

IMAGE = "[an image, which cannot be shown here]"
"""Stands where a picture was."""
BRIDGE = "Understood."
"""What the model is made to say between results and a person's words, where a vendor wants it to say something."""
UNSIGNED: Json = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Gemini's documented placeholder for the signature of a call that it did not make."""

_GPT = re.compile(r"(?:ft:)?gpt-(\d+)(?:\.(\d+))?(?!.*-chat)")
_FIRST_WITHOUT_EFFORT = (5, 4)


def body_of(dialect: "ChatCompletions", model: str, provider: str, request: Request) -> bytes:
    """The request as JSON, deterministic to the byte."""
    body: Json = {"model": model, "stream": True}
    if dialect.asks_usage:
        body["stream_options"] = {"include_usage": True}
    if request.max_tokens is not None:
        body[dialect.length_limit] = request.max_tokens
    if request.effort is not None:
        body["reasoning_effort"] = request.effort
    elif dialect.effort_with_tools and request.tools and _refuses_effort(model):
        body["reasoning_effort"] = dialect.effort_with_tools
    if request.tools:
        body["tools"] = [_tool(definition, dialect.plain_schemas) for definition in request.tools]
    body["messages"] = _messages(dialect, model, provider, request)
    return msgspec.json.encode(body)


def _refuses_effort(model: str) -> bool:
    """Whether it is one of OpenAI's reasoning models that take tools only without effort."""
    named = _GPT.match(model)
    return named is not None and (int(named[1]), int(named[2] or 0)) >= _FIRST_WITHOUT_EFFORT


def _tool(definition: Json, plain: bool) -> Json:
    function = {"name": definition["name"], "description": definition["description"]}
    parameters = definition["parameters"]
    if not plain:
        function["parameters"] = parameters
    elif parameters.get("properties"):  # Gemini refuses an object without any; to leave it out means the same
        function["parameters"] = plain_schema(parameters)
    return {"type": "function", "function": function}


def _messages(dialect: "ChatCompletions", model: str, provider: str, request: Request) -> list[Json]:
    written: list[Json] = [{"role": "system", "content": request.system}] if request.system else []
    ids = CallIds(dialect.call_ids)
    for message in request.messages:
        if message.role == "assistant":
            written.append(_answer(dialect, message, kept_of(message, provider, model), ids))
            continue
        for block in message.content:
            if isinstance(block, ToolResult):
                id = ids.of_result(block.tool_call_id)
                written.append({"role": "tool", "tool_call_id": id, "content": _text(block.content)})
        if said := _text(message.content):
            _add_said(written, said, dialect.answers_results)
    return written


def _add_said(written: list[Json], said: str, answers_results: bool) -> None:
    last = written[-1] if written else {}
    if last.get("role") == "user":
        # After a turn without an answer. Templates of models that are run at home often want the roles to alternate.
        last["content"] += f"\n\n{said}"
        return
    if answers_results and last.get("role") == "tool":
        written.append({"role": "assistant", "content": BRIDGE})
    written.append({"role": "user", "content": said})


def _text(content: Iterable[Block]) -> str:
    parts = (block.text if isinstance(block, Text) else IMAGE for block in content if isinstance(block, Text | Image))
    return "\n\n".join(parts)


def _answer(dialect: "ChatCompletions", message: Message, kept: Kept | None, ids: CallIds) -> Json:
    own = kept is not None
    kept = kept or Kept()
    thinking = "".join(block.text for block in message.content if isinstance(block, Reasoning)) if own else ""
    text = _text(message.content)
    answer: Json = {"role": "assistant", "content": text or None}
    if dialect.reasoning_field:
        answer[dialect.reasoning_field] = thinking
    elif kept.reasoning == "content" and thinking:
        answer["content"] = _parts(thinking, text)
    elif kept.reasoning and thinking:
        answer[kept.reasoning] = thinking
    if kept.details:
        answer["reasoning_details"] = kept.details
    calls = [block for block in message.content if isinstance(block, ToolCall)]
    if calls:
        answer["tool_calls"] = [
            _call(call, ids.of_call(call.id, own), kept.calls[place] if place < len(kept.calls) else None)
            for place, call in enumerate(calls)
        ]
        if dialect.signs_calls:  # of calls that are made at once, the first alone is signed
            answer["tool_calls"][0].setdefault("extra_content", UNSIGNED)
    return answer


def _parts(thinking: str, text: str) -> list[Json]:
    parts: list[Json] = [{"type": "thinking", "thinking": [{"type": "text", "text": thinking}]}]
    return [*parts, {"type": "text", "text": text}] if text else parts


def _call(call: ToolCall, id: str, extra: Json | None) -> Json:
    written: Json = {"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
    if extra:
        written["extra_content"] = extra
    return written
