"""Replies as Anthropic sends them, byte for byte, cut anywhere, and as a server never should."""

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from planlog.model.anthropic.reply import MessagesReply
from planlog.model.message import Text, ToolCall, Usage
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

FILES = Path(__file__).parents[4] / "tests/wire/messages"
NAMES = sorted(path.stem for path in FILES.glob("*.sse"))
FAILING = {"overloaded", "refusal"}


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
    reply = MessagesReply("digest")
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


def said(*parts: Any) -> list[Chunk | Replay]:
    """The chunks of a reply that is whole, from the JSON of its events."""
    chunks, error = heard(json.dumps(part) for part in parts)
    assert error is None, error
    return chunks


def failed(*parts: Any) -> ModelError:
    _, error = heard(part if isinstance(part, str) else json.dumps(part) for part in parts)
    assert error is not None
    return error


def begin(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


DELTAS = {"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "input_json"}


def more(index: int, **fields: Any) -> dict[str, Any]:
    kind = next((f"{name}_delta" for field, name in DELTAS.items() if field in fields), "")
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def over(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def stop(reason: str | None, **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or None}


CLOSE = {"type": "message_stop"}
TEXT = [begin(0, "text", text=""), more(0, text="Yes."), over(0)]
CALL = [begin(1, "tool_use", id="1", name="f", input={}), more(1, partial_json="{}"), over(1)]


def finish(chunks: Iterable[Chunk | Replay]) -> list[str]:
    return [chunk.reason.kind for chunk in chunks if isinstance(chunk, Finish)]


def calls(chunks: Iterable[Chunk | Replay]) -> list[tuple[str, str, str]]:
    blocks = [chunk.block for chunk in chunks if isinstance(chunk, BlockEnd)]
    return [(block.id, block.name, block.arguments) for block in blocks if isinstance(block, ToolCall)]


def thoughts(chunks: Iterable[Chunk | Replay]) -> list[tuple[int, Any]]:
    """What is kept, as the last one says."""
    states = [chunk.state for chunk in chunks if isinstance(chunk, Replay)]
    return [(one["after"], one["block"]) for one in states[-1]["thoughts"]] if states else []


def check_order(chunks: Iterable[Chunk | Replay]) -> None:
    """Blocks are counted, and nothing is said of one that is not open."""
    kinds = {TextDelta: "text", ReasoningDelta: "reasoning", ToolCallDelta: "tool-call"}
    open: dict[int, str] = {}
    started = 0
    for chunk in chunks:
        if isinstance(chunk, BlockStart):
            assert chunk.index == started
            started += 1
            open[chunk.index] = chunk.block_type
        elif isinstance(chunk, TextDelta | ReasoningDelta | ToolCallDelta):
            assert open[chunk.index] == kinds[type(chunk)]
        elif isinstance(chunk, BlockEnd):
            assert open.pop(chunk.index) == chunk.block.__struct_config__.tag
        elif isinstance(chunk, Finish):
            assert not open


# --- byte files


def test_text() -> None:
    assert lines("text") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"Guten Tag, "}',
            '{"type":"text-delta","index":0,"text":"ich bin da: ✓."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"Guten Tag, ich bin da: ✓."}}',
            '{"type":"usage","usage":{"inputTokens":12,"outputTokens":9,"cacheReadTokens":90}}',
            '{"type":"finish","reason":{"kind":"stop"}}',
        ]
    )


def test_thinking_and_then_text() -> None:
    assert lines("thinking") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":0,"text":"Who asks?"}',
            '{"type":"reasoning-delta","index":0,"text":" A person."}',
            '{"state":{"bound_to":"digest","thoughts":[{"after":0,"block":{"type":"thinking","thinking":"Who asks? A person.","signature":"Eq8BCkYIBx=="}}]}}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":"Who asks? A person."}}',
            '{"type":"block-start","index":1,"blockType":"text"}',
            '{"type":"text-delta","index":1,"text":"Hello, person."}',
            '{"type":"block-end","index":1,"block":{"type":"text","text":"Hello, person."}}',
            '{"type":"usage","usage":{"inputTokens":12,"outputTokens":21,"reasoningTokens":12}}',
            '{"type":"finish","reason":{"kind":"stop"}}',
        ]
    )


