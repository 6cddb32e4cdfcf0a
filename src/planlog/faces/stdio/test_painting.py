import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import width

from planlog.faces.renders import Row, Span
from planlog.faces.stdio.painting import can_move, cells, lay_out, paint, shorten, wants_color

MARK = Span("✓", "good")


@pytest.mark.parametrize(
    ("is_terminal", "env", "color"),
    [
        (True, {"TERM": "xterm"}, True),
        (False, {"TERM": "xterm"}, False),
        (False, {"TERM": "xterm", "CI": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {}, False),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": ""}, False),
        (True, {"TERM": "xterm", "FORCE_COLOR": "0"}, False),
        (True, {"TERM": "xterm", "FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_a_stream_is_coloured_when_it_and_its_person_want_that(
    is_terminal: bool, env: dict[str, str], color: bool
) -> None:
    assert wants_color(is_terminal, env) == color


def test_a_cursor_moves_only_on_a_terminal_that_is_not_dumb() -> None:
    assert can_move(True, {"TERM": "xterm", "NO_COLOR": "1"})
    assert not can_move(True, {"TERM": "dumb", "FORCE_COLOR": "1"})
    assert not can_move(False, {"TERM": "xterm", "FORCE_COLOR": "1"})


def test_colour_is_around_the_text_and_never_in_it() -> None:
    line = (Span("done ", "good"), Span("\x1b[31mred"), Span("", "bad"))
    assert paint(line, color=True) == "\x1b[32mdone \x1b[0m␛[31mred"
    assert paint(line, color=False) == "done ␛[31mred"


def test_a_row_shortens_its_summary_and_keeps_its_suffix() -> None:
    row = Row("Update to-do list", "2/5 completed · 写测试并且运行所有的测试", "+2")
    shown = {width: paint(lay_out(row, MARK, width)[0], color=False) for width in (80, 50, 40, 20)}
    assert shown == {
        80: "✓ Update to-do list  2/5 completed · 写测试并且运行所有的测试 +2",
        50: "✓ Update to-do list  2/5 completed · 写测试并… +2",
        40: "✓ Update to-do list  2/5 completed ·… +2",
        20: "✓ Update to-do l… +2",
    }


def test_a_long_title_leaves_room_for_how_it_ended() -> None:
    row = Row("$ for file in *; do cat $file; done; exit 3", "exit code 3")
    assert [paint(lay_out(row, MARK, width)[0], color=False) for width in (40, 20)] == [
        "✓ $ for file in *; do cat…  exit code 3",
        "✓ $ for file in *;…",
    ]


def test_a_row_without_a_terminal_is_bounded_all_the_same() -> None:
    [line] = lay_out(Row("write", "x" * 1_000_000), MARK, None)
    assert cells(paint(line, color=False)) == 200


def test_a_body_stands_below_its_row() -> None:
    row = Row("bash", "ls", body=((Span("a.txt"),), (Span("b.txt"),)))
    assert [paint(line, color=False) for line in lay_out(row, MARK, 40)] == ["✓ bash  ls", "  a.txt", "  b.txt"]


@given(st.text(st.sampled_from("ab 任务👩‍👧é…"), max_size=30), st.integers(0, 40))
def test_shortened_text_never_takes_more_room_than_there_is(text: str, room: int) -> None:
    short = shorten(text, room)
    assert width(short) <= room or short == ""
    assert short == text or width(text) > room


def test_a_line_of_the_body_has_two_rows_of_a_window_and_no_end_in_a_pipe() -> None:
    row = Row("title", body=((Span("宽" * 30), Span("x" * 100, "good")), (Span("short"),)))
    mark = Span("✓")
    assert [cells(paint(line, False)) for line in lay_out(row, mark, 40)] == [7, 79, 7]
    assert paint(lay_out(row, mark, 40)[1], False).endswith("x…")
    assert paint(lay_out(row, mark, None)[1], False) == f"  {'宽' * 30}{'x' * 100}"


def test_what_is_long_is_looked_at_no_further_than_a_row_goes() -> None:
    row = Row("t" * 10_000_000, "s" * 10_000_000, body=((Span("b" * 10_000_000),),))
    first, body = lay_out(row, Span("✓"), 80)
    assert (cells(paint(first, False)), cells(paint(body, False))) == (80, 159)
