import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.renders import Call, Line, Row
from planlog.faces.stdio import StdioRenders
from planlog.features.todo.conftest import OpenHouse
from planlog.features.todo.event import Todo
from planlog.features.todo.fold import TODOS
from planlog.features.todo.stdio import draw_call

Items = Callable[..., list[Todo]]


def text_of(lines: Sequence[Line]) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines)


def row_of(todos: Any, **result: Any) -> Row:
    return draw_call(Call("todo_write", json.dumps({"todos": todos}), **result))


def entry(content: str, status: str) -> dict[str, str]:
    return {"content": content, "status": status}


async def test_each_written_plan_is_printed_whole(open_house: OpenHouse, items: Items) -> None:
    async with open_house() as house:
        screen = house.scope.get(StdioRenders)
        await house.begin_turn()
        await house.write(*items("[x] read the code", "[~] write the tool", "[~] watch the build", "[ ] 写测试"))
        await house.write()
        printed = [text_of(screen.event(event)) for event in await house.events()]
        assert printed == [
            "",
            "[todos]\n  [x] read the code\n  [~] write the tool\n  [~] watch the build\n  [ ] 写测试",
            "[todos] cleared",
        ]
        assert text_of(screen.view("todos", await house.session.view(TODOS))) == "[todos] cleared"
        assert screen.view("todos", None) == []


async def test_content_is_text_and_the_mark_follows_the_status_alone(open_house: OpenHouse) -> None:
    names = ["- [x] fake", "~~a~~ _b_ # c", "[bold]", "<img src=x>", "| a | b |"]
    async with open_house() as house:
        await house.begin_turn()
        await house.call({"todos": [entry(name, "pending") for name in names]})
        lines = house.scope.get(StdioRenders).event((await house.events())[-1])
        assert [line[0].text for line in lines[1:]] == ["  [ ] "] * 5
        assert [line[1].text for line in lines[1:]] == names


def test_a_call_is_one_row_with_the_others_counted_apart() -> None:
    todos = [
        entry("a", "completed"),
        entry("write it", "in_progress"),
        entry("b", "in_progress"),
        entry("c", "pending"),
    ]
    assert row_of(todos) == Row(
        "Update to-do list", "1/4 completed · write it", suffix="+1", suffix_name="and 1 more in progress"
    )
    assert row_of(todos[:2]) == Row("Update to-do list", "1/2 completed · write it")
    assert row_of([]) == Row("Update to-do list", "list cleared")


def test_a_failed_call_shows_why_and_no_count() -> None:
    todos = [entry("a", "in_progress"), entry("b", "in_progress")]
    error = "Error: invalid todos: at most one task may be in_progress, got 2\nmore"
    assert row_of(todos, result=error, is_error=True) == Row("Update to-do list", error.partition("\n")[0])
    assert row_of(todos, result=None, is_error=True) == Row("Update to-do list")


@pytest.mark.parametrize("todos", ["[]x", None, {}, 3, "not json"])
def test_arguments_of_any_shape_have_a_row(todos: Any) -> None:
    assert row_of(todos) == Row("Update to-do list")
    assert draw_call(Call("todo_write", '{"todos":[{"content":"a","st')) == Row("Update to-do list")


@given(st.text(), st.none() | st.text(), st.booleans())
def test_no_call_makes_its_row_raise(arguments: str, result: str | None, is_error: bool) -> None:
    row = draw_call(Call("todo_write", arguments, result, is_error))
    assert row.title == "Update to-do list"
    assert "\n" not in row.summary or not is_error
