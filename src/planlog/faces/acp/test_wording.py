import re
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.acp.wording import PIECE, RAW_BYTES, TEXT, bounded, bounded_text, fenced, pieces


def test_pieces_are_the_text_again_and_each_fits() -> None:
    text = "ab\0" * PIECE
    assert "".join(pieces(text)) == text
    assert max(map(len, pieces(text))) == PIECE
    assert pieces("") == []


@given(st.text("`a\n", max_size=40))
def test_a_fence_is_closed_by_nothing_in_the_text(text: str) -> None:
    first, *inside, last = fenced(text, "sh").split("\n")
    assert first == f"{last}sh"
    assert not any(line.startswith(last) for line in inside)
    assert "\n".join(inside) == text.rstrip()


def test_a_long_text_loses_its_middle_and_says_how_much() -> None:
    short = bounded_text("a" * TEXT + "b")
    assert short.startswith("aaa")
    assert short.endswith("b")
    assert "[… 1 characters are not shown here …]" in short
    assert bounded_text("a" * TEXT) == "a" * TEXT


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[])),
        lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
        max_leaves=40,
    ),
    st.sampled_from([1, 100_000]),
)
def test_whatever_a_call_was_given_can_be_told_in_one_line(value: Any, times: int) -> None:
    told = msgspec.json.encode(bounded({"value": value, "long": "x" * times, "more": ["\0" * times]}))
    assert len(told) <= RAW_BYTES * 2


def test_what_is_short_is_told_as_it_is() -> None:
    value = {"a": [1, {"b": None}], "c": "x" * 10_000}
    assert bounded(value) is value
    assert re.fullmatch(r"x{2000}…", bounded({"c": "x" * RAW_BYTES})["c"])
