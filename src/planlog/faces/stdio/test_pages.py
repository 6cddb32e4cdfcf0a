"""What is cut for a window stands in it, row for row, and nothing is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.acceptance.grid import Grid

from planlog.faces.renders import Line, Span
from planlog.faces.stdio.pages import Window, cut_page, rows_of, usable
from planlog.faces.stdio.painting import paint


def lines(text: str) -> list[Line]:
    return [(Span(line),) for line in text.split("\n")]


def text(page: list[Line]) -> str:
    return "\n".join(paint(line, color=False) for line in page)


def pages(asked: list[Line], window: Window, encoding: str = "utf-8") -> list[str]:
    found: list[str] = []
    while asked:
        page, asked = cut_page(asked, window, encoding)
        found.append(text(page))
    return found


def test_a_line_that_is_broken_counts_as_its_rows_and_goes_on_on_the_next_page() -> None:
    assert pages(lines("short\n" + "x" * 25 + "\nend"), Window(10, 2)) == ["short\n" + "x" * 10, "x" * 15, "end"]
    assert pages(lines("x" * 10 + "\n" + "y" * 10), Window(10, 2)) == ["x" * 10 + "\n" + "y" * 10]
    assert pages(lines("\n\nend"), Window(10, 2)) == ["\n", "end"]


def test_wide_characters_and_what_a_terminal_would_obey_take_their_cells() -> None:
    assert pages(lines("修复修复修"), Window(5, 1)) == ["修复", "修复", "修"]
    assert pages(lines("a\x1b[2K\u202eb"), Window(5, 1)) == ["a␛[2K", "‹U+20", "2E›b"]
    assert pages(lines("a\tbc"), Window(8, 1)) == ["a\tb", "c"]


def test_what_the_terminal_cannot_say_is_spelled_out_before_it_is_measured() -> None:
    assert pages(lines("é修"), Window(5, 1), "ascii") == ["\\xe9\\", "u4fee"]


def test_a_line_without_end_is_looked_at_no_further_than_the_page_needs() -> None:
    asked = lines("\x1b" * 100_000)
    page, [rest] = cut_page(asked, Window(10, 2))
    assert text(page) == "␛" * 20
    assert sum(span.text.count("\x1b") for span in rest) > 99_000
    marks = "a" + "\u0301" * 1000
    assert "".join(pages(lines(marks), Window(10, 2))) == marks


def test_a_line_keeps_its_colours_on_both_sides_of_a_cut() -> None:
    line = (Span("ab", "bad"), Span("cdef", "good"))
    page, rest = cut_page([line], Window(3, 1))
    assert page == [(Span("ab", "bad"), Span("c", "good"))]
    assert rest == [(Span("def", "good"),)]


@pytest.mark.parametrize(("columns", "rows", "window"), [(100, 30, (100, 30)), (1, 1, (20, 10)), (300, 2, (300, 10))])
def test_a_window_that_shows_nothing_as_it_is_counts_as_a_larger_one(
    columns: int, rows: int, window: tuple[int, int]
) -> None:
    assert usable(columns, rows) == window


@given(
    st.text(st.sampled_from("ab 修\u0301\t\n\x1b\u202e"), max_size=200),
    st.integers(3, 12),
    st.integers(1, 5),
)
def test_each_page_stands_in_its_window_and_together_they_are_all(asked: str, columns: int, rows: int) -> None:
    found = pages(lines(asked), Window(columns, rows))
    whole = text(lines(asked))
    assert "".join(found).replace("\n", "") == whole.replace("\n", "")
    for page in found:
        assert sum(rows_of(line, columns) for line in page.split("\n")) <= rows
        if "\t" not in page:
            grid = Grid(columns, rows)
            grid.feed(page.replace("\n", "\r\n"))
            assert grid.gone == []
