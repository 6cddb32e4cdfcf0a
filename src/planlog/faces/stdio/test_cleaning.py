import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.stdio.cleaning import StreamCleaner, clean, clean_line, clean_typed, escape_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;pwn\x07\x1b[2K\rALL TESTS PASSED", "␛]0;pwn␇␛[2K␍ALL TESTS PASSED"),
        ("\x1b]52;c;eA==\x07", "␛]52;c;eA==␇"),
        ("\x1b]8;;http://evil\x07x\x1b]8;;\x07", "␛]8;;http://evil␇x␛]8;;␇"),
        ("\x9b2J", "‹U+009B›2J"),
        ("a\rb", "a␍b"),
        ("a\x08b\x7f", "a␈b␡"),
        ("\u202etxt.exe", "‹U+202E›txt.exe"),
        ("\u2066isolated\u2069", "‹U+2066›isolated‹U+2069›"),
        ("a\u200eb\u200fc\u061cd", "a‹U+200E›b‹U+200F›c‹U+061C›d"),
        ("one\u2028two", "one‹U+2028›two"),
        ("half \ud83d a pair", "half \ufffd a pair"),
        ("one\r\ntwo\tthree\n", "one\ntwo\tthree\n"),
        ("[bold] <img src=x> 任务 שלום é 👩‍👩‍👧", "[bold] <img src=x> 任务 שלום é 👩‍👩‍👧"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_line_stays_one_line() -> None:
    assert clean_line("one\ntwo\tthree\r\nfour") == "one␊two three␊four"


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_that_is_obeyed_is_left_in_any_text(text: str) -> None:
    cleaned = clean(text)
    assert {c for c in cleaned if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")} <= {"\n", "\t"}
    assert not {c for c in cleaned if unicodedata.bidirectional(c) in ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI")}
    assert clean(cleaned) == cleaned
    cleaned.encode()


@given(st.text(st.characters(exclude_categories=())))
def test_typed_text_keeps_its_length_and_nothing_unsafe_but_control_characters(text: str) -> None:
    shown = clean_typed(text)
    assert len(shown) == len(text)
    others = "".join(c for c in shown if unicodedata.category(c) != "Cc")
    assert clean(others) == others


@given(st.lists(st.text(st.sampled_from("ab\r\n\x1b"), max_size=4)))
def test_text_in_pieces_is_cleaned_as_if_it_had_come_whole(pieces: list[str]) -> None:
    cleaner = StreamCleaner()
    assert "".join(map(cleaner.more, pieces)) + cleaner.rest() == clean("".join(pieces))


def test_json_on_a_terminal_escapes_what_it_would_obey() -> None:
    written = json.dumps("\x9b2J \x9d0; \x7f \u202e 任 é", ensure_ascii=False).encode()
    assert escape_json(written).decode() == '"\\u009b2J \\u009d0; \\u007f \\u202e 任 é"'


@given(st.text())
def test_escaped_json_means_the_same_and_holds_nothing_that_is_obeyed(text: str) -> None:
    escaped = escape_json(json.dumps(text, ensure_ascii=False).encode()).decode()
    assert json.loads(escaped) == text
    assert clean(escaped) == escaped
