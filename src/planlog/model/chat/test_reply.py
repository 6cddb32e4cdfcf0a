"""Replies as vendors send them, byte for byte, and as they would rather not."""

import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from planlog.model.chat.reply import ChatReply
from planlog.model.message import ToolCall, Usage
from planlog.model.model import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    ModelError,
    ReasoningDelta,
    Replay,
    TextDelta,
    ToolCallDelta,
    UsageChunk,
)

FILES = Path(__file__).parents[4] / "tests" / "wire" / "chat"
NAMES = [
    "text", "reasoning", "parallel-calls", "text-call-text", "gemini", "openrouter-error", "length", "ollama", "mistral",
]  # fmt: skip


@lru_cache
def wire(name: str) -> bytes:
    return (FILES / f"{name}.sse").read_bytes()


def events(body: bytes) -> list[str]:
    """The data of each event that came whole."""
    head = {"content-type": "text/event-stream"}
    response = httpx2.Response(200, headers=head, content=body, request=httpx2.Request("POST", "http://x"))
    return [event.data for event in httpx2.EventSource(response)]


def heard(data: Iterable[str]) -> tuple[list[Chunk | Replay], ModelError | None]:
    """Every chunk until the end, and how it failed if it did."""
    reply = ChatReply()
    chunks: list[Chunk | Replay] = []
    try:
        for one in data:
            chunks += reply.take(one)
        chunks += reply.end()
    except ModelError as error:
        return chunks, error
    return chunks, None


def lines(name: str) -> list[str]:
    """What a file says, one line for each chunk."""
    chunks, error = heard(events(wire(name)))
    told = [msgspec.json.encode(chunk).decode() for chunk in chunks]
    return told if error is None else [*told, f"{error.code} {error.retryable}: {error}"]


def said(*parts: Any, done: bool = True) -> list[Chunk | Replay]:
    """The chunks of a reply that is whole, from the JSON of its events."""
    chunks, error = heard([*(json.dumps(part) for part in parts), *(["[DONE]"] if done else [])])
    assert error is None, error
    return chunks


def failed(*parts: Any) -> ModelError:
    _, error = heard(part if isinstance(part, str) else json.dumps(part) for part in parts)
    assert error is not None
    return error


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def pieces(*all: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(all))


def piece(arguments: Any = None, name: Any = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


def calls(chunks: Iterable[Chunk | Replay]) -> list[tuple[str, str, str]]:
    blocks = [chunk.block for chunk in chunks if isinstance(chunk, BlockEnd)]
    return [(block.id, block.name, block.arguments) for block in blocks if isinstance(block, ToolCall)]


def finish(chunks: Iterable[Chunk | Replay]) -> list[str]:
    return [chunk.reason.kind for chunk in chunks if isinstance(chunk, Finish)]


def test_every_file_is_here() -> None:
    assert sorted(path.stem for path in FILES.glob("*.sse")) == sorted(NAMES)
    assert all(len(wire(name)) <= 1500 for name in NAMES)
    assert b"\r\n\r\n" in wire("length")


def test_text() -> None:
    assert lines("text") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"The tests"}',
            '{"type":"text-delta","index":0,"text":" pass; é, 漢 and 🌱 too."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"The tests pass; é, 漢 and 🌱 too."}}',
            '{"type":"usage","usage":{"inputTokens":176,"outputTokens":9,"cacheReadTokens":1024}}',
            '{"type":"finish","reason":{"kind":"stop"}}',
        ]
    )


def test_thinking_and_then_text() -> None:
    assert lines("reasoning") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":0,"text":"Two files,"}',
            '{"type":"reasoning-delta","index":0,"text":" so one list."}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":"Two files, so one list."}}',
            '{"type":"block-start","index":1,"blockType":"text"}',
            '{"type":"text-delta","index":1,"text":"I will "}',
            '{"state":{"reasoning":"reasoning_content"}}',
            '{"type":"text-delta","index":1,"text":"begin."}',
            '{"type":"block-end","index":1,"block":{"type":"text","text":"I will begin."}}',
            '{"type":"usage","usage":{"inputTokens":44,"outputTokens":40,"cacheReadTokens":256,"reasoningTokens":31}}',
            '{"type":"finish","reason":{"kind":"stop"}}',
        ]
    )


