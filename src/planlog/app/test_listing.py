from collections.abc import Sequence
from pathlib import Path

import pytest

from planlog.app.listing import Listed, table
from planlog.faces.cli import Column
from planlog.faces.stdio.painting import cells, paint
from planlog.log.store import SessionRecord

NOW = 1_800_000_000.0
PLAN = Column("todos", "plan", "todos", lambda plan: plan)


def listed(
    id: str,
    age: float,
    title: str | None,
    plan: str | None = None,
    *,
    turns: int = 1,
    running: bool = False,
    cwd: str = "/work",
) -> Listed:
    record = SessionRecord(id, 0, cwd, b"", 0, int((NOW - age) * 1000))
    return Listed(record, title, turns, running, {"todos": plan})


SESSIONS = [
    listed("8k2mq0c4zt", 3, "Make the tests pass", "2/5 · write the tests +1", running=True, turns=3),
    listed("p0zz7d1ee8", 7_300, "给所有的函数写文档并且检查拼写", "0/1 · 写文档"),
    listed("qqqqqqqqqq", 200_000, None),
]


def shown(width: int | None, sessions: Sequence[Listed] = SESSIONS) -> str:
    lines = table(sessions, [PLAN], width, Path("/home/planlog"), NOW)
    return "\n".join(paint(line, color=False).rstrip() for line in lines)


def test_sessions_are_a_table_that_says_what_each_is_doing() -> None:
    assert (
        shown(None)
        == """\
session     active   turns  title                           plan                      folder
8k2mq0c4zt  running  3      Make the tests pass             2/5 · write the tests +1  /work
p0zz7d1ee8  2 h ago  1      给所有的函数写文档并且检查拼写  0/1 · 写文档              /work
qqqqqqqqqq  2 d ago  1      (untitled)                                                /work"""
    )


def test_a_narrow_terminal_shortens_what_is_long_and_leaves_out_what_has_no_room() -> None:
    assert (
        shown(60)
        == """\
session     active   turns  title            plan
8k2mq0c4zt  running  3      Make the tests…  2/5 · write th…
p0zz7d1ee8  2 h ago  1      给所有的函数写…  0/1 · 写文档
qqqqqqqqqq  2 d ago  1      (untitled)"""
    )
    assert (
        shown(32)
        == """\
session     title      plan
8k2mq0c4zt  Make the…  2/5 · wr…
p0zz7d1ee8  给所有的…  0/1 · 写…
qqqqqqqqqq  (untitle…"""
    )
    assert (
        shown(20)
        == """\
session     title
8k2mq0c4zt  Make th…
p0zz7d1ee8  给所有…
qqqqqqqqqq  (untitl…"""
    )


@pytest.mark.parametrize("width", [20, 30, 32, 40, 50, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(cells(line) for line in shown(width).split("\n")) <= width


def test_an_id_is_shown_as_far_as_it_takes_to_find_it() -> None:
    ids = ["session-4cea2a84", "session-4cff0000", "other"]
    first = [line.split()[0] for line in shown(None, [listed(id, 0, None) for id in ids]).split("\n")]
    assert first == ["session", "session-4ce", "session-4cf", "other"]


def test_titles_cannot_break_the_table() -> None:
    assert "evil␊␛[2Kline" in shown(None, [listed("a", 0, "evil\n\x1b[2Kline")])


def test_no_sessions_say_where_none_are_and_how_to_begin_one() -> None:
    assert shown(None, []) == "no sessions yet in /home/planlog; planlog run PROMPT begins one"


def test_a_folder_is_shortened_from_the_left() -> None:
    sessions = [listed("8k2mq0c4zt", 3, "Fix", "1/2", cwd="/home/somebody/projects/planlog")]
    assert shown(54, sessions) == (
        "session     active    turns  title  plan  folder\n8k2mq0c4zt  just now  1      Fix    1/2   …cts/planlog"
    )
