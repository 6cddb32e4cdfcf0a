from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.acp import AcpRenders
from planlog.faces.acp.translation import Translation
from planlog.faces.acp.updates import Card, PlanEntry, PlanUpdate, Update, text_item
from planlog.faces.renders import Call, Renders
from planlog.features.todo.acp import call_card, draw_plan, tell_plan
from planlog.features.todo.conftest import OpenHouse
from planlog.features.todo.event import Todo
from planlog.features.todo.fold import TODOS
from planlog.features.todo.test_fold import log_of
from planlog.kernel.errors import ConfigError
from planlog.tools.tool import Tools

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


LINES = st.lists(st.sampled_from(["[x] a", "[~] b", "[ ] c", "[ ] <d>"]), max_size=4, unique=True)
LOGS = st.lists(st.one_of(LINES, st.integers(0, 9), st.sampled_from(["todo/unknown", "other/event"])), max_size=20)


def last_plan(updates: list[Update]) -> list[PlanEntry]:
    """What a client shows that has been told these updates."""
    plans = [update.entries for update in updates if isinstance(update, PlanUpdate)]
    return list(plans[-1]) if plans else []


@given(LOGS, st.integers(0, 20))
def test_30_any_log_leads_to_the_plan_that_stands_live_loaded_and_resumed(told: list[Any], cut: int) -> None:
    renders, events = AcpRenders(), log_of(*told)

    def translation() -> Translation:
        return Translation(renders, [TODOS], Tools(), Path("/"))

    with renders.add(Renders(views={TODOS.key: draw_plan})):
        stands = last_plan(draw_plan(TODOS.view(TODOS.fold(events))))
        live = translation()
        assert last_plan([update for event in events for update in live.event(event)]) == stands
        loaded = translation()
        history = [update for event in events for update in loaded.replay(event)]
        assert not any(isinstance(update, PlanUpdate) for update in history)
        assert loaded.standing() == (draw_plan(TODOS.fold(events)) if stands else [])
        met = translation()
        met.begin_at({TODOS.key: TODOS.fold(events[:cut])}, None)
        later = [*met.standing(), *(update for event in events[cut:] for update in met.event(event))]
        assert last_plan(later) == stands