def test_two_calls_in_tiny_pieces() -> None:
    assert lines("parallel-calls") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":0,"id":"call_a1","name":"todo_write"}',
            '{"type":"tool-call-delta","index":0,"id":"call_a1","argumentsDelta":"{\\""}',
            '{"type":"tool-call-delta","index":0,"id":"call_a1","argumentsDelta":"todos\\":[{\\"c"}',
            '{"type":"tool-call-delta","index":0,"id":"call_a1","argumentsDelta":"ontent\\":\\"look\\",\\"status\\":\\"pending\\""}',
            '{"type":"tool-call-delta","index":0,"id":"call_a1","argumentsDelta":"}]}"}',
            '{"type":"block-end","index":0,"block":{"type":"tool-call","id":"call_a1","name":"todo_write","arguments":"{\\"todos\\":[{\\"content\\":\\"look\\",\\"status\\":\\"pending\\"}]}"}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"call_b2","name":"bash"}',
            '{"type":"tool-call-delta","index":1,"id":"call_b2","argumentsDelta":"{\\"command\\""}',
            '{"type":"tool-call-delta","index":1,"id":"call_b2","argumentsDelta":":\\"l"}',
            '{"type":"tool-call-delta","index":1,"id":"call_b2","argumentsDelta":"s\\"}"}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"call_b2","name":"bash","arguments":"{\\"command\\":\\"ls\\"}"}}',
            '{"type":"usage","usage":{"inputTokens":80,"outputTokens":25}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


def test_text_after_a_call_is_a_block_of_its_own() -> None:
    assert lines("text-call-text") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"I look"}',
            '{"type":"text-delta","index":0,"text":" first.\\n"}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"I look first.\\n"}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"call_c3","name":"bash","argumentsDelta":"{\\"command\\":"}',
            '{"type":"tool-call-delta","index":1,"id":"call_c3","argumentsDelta":"\\"ls\\"}"}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"call_c3","name":"bash","arguments":"{\\"command\\":\\"ls\\"}"}}',
            '{"type":"block-start","index":2,"blockType":"text"}',
            '{"type":"text-delta","index":2,"text":"Then I"}',
            '{"type":"text-delta","index":2,"text":" write."}',
            '{"type":"block-end","index":2,"block":{"type":"text","text":"Then I write."}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


def test_gemini_sends_whole_calls_at_one_index_and_signs_the_first() -> None:
    assert lines("gemini") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"Both at once."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"Both at once."}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"function-call-81","name":"bash","argumentsDelta":"{\\"command\\":\\"ls\\"}"}',
            '{"state":{"calls":[{"google":{"thought_signature":"Cs4BAdHtim9-first=="}}]}}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"function-call-81","name":"bash","arguments":"{\\"command\\":\\"ls\\"}"}}',
            '{"type":"block-start","index":2,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":2,"id":"function-call-82","name":"bash","argumentsDelta":"{\\"command\\":\\"pwd\\"}"}',
            '{"type":"block-end","index":2,"block":{"type":"tool-call","id":"function-call-82","name":"bash","arguments":"{\\"command\\":\\"pwd\\"}"}}',
            '{"type":"usage","usage":{"inputTokens":50,"outputTokens":45}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


def test_an_error_in_mid_stream_ends_it_and_comments_are_nothing() -> None:
    assert lines("openrouter-error") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":0,"text":"Let me"}',
            '{"type":"reasoning-delta","index":0,"text":" see."}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":"Let me see."}}',
            '{"type":"block-start","index":1,"blockType":"text"}',
            '{"type":"text-delta","index":1,"text":"There are three"}',
            '{"state":{"reasoning":"reasoning","details":[{"type":"reasoning.text","format":"anthropic-claude-v1","index":0,"text":"Let me see.","signature":"ErUBCk=="}]}}',
            "UNAVAILABLE True: the provider has a fault of its own (502: Provider returned error)",
        ]
    )


