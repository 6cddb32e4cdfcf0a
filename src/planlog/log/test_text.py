from hypothesis import given
from hypothesis import strategies as st

from planlog.log.text import clean_text

any_text = st.text(st.characters(exclude_categories=[]))


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert clean_text("x \ud83d y") == "x \ufffd y"
    assert clean_text("\udc80\udc81") == "\ufffd\ufffd"
    assert clean_text("end \ud83d") == "end \ufffd"


def test_two_surrogates_that_make_a_pair_become_their_character() -> None:
    assert clean_text("\ud83d\ude00") == "😀"
    assert clean_text("\ud83d\ud83d\ude00") == "\ufffd😀"


def test_nul_becomes_a_sign_that_can_be_seen() -> None:
    assert clean_text("a\0b") == "a␀b"
    assert clean_text("ä\0\ud83d") == "ä␀\ufffd"


def test_text_that_needs_nothing_is_returned_itself() -> None:
    for text in ("", "plain", "任务 😀 \u202e", "a" * 100_000):
        assert clean_text(text) is text


@given(any_text)
def test_clean_text_can_be_written_and_stays_clean(text: str) -> None:
    clean = clean_text(text)
    clean.encode()
    assert "\0" not in clean
    assert clean_text(clean) is clean
