import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.stdio.painting import cells
from planlog.faces.stdio.unfinished import Unfinished

TEXT = st.text(st.sampled_from("ab \n\t修é👍\u0301\u200d"), max_size=60)


def test_a_row_that_grows_is_kept_back_until_it_is_full() -> None:
    row = Unfinished()
    assert row.more("Hello", 10) == ""
    assert row.rest == "Hello"
    assert row.more(", this is long", 10) == "Hello, thi \r"
    assert row.rest == "s is long"
    assert row.more("\nand", 10) == "s is long\n"
    assert row.rest == "and"


def test_a_full_row_waits_too_for_the_next_may_be_empty() -> None:
    row = Unfinished()
    assert row.more("0123456789", 10) == ""
    assert row.more("\n", 10) == "0123456789\n"


@pytest.mark.parametrize(
    ("text", "above", "rest"),
    [
        ("修复登录问题", "修复 \r登录 \r", "问题"),
        ("a修复登录", "a修  \r复登 \r", "录"),
        ("ab\tcdefg", "ab\tc\n", "defg"),
        ("👍👍👍", "👍👍\n", "👍"),
        ("e\u0301" * 5, "e\u0301" * 4 + "\n", "e\u0301"),
    ],
)
def test_rows_are_full_by_cells_and_never_break_a_character(text: str, above: str, rest: str) -> None:
    row = Unfinished()
    assert row.more(text, 4) == above
    assert row.rest == rest


@given(st.lists(TEXT, max_size=8), st.integers(1, 20))
def test_nothing_is_lost_and_no_row_is_wider_than_the_terminal(pieces: list[str], width: int) -> None:
    row = Unfinished()
    above = "".join(row.more(piece, width) for piece in pieces)
    said = "".join(pieces)
    shown = above + row.rest

    def bare(text: str) -> str:
        return text.replace("\n", "").replace("\r", "").replace(" ", "")

    assert bare(shown) == bare(said)
    assert cells(row.rest.replace("\t", "")) <= max(width, 2)