def test_the_length_limit_in_the_middle_of_arguments() -> None:
    assert lines("length") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"A long list."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"A long list."}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"call_d4","name":"todo_write"}',
            '{"type":"tool-call-delta","index":1,"id":"call_d4","argumentsDelta":"{\\"todos\\":[{\\"content\\":\\"A\\",\\"status\\":\\"completed\\"},"}',
            '{"type":"tool-call-delta","index":1,"id":"call_d4","argumentsDelta":"{\\"content\\":\\"B\\",\\"st"}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"call_d4","name":"todo_write","arguments":"{\\"todos\\":[{\\"content\\":\\"A\\",\\"status\\":\\"completed\\"},{\\"content\\":\\"B\\",\\"st"}}',
            '{"type":"usage","usage":{"inputTokens":70,"outputTokens":16}}',
            '{"type":"finish","reason":{"kind":"max-tokens"}}',
        ]
    )


def test_ollama_sends_whole_calls_and_may_send_objects() -> None:
    assert lines("ollama") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":0,"text":"Look."}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":"Look."}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"call_k1","name":"bash","argumentsDelta":"{\\"command\\":\\"ls\\"}"}',
            '{"state":{"reasoning":"reasoning"}}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"call_k1","name":"bash","arguments":"{\\"command\\":\\"ls\\"}"}}',
            '{"type":"block-start","index":2,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":2,"id":"call_k2","name":"bash","argumentsDelta":"{\\"command\\":\\"id\\"}"}',
            '{"type":"block-end","index":2,"block":{"type":"tool-call","id":"call_k2","name":"bash","arguments":"{\\"command\\":\\"id\\"}"}}',
            '{"type":"usage","usage":{"inputTokens":161,"outputTokens":42}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


def test_mistral_thinks_within_the_content() -> None:
    assert lines("mistral") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":0,"text":"One"}',
            '{"type":"reasoning-delta","index":0,"text":" step."}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":"One step."}}',
            '{"type":"block-start","index":1,"blockType":"text"}',
            '{"type":"text-delta","index":1,"text":"I do it."}',
            '{"state":{"reasoning":"content"}}',
            '{"type":"block-end","index":1,"block":{"type":"text","text":"I do it."}}',
            '{"type":"block-start","index":2,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":2,"id":"D681PevKs","name":"bash","argumentsDelta":"{\\"command\\": \\"ls\\"}"}',
            '{"type":"block-end","index":2,"block":{"type":"tool-call","id":"D681PevKs","name":"bash","arguments":"{\\"command\\": \\"ls\\"}"}}',
            '{"type":"usage","usage":{"inputTokens":60,"outputTokens":30}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_that_is_cut_anywhere_says_the_beginning_and_fails_unless_it_was_whole(name: str) -> None:
    body = wire(name)
    whole, _ = heard(events(body))
    before = ""
    for end in range(len(body)):
        data = events(body[:end])
        if (state := repr(data)) == before:
            continue
        before = state
        chunks, error = heard(data)
        finished = any('"finish_reason":"' in one or one == "[DONE]" for one in data)
        assert (error is None) == finished or (error is not None and error.code != "STREAM_CUT")
        assert bool(finish(chunks)) == (error is None)
        if error is not None:
            assert chunks == whole[: len(chunks)]
            assert error.retryable


@pytest.mark.parametrize("name", NAMES)
def test_blocks_begin_in_order_and_every_delta_is_of_one_that_is_open(name: str) -> None:
    check_order(heard(events(wire(name)))[0])


def check_order(chunks: Iterable[Chunk | Replay]) -> None:
    started = 0
    open: dict[int, str] = {}
    for chunk in chunks:
        if isinstance(chunk, BlockStart):
            assert chunk.index == started
            started += 1
            open[chunk.index] = chunk.block_type
        elif isinstance(chunk, TextDelta | ReasoningDelta | ToolCallDelta):
            kinds = {TextDelta: "text", ReasoningDelta: "reasoning", ToolCallDelta: "tool-call"}
            assert open[chunk.index] == kinds[type(chunk)]
        elif isinstance(chunk, BlockEnd):
            assert open.pop(chunk.index) == chunk.block.__struct_config__.tag
        elif isinstance(chunk, Finish):
            assert not open


