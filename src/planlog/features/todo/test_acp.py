import pytest

from planlog.faces.acp.updates import Card, PlanEntry, PlanUpdate, text_item
from planlog.faces.renders import Call
from planlog.features.todo.acp import call_card, draw_plan, tell_plan
from planlog.features.todo.conftest import OpenHouse
from planlog.features.todo.event import Todo
from planlog.kernel.errors import ConfigError

BOTH = [Todo("dig\x1b[31m", "completed"), Todo("<b>*plant*</b>", "in_progress")]
ARGUMENTS = '{"todos":[{"content":"dig","status":"completed"},{"content":"```","status":"pending"}]}'


def test_a_plan_is_told_as_it_stands_with_everything_at_medium_priority() -> None:
    assert draw_plan(BOTH) == [
        PlanUpdate((PlanEntry("dig\x1b[31m", "completed"), PlanEntry("<b>*plant*</b>", "in_progress")))
    ]
    assert draw_plan(None) == draw_plan([]) == [PlanUpdate(())]


def test_a_call_keeps_its_list_as_text_for_clients_without_plans() -> None:
    shown = Card((text_item("````\n[x] dig\n[ ] ```\n````"),))
    assert call_card(Call("todo_write", ARGUMENTS)) == shown
    assert call_card(Call("todo_write", ARGUMENTS, "Updated todo list: …")) == shown
    assert call_card(Call("todo_write", '{"todos":[]}')) == Card((text_item("The list is cleared."),))


def test_a_call_that_failed_shows_no_list() -> None:
    assert call_card(Call("todo_write", ARGUMENTS, "Error: invalid todos", True)) == Card()
    assert call_card(Call("todo_write", '{"todos":7}')) == Card()


async def test_the_command_tells_the_plan_that_stands_and_what_was_left_open(open_house: OpenHouse) -> None:
    async with open_house() as house:
        assert await tell_plan(house.session, "history") == "No plan was ever written in this session."
        assert "no plan stands" in await tell_plan(house.session, "")
        await house.begin_turn()
        await house.write(Todo("dig", "completed"), Todo("plant", "pending"))
        assert await tell_plan(house.session, "") == "```\n[todos]\n  [x] dig\n  [ ] plant\n```"
        await house.end_turn()
        await house.begin_turn()
        said = await tell_plan(house.session, "")
        assert "no plan stands" in said
        assert "left open in turn 1: 1 of 2 done" in said
        assert "+ [x] dig" in await tell_plan(house.session, "history")


async def test_the_command_takes_one_word_only(open_house: OpenHouse) -> None:
    async with open_house() as house:
        with pytest.raises(ConfigError, match="/plan history"):
            await tell_plan(house.session, "all of it")
