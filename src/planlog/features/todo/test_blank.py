import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.todo.blank import SCRIPT_SPACE, TOOL_SPACE, find_visible

EVERYTHING = [chr(code) for code in range(0x110000)]


def test_the_log_is_trimmed_as_javascript_trims() -> None:
    # ECMAScript: WhiteSpace (TAB, VT, FF, U+FEFF, every Zs) and LineTerminator (LF, CR, U+2028, U+2029).
    named = {"\t", "\v", "\f", "\ufeff", "\n", "\r", "\u2028", "\u2029"}
    assert set(SCRIPT_SPACE) == named | {c for c in EVERYTHING if unicodedata.category(c) == "Zs"}
    assert not set(SCRIPT_SPACE) & set("\u0085\u001c\u001d\u001e\u001f\u200b\u180e")


def test_the_tool_trims_what_unicode_calls_white_space_and_the_byte_order_mark() -> None:
    # Python's own isspace() also holds U+001C to U+001F, which have no White_Space property.
    assert set(TOOL_SPACE) == {c for c in EVERYTHING if c.isspace()} - set("\x1c\x1d\x1e\x1f") | {"\ufeff"}


@given(st.text(st.sampled_from(TOOL_SPACE + "\x1c\x1f\u200ba")))
def test_what_the_tool_trimmed_is_trimmed_for_the_log(text: str) -> None:
    trimmed = text.strip(TOOL_SPACE)
    assert trimmed.strip(SCRIPT_SPACE) == trimmed


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "\u200b",  # zero width space
        "\u200d\u2060\ufeff",  # joiners
        "\ufe0f",  # a variation selector with nothing to vary
        "\u202e\u2066\u200f",  # bidi marks
        "\u00ad",  # soft hyphen
        "\u115f\u3164\uffa0",  # Hangul fillers
        "\U000e0061\U000e007f",  # tags
        "\x1b\x07\x7f\x9b",  # control characters: faces show a sign in their place, but no word is there
        "\u2800",  # the Braille pattern without dots
    ],
)
def test_nothing_is_visible_in_what_no_reader_sees(text: str) -> None:
    assert not find_visible(text)


@pytest.mark.parametrize(
    "text", ["a", "~", "\u200bx", "修", "👩‍👩‍👧", "⚙️", "é", "…", "\u0301", "\ufffd", "␀", "\ufffc"]
)
def test_one_visible_character_is_enough(text: str) -> None:
    assert find_visible(text)


def test_controls_and_spaces_are_never_visible_and_letters_nearly_always() -> None:
    unseen = {c for c in EVERYTHING if not find_visible(c)}
    assert {c for c in EVERYTHING if unicodedata.category(c) in ("Cc", "Zs", "Zl", "Zp")} <= unseen
    letters = {c for c in unseen if unicodedata.category(c)[0] in "LNPS"}
    assert letters == set("\u115f\u1160\u3164\uffa0\u2800")