def test_two_thoughts_in_a_row_of_which_one_is_not_shown_and_a_call_in_pieces() -> None:
    assert lines("omitted-thinking-call") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"reasoning"}',
            '{"state":{"bound_to":"digest","thoughts":[{"after":0,"block":{"type":"thinking","thinking":"","signature":"EoYCCkgIDB=="}}]}}',
            '{"type":"block-end","index":0,"block":{"type":"reasoning","text":""}}',
            '{"type":"block-start","index":1,"blockType":"reasoning"}',
            '{"type":"reasoning-delta","index":1,"text":"A list first."}',
            '{"state":{"bound_to":"digest","thoughts":[{"after":0,"block":{"type":"thinking","thinking":"","signature":"EoYCCkgIDB=="}},{"after":0,"block":{"type":"thinking","thinking":"A list first.","signature":"CAISiAI=="}}]}}',
            '{"type":"block-end","index":1,"block":{"type":"reasoning","text":"A list first."}}',
            '{"type":"block-start","index":2,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01A","name":"todo_write"}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01A","argumentsDelta":"{\\"todos\\":"}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01A","argumentsDelta":"[{\\"content\\":\\"read\\""}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01A","argumentsDelta":",\\"status\\":\\"pending"}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01A","argumentsDelta":"\\"}]}"}',
            '{"type":"block-end","index":2,"block":{"type":"tool-call","id":"toolu_01A","name":"todo_write","arguments":"{\\"todos\\":[{\\"content\\":\\"read\\",\\"status\\":\\"pending\\"}]}"}}',
            '{"type":"usage","usage":{"inputTokens":12,"outputTokens":40}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


def test_a_redacted_thought_is_kept_and_nothing_is_said_of_it() -> None:
    assert lines("redacted-two-calls") == snapshot(
        [
            '{"state":{"bound_to":"digest","thoughts":[{"after":0,"block":{"type":"redacted_thinking","data":"EmwKAhgBEgy3va=="}}]}}',
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"Both."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"Both."}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"toolu_01B","name":"bash"}',
            '{"type":"tool-call-delta","index":1,"id":"toolu_01B","argumentsDelta":"{\\"command\\":"}',
            '{"type":"tool-call-delta","index":1,"id":"toolu_01B","argumentsDelta":" \\"ls\\"}"}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"toolu_01B","name":"bash","arguments":"{\\"command\\": \\"ls\\"}"}}',
            '{"type":"block-start","index":2,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01C","name":"bash"}',
            '{"type":"tool-call-delta","index":2,"id":"toolu_01C","argumentsDelta":"{\\"command\\": \\"pwd\\"}"}',
            '{"type":"block-end","index":2,"block":{"type":"tool-call","id":"toolu_01C","name":"bash","arguments":"{\\"command\\": \\"pwd\\"}"}}',
            '{"type":"usage","usage":{"inputTokens":12,"outputTokens":52}}',
            '{"type":"finish","reason":{"kind":"tool-calls"}}',
        ]
    )


def test_the_length_limit_in_the_middle_of_arguments() -> None:
    assert lines("length") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"A long list."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"A long list."}}',
            '{"type":"block-start","index":1,"blockType":"tool-call"}',
            '{"type":"tool-call-delta","index":1,"id":"toolu_01D","name":"todo_write"}',
            '{"type":"tool-call-delta","index":1,"id":"toolu_01D","argumentsDelta":"{\\"todos\\":[{\\"content\\":\\"A\\",\\"status\\":\\"completed\\"},"}',
            '{"type":"tool-call-delta","index":1,"id":"toolu_01D","argumentsDelta":"{\\"content\\":\\"B\\",\\"st"}',
            '{"type":"block-end","index":1,"block":{"type":"tool-call","id":"toolu_01D","name":"todo_write","arguments":"{\\"todos\\":[{\\"content\\":\\"A\\",\\"status\\":\\"completed\\"},{\\"content\\":\\"B\\",\\"st"}}',
            '{"type":"usage","usage":{"inputTokens":12,"outputTokens":64}}',
            '{"type":"finish","reason":{"kind":"max-tokens"}}',
        ]
    )


def test_what_is_newer_than_this_is_passed_over() -> None:
    assert lines("newer") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"Found it."}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"Found it."}}',
            '{"type":"usage","usage":{"inputTokens":12,"outputTokens":30}}',
            '{"type":"finish","reason":{"kind":"stop"}}',
        ]
    )


def test_an_error_in_mid_stream_ends_it() -> None:
    assert lines("overloaded") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"I was about to"}',
            "OVERLOADED True: the provider has too much to do (529: Overloaded)",
        ]
    )


