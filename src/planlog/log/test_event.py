"""Facts are checked when they are made, and an event's bytes are kept as they are."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.kernel.errors import ConfigError
from planlog.log.event import EventDamaged, Replace, Violation, check_envelope, read_line
from planlog.log.lossless import NotLossless
from planlog.log.vocabulary import EventType, Vocabulary


class Note(msgspec.Struct):
    text: str
    tags: list[str] = []
    extra: Any = None


NOTE = EventType("test/note", Note, feature="test", check=lambda note: None if note.text else "a note says something")
SAID = EventType("user/message", Note, feature="test")


def test_a_fact_becomes_a_line_in_the_envelopes_order() -> None:
    fact = SAID.fact(Note("hi"), surface_op=Replace(3, 5), sources=(3, 4, 5))
    assert fact.placed(7, 1000).line == (
        b'{"type":"user/message","seq":7,"time":1000,"data":{"text":"hi","tags":[],"extra":null},'
        b'"sourceEventSeqs":[3,4,5],"surfaceOp":{"op":"replace","start":3,"end":5}}'
    )


def test_a_type_that_dsh_does_not_know_is_written_as_ignorable() -> None:
    assert NOTE.fact(Note("hi")).placed(0, 0).line.endswith(b'"ignorable":true}')


def test_a_line_reads_back_as_the_event_it_was_placed_as() -> None:
    event = SAID.fact(Note("hi"), surface_op="append").placed(7, 1000)
    assert read_line(event.line) == msgspec.structs.replace(event, view=None)


def test_a_fact_is_a_snapshot_of_what_it_was_made_from() -> None:
    tags = ["a"]
    fact = NOTE.fact(Note("hi", tags))
    tags.append("b")
    assert b'"tags":["a"]' in fact.data
    assert isinstance(fact.value, Note)
    assert fact.value.tags == ["a"]


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, -0.0, {"deep": [math.nan]}, [-0.0], {1: "x"}, {"a": {None: 1}}, {1, 2}, (1,), b"x"],
)
def test_what_has_no_exact_json_form_is_refused(value: object) -> None:
    with pytest.raises(NotLossless):
        NOTE.fact(Note("hi", extra=value))


@pytest.mark.parametrize("note", [Note(5), Note("x", ["a", 1]), Note("x", "tags")])  # type: ignore[arg-type]
def test_a_constructor_checks_nothing_but_the_factory_does(note: Note) -> None:
    with pytest.raises(Violation):
        NOTE.fact(note)


def test_a_lone_surrogate_never_reaches_a_fact() -> None:
    with pytest.raises(NotLossless):
        NOTE.fact(Note("\ud83d"))


def test_a_broken_rule_names_the_feature() -> None:
    with pytest.raises(Violation, match=r'^invariant violated by "test": a note says something$'):
        NOTE.fact(Note(""))


def test_only_surface_types_join_the_surface() -> None:
    with pytest.raises(Violation):
        NOTE.fact(Note("hi"), surface_op="append")
    with pytest.raises(Violation):
        SAID.fact(Note("hi"))
    with pytest.raises(Violation):
        NOTE.fact(Note("hi"), sources=(1,))
    with pytest.raises(EventDamaged):
        check_envelope(read_line(b'{"type":"todo/write","seq":0,"time":0,"data":{},"surfaceOp":"append"}'))
    with pytest.raises(EventDamaged):
        check_envelope(read_line(b'{"type":"user/message","seq":0,"time":0,"data":{}}'))


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"1", b'{"type":"x"}', b'{"type":"x","seq":0,"time":0,"data":{},"more":1}', b"[" * 100_000],
)
def test_what_is_not_an_envelope_is_damage_and_never_a_crash(line: bytes) -> None:
    with pytest.raises(EventDamaged):
        read_line(line)


def test_a_name_that_two_features_claim_is_refused() -> None:
    words = Vocabulary()
    with words.learn(NOTE), pytest.raises(ConfigError, match="defined twice"), words.learn(NOTE):
        pass
    assert words.get("test/note") is None


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_whatever_is_lossless_reads_back_equal(value: object) -> None:
    try:
        fact = NOTE.fact(Note("x", extra=value))
    except NotLossless:
        assert b"-0" in msgspec.json.encode(value) or _beyond_64_bits(value)
        return
    assert msgspec.json.decode(fact.data)["extra"] == value


def _beyond_64_bits(value: object) -> bool:
    if isinstance(value, int):
        return not -(2**63) <= value < 2**64
    if isinstance(value, dict):
        return any(map(_beyond_64_bits, value.values()))
    return isinstance(value, list) and any(map(_beyond_64_bits, value))
