"""Chunks become blocks, and fewer chunks, without a loss."""

import itertools
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.agent.answer import Buffer, Call, Collector, json_object, sendable_name
from planlog.log.text import clean_text
from planlog.model.message import Reasoning, Text, ToolCall, Usage
from planlog.model.model import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageChunk,
)
from planlog.tools.schema import Violations, check_arguments


def collector(*used: str) -> Collector:
    numbers = itertools.count(1)
    return Collector(set(used), lambda: f"fresh-{next(numbers)}")


def collected(*chunks: Chunk, used: tuple[str, ...] = ()) -> Collector:
    taker = collector(*used)
    for chunk in chunks:
        taker.take(chunk)
    return taker


def test_blocks_come_out_in_order_whether_or_not_they_were_ended() -> None:
    taker = collected(
        BlockStart(0, "reasoning"),
        ReasoningDelta(0, "hm"),
        TextDelta(1, "Hel"),
        TextDelta(1, "lo"),
        BlockEnd(1, Text("Hello")),
        ToolCallDelta(2, "a", "say", '{"te'),
        UsageChunk(Usage(1, 2)),
        Finish(FinishReason("max-tokens")),
    )
    answer = taker.answer()
    assert answer.content == (Reasoning("hm"), Text("Hello"), ToolCall("a", "say", "{}"))
    assert answer.calls == (Call("a", "say", '{"te'),)
    assert (answer.finish, answer.usage, taker.chars) == ("max-tokens", Usage(1, 2), 7)


def test_one_call_keeps_its_id_and_every_other_one_gets_a_fresh_one_in_all_chunks() -> None:
    taker = collector("old")
    chunks = [
        taker.take(ToolCallDelta(0, "a", "say")),
        taker.take(ToolCallDelta(0, "", None, "{}")),
        taker.take(ToolCallDelta(1, "a", "say", "{}")),
        taker.take(BlockEnd(1, ToolCall("a", "say", "{}"))),
        taker.take(ToolCallDelta(2, "", "say")),
        taker.take(BlockEnd(3, ToolCall("old", "say", "{}"))),
    ]
    assert chunks == [
        ToolCallDelta(0, "a", "say"),
        ToolCallDelta(0, "a", None, "{}"),
        ToolCallDelta(1, "fresh-1", "say", "{}"),
        BlockEnd(1, ToolCall("fresh-1", "say", "{}")),
        ToolCallDelta(2, "fresh-2", "say"),
        BlockEnd(3, ToolCall("fresh-3", "say", "{}")),
    ]
    assert [call.id for call in taker.answer().calls] == ["a", "fresh-1", "fresh-2", "fresh-3"]


def test_a_call_without_a_name_and_empty_blocks_are_left_out() -> None:
    taker = collected(BlockStart(0, "text"), BlockStart(1, "tool-call"), BlockEnd(2, Reasoning("")))
    assert taker.answer().content == ()


def test_half_a_character_and_nul_are_mended_as_they_enter() -> None:
    taker = collected(TextDelta(0, "a\ud83db\0"), ToolCallDelta(1, "x", "say", '{"a": "\ud83d"}'))
    assert taker.answer().content == (Text("a\ufffdb\u2400"), ToolCall("x", "say", '{"a": "\ufffd"}'))


@pytest.mark.parametrize(
    "raw, sent",
    [
        ("", "{}"),
        ("null", "{}"),
        ("[1]", "{}"),
        ('"{}"', "{}"),
        (r'"{\"a\": 1}"', '{"a": 1}'),
        (r'"\"{}\""', "{}"),
        ('{"a":NaN}', "{}"),
        ('{"a":1}}', "{}"),
        ('{"a":"x\ny"}', "{}"),
        ('{ "b" : 1.50, "a": [] }', '{ "b" : 1.50, "a": [] }'),
        (r'{"a":"\ud83d"}', r'{"a":"\ufffd"}'),
        (r'{"a":["x\u0000y"]}', '{"a":["x\u2400y"]}'),
        ("[" * 100_000, "{}"),
        ('{"a":' * 50_000, "{}"),
        ('{"a":1e400}', "{}"),
    ],
)
def test_arguments_are_sent_back_as_a_json_object(raw: str, sent: str) -> None:
    assert json_object(raw) == sent


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    text: str = ""
    count: int | None = None
    share: float | None = None
    parts: list[str] = []


TEXTS = st.text(st.sampled_from('a"\\\0\ud83d\ude00'), max_size=4)
NUMBERS = st.integers() | st.floats(allow_nan=False)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "text": TEXTS,
        "count": st.none() | NUMBERS,
        "share": NUMBERS,
        "parts": st.lists(TEXTS, max_size=2) | st.just('["x"]') | st.booleans(),
    },
)


@given(OBJECTS, st.integers(0, 2), st.booleans())
def test_what_is_shown_and_sent_back_is_what_runs(arguments: dict[str, object], wraps: int, ascii_only: bool) -> None:
    raw = json.dumps(arguments, ensure_ascii=ascii_only)
    for _ in range(wraps):
        raw = json.dumps(raw, ensure_ascii=ascii_only)
    raw = clean_text(raw)  # as it enters
    checked = check_arguments(Shape, raw)
    if not isinstance(checked, Violations):
        assert check_arguments(Shape, json_object(raw)) == checked


@pytest.mark.parametrize("digits", [17, 25, 400, 5000])
def test_no_number_is_too_long_to_be_sent_back(digits: int) -> None:
    for raw in ('{"count": %s}', '{"share": %s}', '{"share": 0.%s}', '{"count": %s.0}'):
        raw %= "1" * digits
        checked = check_arguments(Shape, raw)
        if not isinstance(checked, Violations):
            assert check_arguments(Shape, json_object(raw)) == checked


@given(st.text())
def test_whatever_a_model_writes_as_arguments_is_sent_as_an_object(raw: str) -> None:
    assert isinstance(json.loads(json_object(raw)), dict)


@pytest.mark.parametrize(
    "name, sent", [("a.b", "a_b"), (" x ", "x"), ("", "unknown"), ("写", "_"), ("y" * 99, "y" * 64)]
)
def test_names_are_sent_as_providers_take_them(name: str, sent: str) -> None:
    assert sendable_name(name) == sent


DELTAS = st.one_of(
    st.builds(TextDelta, st.integers(0, 2), st.text("ab", max_size=3)),
    st.builds(ReasoningDelta, st.integers(0, 2), st.text("ab", max_size=3)),
    st.builds(ToolCallDelta, st.integers(3, 4), st.just("id"), st.just("say"), st.text("ab", max_size=3)),
    st.builds(BlockStart, st.integers(0, 4), st.just("text")),
)


@given(st.lists(DELTAS), st.sets(st.integers(0, 20)))
def test_merged_chunks_say_what_the_single_ones_said(chunks: list[Chunk], drains: set[int]) -> None:
    buffer = Buffer()
    merged: list[Chunk] = []
    for index, chunk in enumerate(chunks):
        buffer.add(chunk)
        assert buffer
        if index in drains:
            merged += buffer.drain()
            assert not buffer
    merged += buffer.drain()
    assert collected(*merged).answer() == collected(*chunks).answer()
    assert len(merged) <= len(chunks)