def test_a_refusal_ends_it_and_says_why() -> None:
    assert lines("refusal") == snapshot(
        [
            '{"type":"block-start","index":0,"blockType":"text"}',
            '{"type":"text-delta","index":0,"text":"I would"}',
            '{"type":"block-end","index":0,"block":{"type":"text","text":"I would"}}',
            "REFUSAL False: the model refuses to answer this; ask another model with -m, or begin a new session (It could do harm.)",
        ]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_reply_that_is_cut_anywhere_says_the_beginning_and_fails_unless_it_was_whole(name: str) -> None:
    body = wire(name)
    whole, _ = heard(events(body))
    check_order(whole)
    assert bool(finish(whole)) == (name not in FAILING)
    before = ""
    for end in range(len(body)):
        data = events(body[:end])
        if (state := repr(data)) == before:
            continue
        before = state
        chunks, error = heard(data)
        reason_came = any('"stop_reason":"' in one for one in data)
        assert bool(finish(chunks)) == (error is None) == (reason_came and name not in FAILING)
        if error is None:
            assert chunks == whole
            continue
        assert chunks == whole[: len(chunks)]
        assert (
            error.code == {"overloaded": "OVERLOADED", "refusal": "REFUSAL"}.get(name, "") or error.code == "STREAM_CUT"
        )
        assert error.retryable == (error.code != "REFUSAL")


# --- calls and thinking


def test_blocks_that_grow_in_turns_are_told_apart() -> None:
    other = [
        begin(7, "tool_use", id="2", name="g", input={}),
        more(7, partial_json='{"b"'),
        more(1, partial_json='{"a"'),
    ]
    rest = [more(7, partial_json=":2}"), more(1, partial_json=":1}"), over(7), over(1)]
    chunks = said(CALL[0], *other, *rest, stop("tool_use"), CLOSE)
    check_order(chunks)
    assert calls(chunks) == [("2", "g", '{"b":2}'), ("1", "f", '{"a":1}')]


def test_a_block_without_its_end_ends_with_the_reply_or_where_another_begins_in_its_place() -> None:
    second = [begin(0, "tool_use", id="1", name="f"), more(0, partial_json="{}")]
    chunks = said(TEXT[0], TEXT[1], *second, stop("tool_use"), CLOSE)
    check_order(chunks)
    assert [chunk.block for chunk in chunks if isinstance(chunk, BlockEnd)] == [Text("Yes."), ToolCall("1", "f", "{}")]


@pytest.mark.parametrize(
    ("input", "pieces", "expected"),
    [({}, [], ""), ({}, [""], ""), ({"a": 1}, [], '{"a": 1}'), ({"a": 1}, ['{"b":2}'], '{"b":2}'), (None, [], ""), ("x", [], "")],
)  # fmt: skip
def test_a_calls_input_comes_in_pieces_or_whole_at_its_beginning(input: Any, pieces: list[str], expected: str) -> None:
    parts = [begin(0, "tool_use", id="1", name="f", input=input), *(more(0, partial_json=one) for one in pieces)]
    chunks = said(*parts, over(0), stop("tool_use"), CLOSE)
    assert calls(chunks) == [("1", "f", expected)]
    assert "".join(chunk.arguments_delta for chunk in chunks if isinstance(chunk, ToolCallDelta)) == expected


def test_a_thought_is_kept_behind_what_was_said_before_it_but_not_behind_blank_text() -> None:
    chunks = said(
        begin(0, "thinking", thinking="A", signature="s"), over(0),
        begin(1, "text", text=" \n"), over(1),
        begin(2, "redacted_thinking", data="d"), over(2),
        begin(3, "text", text="So"), more(3, text="."), over(3),
        begin(4, "tool_use", id="1", name="f", input={}), over(4),
        begin(5, "thinking", thinking="", signature=""), more(5, signature="t"), more(5, signature="u"), over(5),
        begin(6, "tool_use", id="2", name="f", input={}), over(6),
        stop("tool_use"), CLOSE,
    )  # fmt: skip
    check_order(chunks)
    assert thoughts(chunks) == [
        (0, {"type": "thinking", "thinking": "A", "signature": "s"}),
        (0, {"type": "redacted_thinking", "data": "d"}),
        (2, {"type": "thinking", "thinking": "", "signature": "tu"}),
    ]


def test_a_thought_without_its_signature_is_not_kept_since_it_would_be_refused() -> None:
    chunks = said(begin(0, "thinking", thinking=""), more(0, thinking="Hm."), over(0), *TEXT, stop("end_turn"), CLOSE)
    assert thoughts(chunks) == []
    assert ReasoningDelta(0, "Hm.") in chunks


def test_thinking_is_known_before_the_end_since_an_answer_may_be_cancelled() -> None:
    reply = MessagesReply("digest")
    reply.take(json.dumps(begin(0, "thinking", thinking="Hm.", signature="s")))
    assert thoughts(reply.take(json.dumps(over(0)))) == [(0, {"type": "thinking", "thinking": "Hm.", "signature": "s"})]


def test_what_a_time_to_come_brings_is_left_out() -> None:
    odd = [
        begin(0, "future", data={"a": 1}, text=7),
        {**more(0), "delta": {"type": "hum", "text": {}}},
        over(0),
    ]
    inside = [
        begin(1, "text", text=""),
        {**more(1), "delta": {"type": "hum_delta", "text": "no"}},
        more(1, text="Yes."),
        over(1),
    ]
    chunks = said(*odd, *inside, stop("end_turn"), CLOSE)
    assert [chunk.block for chunk in chunks if isinstance(chunk, BlockEnd)] == [Text("Yes.")]


def test_a_thought_with_a_nul_in_it_is_not_kept_since_neither_it_nor_its_signature_would_hold() -> None:
    chunks = said(begin(0, "thinking", thinking="a\0b", signature="s"), over(0), *TEXT, stop("end_turn"), CLOSE)
    assert thoughts(chunks) == []


def test_a_stream_may_end_as_openais_do() -> None:
    chunks, error = heard([*(json.dumps(part) for part in (*TEXT, stop("end_turn"))), "[DONE]"])
    assert (finish(chunks), error) == (["stop"], None)


def test_a_reply_in_one_piece_says_the_same() -> None:
    content = [
        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        {"type": "text", "text": "Yes."},
        {"type": "tool_use", "id": "1", "name": "f", "input": {"a": 1}},
    ]
    usage = {"input_tokens": 3, "output_tokens": 4}
    whole = {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use", "usage": usage}
    chunks = said(whole)
    assert calls(chunks) == [("1", "f", '{"a": 1}')]
    assert thoughts(chunks) == [(0, content[0])]
    assert TextDelta(1, "Yes.") in chunks
    assert UsageChunk(Usage(3, 4)) in chunks
    assert finish(chunks) == ["tool-calls"]


# --- ends


@pytest.mark.parametrize(
    ("reason", "kind"),
    [("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "max-tokens"), ("pause_turn", "stop"), ("tool_use", "stop"), ("odd", "stop")],
)  # fmt: skip
def test_stop_reasons(reason: str, kind: str) -> None:
    assert finish(said(*TEXT, stop(reason), CLOSE)) == [kind]
    assert finish(said(*TEXT, *CALL, stop(reason), CLOSE)) == ["max-tokens" if kind == "max-tokens" else "tool-calls"]


def test_an_answer_that_filled_the_window_fails_for_good() -> None:
    error = failed(*TEXT, stop("model_context_window_exceeded"), CLOSE)
    assert (error.code, error.retryable) == ("CONTEXT_OVERFLOW", False)


def test_an_end_without_its_reason_may_be_better_next_time() -> None:
    assert failed(*TEXT, stop(None), CLOSE).code == "MALFORMED_REPLY"
    assert failed(*TEXT, stop(None)).code == "STREAM_CUT"
    assert failed().code == "STREAM_CUT"


def test_nothing_counts_after_the_end() -> None:
    reply = MessagesReply("digest")
    for part in (*TEXT, stop("end_turn")):
        assert finish(reply.take(json.dumps(part))) == []
    assert finish(reply.take(json.dumps(CLOSE))) == ["stop"]
    assert [*reply.take(json.dumps(TEXT[0])), *reply.take("nonsense"), *reply.end()] == []


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        ({"type": "overloaded_error", "message": "m"}, "OVERLOADED", True),
        ({"type": "api_error", "message": "m"}, "UNAVAILABLE", True),
        ({"type": "timeout_error", "message": "m"}, "UNAVAILABLE", True),
        ({"type": "rate_limit_error", "message": "m"}, "RATE_LIMITED", True),
        ({"type": "authentication_error", "message": "m"}, "AUTHENTICATION", False),
        ({"type": "permission_error", "message": "m"}, "FORBIDDEN", False),
        ({"type": "billing_error", "message": "m"}, "NO_CREDIT", False),
        ({"type": "invalid_request_error", "message": "m"}, "BAD_REQUEST", False),
        ({"type": "invalid_request_error", "message": "prompt is too long: 9 tokens"}, "CONTEXT_OVERFLOW", False),
        ({"type": "odd"}, "UNAVAILABLE", True),
        ("boom", "UNAVAILABLE", True),
        (None, "UNAVAILABLE", True),
    ],
)  # fmt: skip
def test_errors_in_a_stream(error: Any, code: str, retryable: bool) -> None:
    met = failed(*TEXT, {"type": "error", "error": error})
    assert (met.code, met.retryable) == (code, retryable)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        ({"input_tokens": 9, "output_tokens": 1}, {"output_tokens": 5}, Usage(9, 5)),
        ({"input_tokens": 9, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 0}, {"output_tokens": 5}, Usage(9, 5, 7)),
        ({"input_tokens": 1, "cache_creation_input_tokens": 3}, {"input_tokens": 2, "output_tokens": 5}, Usage(2, 5, None, 3)),
        ({"input_tokens": 9}, {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 4}}, Usage(9, 5, None, None, 4)),
        ({"input_tokens": 9}, {"output_tokens": 5, "output_tokens_details": {}}, Usage(9, 5)),
        ({"input_tokens": None}, {"output_tokens": None}, None),
    ],
)  # fmt: skip
def test_usage_is_told_once_and_the_last_count_is_the_whole(start: Any, end: Any, expected: Usage | None) -> None:
    chunks = said({"type": "message_start", "message": {"usage": start}}, *TEXT, stop("end_turn", **end), CLOSE)
    assert [chunk.usage for chunk in chunks if isinstance(chunk, UsageChunk)] == ([expected] if expected else [])


