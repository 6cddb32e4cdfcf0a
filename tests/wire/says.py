"""Replies in the wire forms that vendors document, made for a test that needs its own words."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

Dialect = Literal["chat", "messages"]
DIALECTS: tuple[Dialect, ...] = ("chat", "messages")
Call = tuple[str, str, str]
"""A call's id, name and argument text."""

SETTINGS: dict[Dialect, tuple[str, str, str]] = {
    "chat": ("openai:gpt-fake", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "messages": ("anthropic:claude-fake", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
}
"""What stands after -m, and the variables for address and key."""
WHO: dict[Dialect, str] = {dialect: name.partition(":")[0] for dialect, (name, _, _) in SETTINGS.items()}
"""The provider that this is a model of."""
LENGTH: dict[Dialect, str] = {"chat": "length", "messages": "max_tokens"}
"""How an answer ends that reached its bound, in the vendor's own word."""


def environment(dialect: Dialect, url: str, key: str = "sk-fake-0123456789abcdef") -> dict[str, str]:
    """Sends a program to the provider at `url`."""
    _, address, variable = SETTINGS[dialect]
    return {address: f"{url}/v1" if dialect == "chat" else url, variable: key}


def reply(
    dialect: Dialect,
    text: str = "",
    calls: Sequence[Call] = (),
    finish: str = "",
    piece: int = 8,
    thinking: str = "",
) -> bytes:
    """A whole reply, thinking before text before calls, in deltas of `piece` characters.

    `finish` is the vendor's own word. Thinking is DeepSeek's in one dialect, and signed in the other.
    """
    make = _chat if dialect == "chat" else _messages
    return b"".join(make(text, calls, finish, piece, thinking))


def _chat(text: str, calls: Sequence[Call], finish: str, piece: int, thinking: str) -> Iterable[bytes]:
    def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return _data({"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "gpt-fake", "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    yield from (chunk({"reasoning_content": part}) for part in _parts(thinking, piece))
    yield from (chunk({"content": part}) for part in _parts(text, piece))
    for index, (id, name, arguments) in enumerate(calls):
        begins = {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
        yield chunk({"tool_calls": [begins]})
        for part in _parts(arguments, piece):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]})
    yield chunk({}, finish or ("tool_calls" if calls else "stop"))
    usage = {"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102}
    yield _data({"id": "chatcmpl-1", "object": "chat.completion.chunk", "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _messages(text: str, calls: Sequence[Call], finish: str, piece: int, thinking: str) -> Iterable[bytes]:
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 80, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-fake", "content": []}
    yield _event({"type": "message_start", "message": {**message, "stop_reason": None, "usage": usage}})
    yield _event({"type": "ping"})
    blocks: list[tuple[dict[str, Any], str, str, str]] = []
    if thinking:
        begins = {"type": "thinking", "thinking": "", "signature": ""}
        blocks.append((begins, "thinking_delta", "thinking", thinking))
    if text:
        blocks.append(({"type": "text", "text": ""}, "text_delta", "text", text))
    for id, name, arguments in calls:
        begins = {"type": "tool_use", "id": id, "name": name, "input": {}}
        blocks.append((begins, "input_json_delta", "partial_json", arguments))
    for index, (begins, kind, field, whole) in enumerate(blocks):
        yield _event({"type": "content_block_start", "index": index, "content_block": begins})
        for part in _parts(whole, piece):
            yield _event({"type": "content_block_delta", "index": index, "delta": {"type": kind, field: part}})
        if begins["type"] == "thinking":
            signature = {"type": "signature_delta", "signature": f"signed:{len(whole)}=="}
            yield _event({"type": "content_block_delta", "index": index, "delta": signature})
        yield _event({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": finish or ("tool_use" if calls else "end_turn"), "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12}})
    yield _event({"type": "message_stop"})


def _parts(text: str, piece: int) -> Iterable[str]:
    return (text[start : start + piece] for start in range(0, len(text), piece))


def _data(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _event(value: dict[str, Any]) -> bytes:
    return b"event: " + value["type"].encode() + b"\n" + _data(value)
