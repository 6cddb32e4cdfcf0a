"""Replies that providers give, good and bad, and whether a library hands all of what they say to its caller.

Every value that must not get lost is a word of its own (`SIGN-1`), so that a look for it in all that a caller can reach
tells.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.provider import Reply, error_reply

TODOS, SHORT, TORN = '{"todos":[]}', '{"todos":[{"con', '{"todos": nope]'


def data(value: Any) -> bytes:
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
    """One event of chat completions, with everything around it that OpenAI sends."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    about = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": "gpt-5.6"}
    return data({**about, "system_fingerprint": "fp_1", "choices": [choice], **more})


def call(index: int | None, id: str | None, arguments: str, **more: Any) -> bytes:
    told = {"id": id, "type": "function", "function": {"name": "todo_write", "arguments": arguments}, **more}
    return chunk({"tool_calls": [told if index is None else {"index": index, **told}]})


def event(kind: str, **more: Any) -> bytes:
    """One event of Anthropic's Messages."""
    return f"event: {kind}\n".encode() + data({"type": kind, **more})


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> bytes:
    parts = [event("content_block_start", index=index, content_block=start)]
    parts += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return b"".join([*parts, event("content_block_stop", index=index)])


def piece(text: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


def ended(reason: str, **usage: int) -> bytes:
    told = {"stop_reason": reason, "stop_sequence": None}
    return event("message_delta", delta=told, usage={"output_tokens": 12, **usage}) + event("message_stop")


DONE = b"data: [DONE]\n\n"
HELLO = chunk({"role": "assistant", "content": "Hello"})
TOKENS = {"prompt_tokens": 91827, "completion_tokens": 12, "total_tokens": 91839}
STOP = chunk({}, "stop")
COUNTS = {
    "input_tokens": 10,
    "cache_creation_input_tokens": 55443,
    "cache_read_input_tokens": 77881,
    "output_tokens": 1,
}
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": []}
START = event("message_start", message={**MESSAGE, "stop_reason": None, "stop_sequence": None, "usage": COUNTS})
GREETING = block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": "Hello"})
TOOL = {"type": "tool_use", "id": "toolu_1", "name": "todo_write", "input": {}}
TEXT, CALL = ["text", "Hello"], ["call", f"todo_write{TODOS}"]


@dataclass(frozen=True)
class Probe:
    """A reply, and what a caller has to learn of it: all `words`, and these `blocks` in this order; or that it failed.

    `once` tells the library to try only once; `schema` asks only for what was sent.
    """

    name: str
    dialect: str
    reply: Reply
    words: Sequence[str] = ()
    blocks: Sequence[list[str]] | None = None
    fails: bool = False
    once: bool = False
    schema: bool = False

    def sent(self, request: dict[str, Any]) -> tuple[bool, str]:
        """Whether the tool's schema arrived as it was given, and one line."""
        tool = request["tools"][0]
        given = {"type": "object", "properties": {}}
        schema = tool["input_schema"] if self.dialect == "messages" else tool["function"]["parameters"]
        return schema == given, "as given" if schema == given else f"sent as {json.dumps(schema)}"

    def found(self, saw: dict[str, Any], requests: int) -> tuple[bool, str]:
        """Whether the library passed, and one line."""
        told = [f"{requests} requests"] if requests > 1 else []
        if saw["error"]:
            told.append(f"raises {' '.join(saw['error'].split())[:110]}")
        elif self.fails:
            told.append(f"no error, finish {saw['finish']}")
        everything = saw["reached"] + (saw["error"] or "")
        lost = [word for word in self.words if word not in everything]
        if lost:
            told.append(f"lost {', '.join(lost)}")
        if self.blocks is not None and not saw["error"] and saw["blocks"] != self.blocks:
            told.append(f"came as {saw['blocks']}")
        if self.fails:
            is_told = bool(saw["error"]) or saw["finish"] is None
            return is_told and not lost and requests == 1, "; ".join(told)
        return not told, "; ".join(told) or "all as sent"


def _fields(finish: str, **usage: Any) -> bytes:
    details = [{"type": "reasoning.encrypted", "data": "OPAQUE-1", "format": "x", "index": 0}]
    signed = {"extra_content": {"google": {"thought_signature": "SIGN-1"}}}
    parts = [chunk({"role": "assistant", "content": None, "reasoning_content": "THOUGHT-1"})]
    parts += [chunk({"reasoning_details": details}), call(0, "call_1", TODOS, **signed), chunk({}, finish)]
    return b"".join([*parts, data({**json.loads(STOP[6:]), "choices": [], "usage": {**TOKENS, **usage}}), DONE])


def _spoken() -> bytes:
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    said = [{"type": "thinking_delta", "thinking": "THOUGHT-1"}, {"type": "signature_delta", "signature": "SIGN-1"}]
    parts = [block(0, thinking, *said), block(1, {"type": "redacted_thinking", "data": "OPAQUE-1"})]
    silent = block(2, thinking, {"type": "signature_delta", "signature": "SIGN-2"})
    return START + b"".join(parts) + silent + block(3, TOOL, piece(TODOS)) + ended("tool_use")


def _chat() -> Iterator[Probe]:
    def probe(
        name: str, body: bytes | Reply, *words: str, blocks: list[list[str]] | None = None, **more: bool
    ) -> Probe:
        return Probe(name, "chat", body if isinstance(body, Reply) else Reply(body), words, blocks, **more)

    end = chunk({}, "tool_calls") + DONE
    said = [text.encode() for text in ('{"content":"Hel"}', '{"content":"lo"}', '{},"finish_reason":"stop"')]
    bare = b"".join(b'data: {"choices":[{"index":0,"delta":%b}]}\n\n' % delta for delta in said) + DONE
    mixed = HELLO + call(0, "c1", TODOS) + chunk({"content": "After"}) + call(1, "c2", TODOS) + end
    short = call(0, "c1", SHORT) + chunk({}, "length") + DONE
    failed = data({"error": {"message": "FAULT-1", "type": "server_error", "code": 502}})
    torn = b'data: {"choices": [{"del\n\n'
    for status in (500, 429):
        yield probe(f"{status}, defaults", error_reply(status, "no"), fails=True)
    yield probe("500, told to try once", error_reply(500, "no"), fails=True, once=True)
    cached = {"prompt_tokens_details": {"cached_tokens": 77881}}
    yield probe("fields", _fields("tool_calls", **cached), "THOUGHT-1", "OPAQUE-1", "SIGN-1", "77881")
    yield probe("cache hits of DeepSeek", _fields("tool_calls", prompt_cache_hit_tokens=77881), "77881")
    yield probe("unknown finish reason", _fields("NOVEL-1"), "NOVEL-1")
    yield probe("chunks with choices alone", bare, blocks=[TEXT])
    yield probe("schema of the tool", HELLO + STOP + DONE, schema=True)
    yield probe("text, call, text, call", mixed, blocks=[TEXT, CALL, ["text", "After"], CALL])
    yield probe("two calls of index 0", call(0, "c1", TODOS) + call(0, "c2", TODOS) + end, blocks=[CALL, CALL])
    yield probe("two calls without ids", call(0, "", TODOS) + call(0, "", TODOS) + end, blocks=[CALL, CALL])
    yield probe("two calls without index", call(None, "c1", TODOS) + call(None, "c2", TODOS) + end, blocks=[CALL, CALL])
    yield probe("arguments cut by length", short, blocks=[["call", f"todo_write{SHORT}"]])
    yield probe("arguments that are no JSON", call(0, "c1", TORN) + end, blocks=[["call", f"todo_write{TORN}"]])
    yield probe("error in mid-stream", HELLO + failed, "FAULT-1", fails=True)
    yield probe("connection breaks", Reply(HELLO * 3, cut_after=len(HELLO) * 3), fails=True)
    yield probe("connection closes early", Reply(HELLO * 3, chunked=False), fails=True)
    yield probe("no [DONE]", HELLO + STOP, blocks=[TEXT])
    yield probe("keep-alive comments", b": WAIT\n\n" + HELLO + b": WAIT\n\n" + STOP + DONE, blocks=[TEXT])
    yield probe("a chunk that is no JSON", HELLO + torn + STOP + DONE, fails=True)
    yield probe("content of a wrong type", HELLO + chunk({"content": {"a": 1}}) + STOP + DONE, fails=True)


def _messages() -> Iterator[Probe]:
    def probe(
        name: str, body: bytes | Reply, *words: str, blocks: list[list[str]] | None = None, **more: bool
    ) -> Probe:
        return Probe(name, "messages", body if isinstance(body, Reply) else Reply(body), words, blocks, **more)

    after = block(2, {"type": "text", "text": ""}, {"type": "text_delta", "text": "After"})
    mixed = START + GREETING + block(1, TOOL, piece(TODOS)) + after + ended("tool_use")
    novel = block(0, {"type": "novel", "body": "NOVEL-1"}) + GREETING.replace(b'"index":0', b'"index":1')
    failed = event("error", error={"type": "overloaded_error", "message": "FAULT-1"})
    some = START + GREETING
    for status in (500, 429):
        yield probe(f"{status}, defaults", error_reply(status, "no"), fails=True)
    yield probe("500, told to try once", error_reply(500, "no"), fails=True, once=True)
    yield probe("fields", _spoken(), "THOUGHT-1", "OPAQUE-1", "SIGN-1", "SIGN-2", "77881", "55443")
    yield probe("unknown stop reason", some + ended("NOVEL-1"), "NOVEL-1")
    yield probe("unknown block beside text", START + novel + ended("end_turn"), blocks=[TEXT])
    yield probe("schema of the tool", some + ended("end_turn"), schema=True)
    yield probe("text, call, text", mixed, blocks=[TEXT, CALL, ["text", "After"]])
    cut = START + block(0, TOOL, piece(SHORT)) + ended("max_tokens")
    yield probe("arguments cut by length", cut, blocks=[["call", f"todo_write{SHORT}"]])
    torn = START + block(0, TOOL, piece(TORN)) + ended("tool_use")
    yield probe("arguments that are no JSON", torn, blocks=[["call", f"todo_write{TORN}"]])
    yield probe("error in mid-stream", some + failed, "FAULT-1", fails=True)
    yield probe("connection breaks", Reply(some, cut_after=len(some)), fails=True)
    yield probe("connection closes early", Reply(some, chunked=False), fails=True)
    yield probe(
        "keep-alive comments", START + b": WAIT\n\n" + event("ping") + GREETING + ended("end_turn"), blocks=[TEXT]
    )
    yield probe("an event that is no JSON", some + b"event: content_block_delta\ndata: {nope\n\n", fails=True)


PROBES = (*_chat(), *_messages())