# --- nonsense


@pytest.mark.parametrize(
    "data",
    [
        "{", "nonsense", "7", "[]", "null", '"x"', "{}", "[" * 100_000, '{"type":7}', "\ud83d",
        '{"type":"content_block_start"}', '{"type":"content_block_start","content_block":{}}',
        '{"type":"content_block_delta","delta":{"text":7}}', '{"type":"content_block_stop","index":"a"}',
        '{"type":"message_delta","usage":[]}', '{"type":"content_block_delta","delta":{"text":"\\ud83d',
    ],
)  # fmt: skip
def test_what_is_no_event_may_be_better_next_time(data: str) -> None:
    error = failed(data)
    assert (error.code, error.retryable) == ("MALFORMED_REPLY", True)
    assert "\n" not in str(error)


@pytest.mark.parametrize("data", ["", " \n", '{"type":"weather","delta":"mild"}', '{"type":"ping","x":[1]}'])
def test_what_says_nothing_here_is_passed_over(data: str) -> None:
    assert heard([data, *map(json.dumps, [*TEXT, stop("end_turn"), CLOSE])]) == (
        said(*TEXT, stop("end_turn"), CLOSE),
        None,
    )


def test_half_a_character_is_mended() -> None:
    chunks, error = heard([json.dumps(TEXT[0]), json.dumps(more(0, text="a\ud83d")), json.dumps(stop("end_turn"))])
    assert (error, TextDelta(0, "a�") in chunks) == (None, True)


WORDS = st.sampled_from(["", "text", "thinking", "redacted_thinking", "tool_use", "x"])
FIELDS = [
    "type",
    "index",
    "text",
    "thinking",
    "signature",
    "data",
    "input",
    "partial_json",
    "id",
    "name",
    "stop_reason",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=6,
)
KINDS = ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error", "x"]  # fmt: skip
EVENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(KINDS)},
    optional={
        "index": st.integers(0, 2),
        "content_block": st.fixed_dictionaries({"type": WORDS}, optional=dict.fromkeys(FIELDS[2:10], WORDS)) | JSON,
        "delta": st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS[2:], WORDS)) | JSON,
        "message": JSON,
        "usage": JSON,
        "error": JSON,
    },
)


@given(st.lists(EVENTS | JSON, max_size=10))
def test_nothing_that_comes_raises_anything_but_a_models_error(values: list[Any]) -> None:
    chunks, error = heard(map(json.dumps, values))
    check_order(chunks)
    assert bool(finish(chunks)) == (error is None)