# --- calls


A, B = '{"a":1}', '{"b":2}'


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # pieces of two calls in turns
        (
            [
                pieces(piece('{"a"', "f", index=0, id="1")), pieces(piece('{"b"', "g", index=1, id="2")),
                pieces(piece(":1}", index=0)), pieces(piece(":2}", index=1)),
            ],
            [("1", "f", A), ("2", "g", B)],
        ),
        # id and name with every piece
        ([pieces(piece(sign, "f", index=0, id="1")) for sign in A], [("1", "f", A)]),
        # an id that changes, or is empty or null, without a name
        (
            [
                pieces(piece("", "f", index=0, id="1")), pieces(piece('{"a"', None, index=0, id="2")),
                pieces(piece(":", "", index=0, id="")), pieces(piece("1}", index=0, id=None)),
            ],
            [("1", "f", A)],
        ),
        # whole calls at one index, with ids, without, with the same
        ([pieces(piece(A, "f", index=0, id="1")), pieces(piece(B, "f", index=0, id="2"))], [("1", "f", A), ("2", "f", B)]),
        ([pieces(piece(A, "f", index=0)), pieces(piece(B, "f", index=0))], [("", "f", A), ("", "f", B)]),
        ([pieces(piece(A, "f", index=0, id="x")), pieces(piece(B, "f", index=0, id="x"))], [("x", "f", A), ("x", "f", B)]),
        ([pieces(piece("", "f", index=0)), pieces(piece("", "g", index=0))], [("", "f", ""), ("", "g", "")]),
        ([pieces(piece("", "f", index=0, id="1")), pieces(piece("", "f", index=0, id="2"))], [("1", "f", ""), ("2", "f", "")]),
        # a name that changes under one id
        ([pieces(piece('{"a"', "f", index=0, id="1")), pieces(piece(":1}", "f_g", index=0, id="1"))], [("1", "f", A)]),
        # no index at all
        ([pieces(piece(A, "f"), piece(B, "f"))], [("", "f", A), ("", "f", B)]),
        ([pieces(piece("", "f"), piece("", "f"))], [("", "f", ""), ("", "f", "")]),
        ([pieces(piece('{"a"', "f", id="1")), pieces(piece(":1}"))], [("1", "f", A)]),
        # what is empty, and no function
        ([pieces(piece("", "f", index=0, id="1")), pieces({"index": 0}), pieces(piece(A, index=0))], [("1", "f", A)]),
        ([pieces(piece(A, "f", index=0, id="1")), pieces(piece("", "f", index=0, id="1"))], [("1", "f", A)]),
        # objects instead of text
        ([pieces(piece({"a": 1}, "f", index=0), piece({}, "g", index=1))], [("", "f", A), ("", "g", "{}")]),
        # a name that comes late, and one that never does
        ([pieces(piece('{"a"', index=0, id="1")), pieces(piece(":1}", "f", index=0))], [("1", "f", A)]),
        ([pieces(piece(A, index=0, id="1"))], []),
        # indexes with gaps, in any order
        ([pieces(piece(A, "f", index=7)), pieces(piece(B, "g", index=3))], [("", "f", A), ("", "g", B)]),
    ],
)  # fmt: skip
def test_calls_are_told_apart(parts: list[Any], expected: list[tuple[str, str, str]]) -> None:
    chunks = said(*parts)
    check_order(chunks)
    assert sorted(calls(chunks)) == sorted(expected)
    assert finish(chunks) == ["tool-calls" if expected else "stop"]


