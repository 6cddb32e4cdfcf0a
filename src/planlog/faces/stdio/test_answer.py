from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.stdio.answer import Answer
from planlog.model.model import ReasoningDelta, TextDelta


def text(said: str) -> TextDelta:
    return TextDelta(0, said)


def test_live_text_is_printed_at_once_and_the_message_adds_nothing() -> None:
    answer = Answer()
    assert [answer.live(0, text("Hel")), answer.live(3, text("lo"))] == ["Hel", "lo"]
    assert answer.logged(text("Hello")) == ""
    assert answer.whole("Hello") == ""


def test_thinking_counts_as_heard_and_is_not_printed() -> None:
    answer = Answer()
    assert answer.live(0, ReasoningDelta(0, "Hm. ")) == ""
    assert answer.live(4, TextDelta(1, "Yes")) == "Yes"
    assert answer.logged(ReasoningDelta(0, "Hm. ")) == ""
    assert answer.logged(TextDelta(1, "Yes!")) == "!"


def test_a_delta_after_a_gap_waits_for_the_log() -> None:
    answer = Answer()
    assert answer.live(5, text("world")) == ""
    assert answer.logged(text("hello world")) == "hello world"
    assert answer.whole("hello world, bye") == ", bye"


def test_a_message_that_differs_from_what_was_printed_is_printed_whole() -> None:
    answer = Answer()
    answer.live(0, text("Helo"))
    assert answer.whole("Hello") == "\nHello"


def test_a_model_that_starts_again_prints_only_what_is_new() -> None:
    answer = Answer()
    assert answer.live(0, text("one two")) == "one two"
    answer.start_again()
    assert answer.live(7, text("one ")) == ""
    assert answer.live(11, text("two three")) == " three"
    assert answer.live(20, text(" four")) == " four"
    assert answer.whole("one two three four") == ""


def test_a_model_that_starts_again_with_other_words_prints_them_on_a_new_line() -> None:
    answer = Answer()
    answer.live(0, text("one two"))
    answer.start_again()
    assert [answer.live(7, text("one t")), answer.live(12, text("hree"))] == ["", "\none three"]


@given(st.lists(st.text("ab", min_size=1, max_size=5), max_size=8), st.data())
def test_whatever_is_lost_or_late_the_whole_text_is_printed_once(pieces: list[str], data: st.DataObject) -> None:
    answer, printed, offset, logged = Answer(), "", 0, 0
    whole = "".join(pieces)
    for piece in pieces:
        if data.draw(st.booleans(), label="the live delta arrives"):
            printed += answer.live(offset, text(piece))
        offset += len(piece)
        if data.draw(st.booleans(), label="what has come is logged"):
            printed += answer.logged(text(whole[logged:offset]))
            logged = offset
    assert printed + answer.whole(whole) == whole