def test_a_call_ends_where_the_next_block_begins_once_it_is_whole() -> None:
    first, second = piece(A, "f", index=0, id="1"), piece("", "g", index=1, id="2")
    chunks = said(pieces(first), pieces(second), pieces(piece(B, index=1)), delta(content="Done."))
    kinds = [type(chunk).__name__ for chunk in chunks]
    assert kinds == [
        "BlockStart", "ToolCallDelta", "BlockEnd", "BlockStart", "ToolCallDelta", "ToolCallDelta", "BlockEnd",
        "BlockStart", "TextDelta", "BlockEnd", "Finish",
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from("fg"), st.dictionaries(st.text(max_size=3), st.text(max_size=5))), max_size=4),
    st.randoms(),
)
def test_however_calls_are_cut_into_pieces_they_come_out_whole(
    wanted: list[tuple[str, dict[str, str]]], random: Any
) -> None:
    queues: list[list[dict[str, Any]]] = []
    for index, (name, value) in enumerate(wanted):
        text = json.dumps(value)
        cuts = sorted({0, len(text), *(random.randrange(len(text)) for _ in range(3))})
        parts = [piece(text[start:end], index=index) for start, end in pairwise(cuts)]
        queues.append([piece("", name, index=index, id=f"id-{index}"), *parts])
    parts: list[Any] = []
    while any(queues):
        parts.append(pieces(random.choice([queue for queue in queues if queue]).pop(0)))
    chunks = said(*parts)
    check_order(chunks)
    assert sorted(calls(chunks)) == sorted((f"id-{n}", name, json.dumps(v)) for n, (name, v) in enumerate(wanted))


# --- what goes back


def kept(*parts: Any) -> Any:
    return [chunk.state for chunk in said(*parts) if isinstance(chunk, Replay)][-1:]


def test_thinking_goes_back_under_the_name_it_came_by_and_is_heard_once() -> None:
    assert kept(delta(reasoning="Hm.")) == [{"reasoning": "reasoning"}]
    assert kept(delta(reasoning_content="Hm.", reasoning="Hm.")) == [{"reasoning": "reasoning_content"}]
    assert kept(delta(reasoning_content="", content="x")) == []
    chunks = said(delta(reasoning_content="Hm.", reasoning="Hm."))
    assert [chunk.text for chunk in chunks if isinstance(chunk, ReasoningDelta)] == ["Hm."]


def test_the_details_of_thinking_are_put_together_where_they_are_of_one_block() -> None:
    def details(*all: dict[str, Any]) -> dict[str, Any]:
        return delta(reasoning_details=list(all))

    text = {"type": "reasoning.text", "index": 0, "format": "f"}
    encrypted = {"type": "reasoning.encrypted", "index": 0}
    parts = [
        details({**text, "text": "Let ", "signature": None}, {**text, "text": "me"}),
        details({**text, "signature": "s"}),
        details({**encrypted, "data": "1"}, {**encrypted, "data": "2"}),
        details({"type": "reasoning.summary", "index": 1, "id": "a", "summary": "x"}),
        details({"type": "reasoning.summary", "index": 1, "id": "b", "summary": "y"}),
        details({"type": "reasoning.text", "text": "no index"}, {"type": "reasoning.text", "text": "either"}),
    ]
    assert kept(*parts)[0]["details"] == [
        {**text, "text": "Let me", "signature": "s"},
        {**encrypted, "data": "1"},
        {**encrypted, "data": "2"},
        {"type": "reasoning.summary", "index": 1, "id": "a", "summary": "x"},
        {"type": "reasoning.summary", "index": 1, "id": "b", "summary": "y"},
        {"type": "reasoning.text", "text": "no index"},
        {"type": "reasoning.text", "text": "either"},
    ]
    words = "".join(chunk.text for chunk in said(*parts) if isinstance(chunk, ReasoningDelta))
    assert words == "Let mexyno indexeither"


def test_what_goes_back_is_known_before_the_end_since_an_answer_may_be_cancelled() -> None:
    reply = ChatReply()
    assert not any(isinstance(one, Replay) for one in reply.take(json.dumps(delta(reasoning="Hm."))))
    assert Replay({"reasoning": "reasoning"}) in reply.take(json.dumps(delta(content="So.")))
    signed = piece("", index=0, extra_content={"vertex": {"thought_signature": "s"}})
    state = {"reasoning": "reasoning", "calls": [{"vertex": {"thought_signature": "s"}}]}
    assert Replay(state) not in reply.take(json.dumps(pieces(signed)))
    assert Replay(state) in reply.take(json.dumps(pieces(piece("{}", "f", index=0))))


# --- ends


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("stop", "stop"), ("length", "max-tokens"), ("tool_calls", "stop"), ("function_call", "stop"), ("odd", "stop")],
)
def test_finish_reasons(reason: str, kind: str) -> None:
    assert finish(said(delta(content="x"), delta(reason))) == [kind]
    called = said(pieces(piece("{}", "f", index=0)), delta(reason))
    assert finish(called) == ["max-tokens" if kind == "max-tokens" else "tool-calls"]


def test_a_limit_that_was_reached_is_not_forgotten() -> None:
    assert finish(said(delta("length"), delta("stop"))) == ["max-tokens"]


@pytest.mark.parametrize(
    "ending", [[delta("stop")], ["[DONE]"], [delta("stop"), "[DONE]"], [delta("stop"), " [DONE] "]]
)
def test_a_finish_reason_or_the_closing_word_make_a_reply_whole(ending: list[Any]) -> None:
    chunks, error = heard(one if isinstance(one, str) else json.dumps(one) for one in [delta(content="x"), *ending])
    assert (finish(chunks), error) == (["stop"], None)


@pytest.mark.parametrize(
    "parts", [[], [delta(content="x")], [delta("", content="x")], [{"choices": []}], ["", " "], ["{}"]]
)
def test_without_either_it_was_cut(parts: list[Any]) -> None:
    assert failed(*parts).code == "STREAM_CUT"


def test_what_comes_after_the_finish_reason_still_counts_and_after_the_closing_word_nothing_does() -> None:
    reply = ChatReply()
    for part in (delta("stop", content="a"), delta(content="b"), {"choices": [], "usage": {"prompt_tokens": 1}}):
        assert finish(reply.take(json.dumps(part))) == []
    chunks = reply.take("[DONE]")
    assert UsageChunk(Usage(1, 0)) in chunks
    assert finish(chunks) == ["stop"]
    assert [*reply.take(json.dumps(delta(content="c"))), *reply.take("nonsense"), *reply.end()] == []


def test_a_refusal_in_words_is_text_and_one_by_a_filter_ends_the_answer() -> None:
    assert TextDelta(0, "I will not.") in said(delta(refusal="I will not."), delta("stop"))
    error = failed(delta(content="Well"), delta("content_filter"))
    assert (error.code, error.retryable) == ("REFUSAL", False)
    assert str(error) == (
        "the provider's content filter stopped the answer; ask in other words, or another model with -m"
    )


@pytest.mark.parametrize(
    ("part", "code", "said"),
    [
        ({"error": {"message": "Overloaded", "code": 503}}, "OVERLOADED", "the provider has too much to do (503: Overloaded)"),
        ({"error": {"message": "m", "type": "rate_limit_error"}}, "RATE_LIMITED", "too many requests for now (429: m)"),
        ({"error": "boom", "choices": []}, "UNAVAILABLE", "the provider has a fault of its own (500: boom)"),
        ([{"error": {"code": 429, "message": "m"}}], "RATE_LIMITED", "too many requests for now (429: m)"),
        ({"object": "error", "message": "m", "code": 400}, "BAD_REQUEST", "the provider does not take the request (400: m)"),
        (delta("error"), "UNAVAILABLE", "the provider has a fault of its own (500: it ended the answer with error)"),
        (delta("insufficient_system_resource"), "OVERLOADED", "the provider has too much to do (503: it ended the answer with insufficient_system_resource)"),
    ],
)  # fmt: skip
def test_errors_in_a_stream(part: Any, code: str, said: str) -> None:
    error = failed(delta(content="x"), part)
    assert (error.code, str(error)) == (code, said)


@pytest.mark.parametrize(
    "data",
    [
        "{", "nonsense", "7", "[]", "[[]]", "null", '"x"', "[" * 100_000, '{"choices":7}', '{"choices":[7]}', "\ud83d",
        '{"choices":[{"delta":{"content":7}}]}', '{"choices":[{"delta":{"tool_calls":{}}}]}',
        '{"choices":[{"delta":{"tool_calls":[{"index":"a"}]}}]}', '{"choices":[{"delta":{"content":"\\ud83d',
    ],
)  # fmt: skip
def test_what_is_no_part_of_an_answer_may_be_better_next_time(data: str) -> None:
    error = failed(data)
    assert (error.code, error.retryable) == ("MALFORMED_REPLY", True)
    assert str(error).startswith("the provider sent something that is no part of an answer (")
    assert "\n" not in str(error)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "tool_calls",
                        "function",
                        "arguments",
                        "usage",
                        "error",
                        "index",
                        "reasoning_details",
                        "message",
                        "finish_reason",
                        "name",
                        "id",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_nothing_that_comes_raises_anything_but_a_models_error(value: Any) -> None:
    chunks, _ = heard(
        [json.dumps(value), json.dumps({"choices": [value]}), json.dumps(delta(tool_calls=[value])), "[DONE]"]
    )
    check_order(chunks)


def test_half_a_character_is_mended() -> None:
    chunks, error = heard(['{"choices":[{"delta":{"content":"a\\ud83d"}}]}', "[DONE]"])
    assert (error, TextDelta(0, "a�") in chunks) == (None, True)


# --- other forms


def test_only_the_first_of_several_answers_counts() -> None:
    other = {"index": 1, "delta": {"content": "no"}, "finish_reason": "length"}
    chunks = said({"choices": [other, {"index": 0, "delta": {"content": "yes"}}]}, {"choices": [other]})
    assert [chunk.text for chunk in chunks if isinstance(chunk, TextDelta)] == ["yes"]
    assert finish(chunks) == ["stop"]


def test_a_server_that_does_not_stream_is_understood() -> None:
    message = {
        "role": "assistant",
        "content": "Both.",
        "reasoning_content": "Hm.",
        "tool_calls": [{"id": "1", **piece("", "f")}, {"id": "1", **piece(A, "f")}],
    }
    chunks = said(
        {"object": "chat.completion", "choices": [{"index": 0, "message": message}], "usage": None}, done=False
    )
    check_order(chunks)
    assert sorted(calls(chunks)) == [("1", "f", ""), ("1", "f", A)]
    assert finish(chunks) == ["tool-calls"]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}, Usage(9, 2)),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(9, 2)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3}}, Usage(2, 0, 4, 3)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8}, Usage(1, 1, 8)),
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 8}, Usage(1, 1, 8)),
        ({"prompt_tokens": 9, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 4}}, Usage(9, 5, None, None, 4)),
        # thinking in the total alone
        ({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 20, "completion_tokens_details": {"reasoning_tokens": 6}}, Usage(9, 11, None, None, 6)),
        ({"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5}}, Usage(0, 1, 5)),
        # gateways that count in floats and texts
        ({"prompt_tokens": 9.0, "completion_tokens": "2"}, Usage(9, 2)),
        ({"prompt_tokens": 9.5}, None),
        ({"prompt_tokens": 9, "prompt_tokens_details": []}, None),
        ({"total_tokens": 3}, None),
        ("", None),
        ([], None),
        (None, None),
    ],
)  # fmt: skip
def test_usage_is_told_once_in_the_words_of_the_log(usage: Any, expected: Usage | None) -> None:
    wanted = [] if expected is None else [UsageChunk(expected)]
    first = {"prompt_tokens": 1, "completion_tokens": 1}
    for parts in (
        [{"choices": [], "usage": usage}],
        [{**delta("stop"), "usage": usage}],
        [{**delta(content="x"), "usage": first}, {"usage": usage}, {"usage": {"total_tokens": 1}}] if expected else [],
        [{"choices": [{"index": 0, "delta": {}, "usage": usage}]}],
    ):
        assert not parts or [chunk for chunk in said(*parts) if isinstance(chunk, UsageChunk)] == wanted
