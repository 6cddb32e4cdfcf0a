from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.stdio import StdioRenders
from planlog.features.todo.conftest import OpenHouse
from planlog.features.todo.event import STATUSES, TODO_WRITE, Todo, TodosWritten
from planlog.features.todo.fold import TODOS
from planlog.features.todo.tool import Item, Written, check_items
from planlog.kernel.composition import ROLES, Row
from planlog.kernel.errors import ConfigError
from planlog.kernel.features import load_row
from planlog.log.event import SURFACE_TYPES, Violation
from planlog.log.projection import Projections
from planlog.log.vocabulary import Vocabulary
from planlog.tools.call import present
from planlog.tools.outcome import Outcome
from planlog.tools.schema import Violations, check_arguments
from planlog.tools.tool import ToolFailure, Tools

Items = Callable[..., list[Todo]]

BLANK = "Error: invalid todo: `content` must be a non-empty string"


def entry(content: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    return {"content": content, "status": status, **more}


def of(*entries: Any) -> dict[str, Any]:
    return {"todos": list(entries)}


def checked(*made: Item, parallel: bool = True) -> Written | str:
    """What the tool makes of a list, or the error that the model reads."""
    try:
        return check_items(list(made), allow_parallel_in_progress=parallel)
    except ToolFailure as failure:
        return f"Error: {failure}"


# --- writing


async def test_the_model_writes_a_plan_and_it_stands(open_house: OpenHouse, items: Items) -> None:
    async with open_house() as house:
        await house.begin_turn()
        outcome = await house.write(*items("[x] read", "[~] write", "[~] watch", "[ ] check"))
        assert outcome.text == "Updated todo list: 1 pending, 2 in progress, 1 completed."
        assert not outcome.is_error
        assert msgspec.to_builtins(outcome.value)["counts"] == {"pending": 1, "inProgress": 2, "completed": 1}
        assert await house.session.view(TODOS) == items("[x] read", "[~] write", "[~] watch", "[ ] check")


async def test_a_second_call_replaces_the_first(open_house: OpenHouse, items: Items) -> None:
    async with open_house() as house:
        await house.begin_turn()
        await house.write(*items("[~] a", "[ ] b", "[ ] c"))
        await house.write(*items("[~] b"))
        assert await house.session.view(TODOS) == items("[~] b")
        assert [len(data["todos"]) for data in await house.written()] == [3, 1]


async def test_an_empty_list_clears(open_house: OpenHouse, items: Items) -> None:
    async with open_house() as house:
        await house.begin_turn()
        await house.write(*items("[x] a"))
        outcome = await house.write()
        assert outcome.text == "Updated todo list: 0 pending, 0 in progress, 0 completed."
        assert await house.session.view(TODOS) == []


async def test_what_is_written_is_trimmed_and_never_joins_the_surface(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await house.begin_turn()
        outcome = await house.call(of(entry("\ufeff a\u0085\n", "pending")))
        assert await house.written() == [of(entry("a"))]
        assert outcome.value.todos == [Todo("a", "pending")]
        assert [event.surface_op for event in await house.events()] == [None, None]
        assert TODO_WRITE.name not in SURFACE_TYPES


async def test_any_list_may_follow_any_other(open_house: OpenHouse, items: Items) -> None:
    async with open_house() as house:
        await house.begin_turn()
        for plan in (
            items("[~] a"),
            items("[x] a"),
            items("[ ] a"),
            [],
            items("[ ] b", "[x] c", "[~] a"),
            items("[~] b"),
        ):
            assert not (await house.write(*plan)).is_error
            assert await house.session.view(TODOS) == plan


# --- refusals


async def refused(house: Any, arguments: object, *, owned: bool = True) -> Outcome:
    """Calls the tool, which must refuse: no fact is written, the plan stays as it is."""
    before, plan = await house.events(), await house.session.view(TODOS)
    outcome = await house.call(arguments, owned=owned)
    assert outcome.is_error
    assert await house.events() == before
    assert await house.session.view(TODOS) is plan
    return outcome


@pytest.mark.parametrize(
    "todos, text",
    [
        ([entry("")], BLANK),
        ([entry("a"), entry(" \n\t")], BLANK),
        ([entry("\u200b")], BLANK),
        ([entry("\ufeff")], BLANK),
        ([entry("\u0085")], BLANK),
        ([entry("\x1c\x1f")], BLANK),
        ([entry("a"), entry("b"), entry(" a ")], 'Error: invalid todos: duplicate content "a"'),
        ([entry('"q"\n\\'), entry('"q"\n\\')], r'Error: invalid todos: duplicate content "\"q\"\n\\"'),
        ([entry("修复"), entry("修复")], 'Error: invalid todos: duplicate content "修复"'),
        # Item by item: the first item that is wrong is named.
        ([entry("a"), entry("a"), entry("")], 'Error: invalid todos: duplicate content "a"'),
        ([entry("a"), entry(""), entry("a")], BLANK),
        ([entry(str(n)) for n in range(201)], "Error: invalid todos: at most 200 items, got 201"),
        (
            [entry("a"), entry("x" * 1001)],
            "Error: invalid todo: content longer than 1000 characters (item 1)",
        ),
        # The limits come before everything else.
        ([entry("")] * 201, "Error: invalid todos: at most 200 items, got 201"),
        ([entry(""), entry("x" * 1001)], "Error: invalid todo: content longer than 1000 characters (item 1)"),
    ],
)
async def test_a_list_that_is_no_plan_is_refused_in_these_words(
    open_house: OpenHouse, items: Items, todos: list[Any], text: str
) -> None:
    async with open_house() as house:
        await house.begin_turn()
        await house.write(*items("[~] stands"))
        outcome = await refused(house, of(*todos))
        assert outcome.text == text
        assert outcome.error is None


async def test_one_at_a_time_refuses_several_active_items_and_says_how_many(
    open_house: OpenHouse, items: Items
) -> None:
    three = of(entry("a", "in_progress"), entry("b", "in_progress"), entry("c", "in_progress"))
    async with open_house(parallel=False) as house:
        await house.begin_turn()
        outcome = await refused(house, three)
        assert outcome.text == "Error: invalid todos: at most one task may be in_progress, got 3"
        assert outcome.error is None
        assert not (await house.write(*items("[~] a", "[ ] b"))).is_error
    async with open_house(parallel=True) as house:
        await house.begin_turn()
        assert (await house.call(three)).text == "Updated todo list: 0 pending, 3 in progress, 0 completed."


async def test_without_an_agent_there_is_nowhere_to_write(open_house: OpenHouse) -> None:
    async with open_house(parallel=False) as house:
        await house.begin_turn()
        outcome = await refused(house, of(entry("a")), owned=False)
        assert outcome.text == "Error: todo_write requires an owning agent session"
        assert outcome.error is None
        # It is the last thing that is looked at.
        assert (await refused(house, of(entry("")), owned=False)).text == BLANK
        two = of(entry("a", "in_progress"), entry("b", "in_progress"))
        assert "at most one task" in (await refused(house, two, owned=False)).text


async def test_a_plan_outside_a_turn_is_refused_by_the_log(open_house: OpenHouse) -> None:
    async with open_house() as house:
        text = "todo/write appended outside any open turn (core execution events must be turn-enclosed)"
        assert (await house.call(of(entry("a")))).text == f'Error: invariant violated by "todo": {text}'
        with pytest.raises(Violation, match="outside any open turn"):
            await house.session.append(TODO_WRITE.fact(TodosWritten([])))
        assert await house.events() == []


@pytest.mark.parametrize(
    "arguments, violations",
    [
        ("", 'missing required property "todos"'),
        ("{}", 'missing required property "todos"'),
        ("[]", '"arguments" must be an object'),
        ("todos", '"arguments" must be an object'),
        ({"todos": None}, '"todos" must be an array'),
        ({"todos": entry("a")}, '"todos" must be an array'),
        ({"todos": "not json"}, '"todos" must be an array'),
        ({"todos": "[{'content': 'a', 'status': 'pending'}]"}, '"todos" must be an array'),
        ({"todos": "__import__('os').system('false')"}, '"todos" must be an array'),
        ({"todos": '"[]"'}, '"todos" must be an array'),
        (of("write tests", "ship"), '"todos[0]" must be an object; "todos[1]" must be an object'),
        (of(entry("b"), None, 3, []), '"todos[1]" must be an object; "todos[2]" must be an object; "todos[3]" must be an object'),
        (of({"content": "a"}), 'missing required property "todos[0].status"'),
        (of({"id": "1", "status": "completed"}),
         'missing required property "todos[0].content"; "todos[0].id" is not a declared property (additionalProperties: false)'),
        (of(entry("a"), entry("b", "failed")), '"todos[1].status" must be one of ["pending","in_progress","completed"]'),
        (of(entry("a", id=1)), '"todos[0].id" is not a declared property (additionalProperties: false)'),
        (of(entry("a")) | {"merge": True}, '"merge" is not a declared property (additionalProperties: false)'),
        (of({"content": 5, "status": "pending"}), '"todos[0].content" must be a string'),
        ('{"todos":[{"content":"a\nb","status":"pending"}]}', '"arguments" must be an object'),
        ('{"todos":[{"content":"a","status":"pending"}], x":1}', '"arguments" must be an object'),
        ('{"todos":[{"content":"A","status":"completed"},{"content":"B","st', '"arguments" must be an object'),
        # All that is wrong at once, in walk order.
        (of(entry("a", "doing"), entry("a", id=1)),
         ('"todos[0].status" must be one of ["pending","in_progress","completed"]; '
          '"todos[1].id" is not a declared property (additionalProperties: false)')),
    ],
)  # fmt: skip
async def test_arguments_of_another_shape_are_refused_whole(
    open_house: OpenHouse, items: Items, arguments: object, violations: str
) -> None:
    async with open_house() as house:
        await house.begin_turn()
        await house.write(*items("[~] stands"))
        outcome = await refused(house, arguments)
        assert outcome.text == f"Error: invalid arguments: {violations}"
        assert outcome.error == {"name": "ToolArgsError", "code": "INVALID_ARGS"}


@pytest.mark.parametrize(
    "status",
    ["done", "complete", "Completed", "in-progress", "IN_PROGRESS", " pending ", "cancelled", "", None, 1, True, []],
)
async def test_no_other_word_for_a_status_is_guessed(open_house: OpenHouse, status: object) -> None:
    async with open_house() as house:
        await house.begin_turn()
        outcome = await refused(house, of({"content": "Buy milk", "status": status}))
        assert outcome.text.endswith('"todos[0].status" must be one of ["pending","in_progress","completed"]')


async def test_a_list_sent_as_a_string_of_json_is_read_once(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await house.begin_turn()
        text = msgspec.json.encode([entry("a")]).decode()
        await house.call({"todos": text})
        assert await house.written() == [of(entry("a"))]
        twice = await refused(house, {"todos": msgspec.json.encode(text).decode()})
        assert twice.text == 'Error: invalid arguments: "todos" must be an array'


async def test_items_with_nearly_the_same_content_are_all_kept(open_house: OpenHouse) -> None:
    async with open_house() as house:
        await house.begin_turn()
        nearly = of(entry("x"), entry("X"), entry("x\u200b"), entry("x."))
        await house.call(nearly)
        assert await house.written() == [nearly]


def test_the_limits_themselves_are_allowed() -> None:
    assert isinstance(checked(*(Item(str(n), "pending") for n in range(200))), Written)
    assert isinstance(checked(Item("x" * 1000, "pending")), Written)


# --- laws


contents = st.text(st.sampled_from(" \t\u0085\ufeff\u200b\x1c\u2028abc修~")) | st.text(max_size=5)
some_items = st.lists(st.builds(Item, contents, st.sampled_from(STATUSES)), max_size=6)


@given(some_items, st.booleans())
def test_whatever_the_tool_accepts_the_log_accepts(made: list[Item], parallel: bool) -> None:
    written = checked(*made, parallel=parallel)
    if isinstance(written, Written):
        fact = TODO_WRITE.fact(TodosWritten(written.todos))
        assert fact.value == TodosWritten(written.todos)
        assert len(written.todos) == len(made)
        assert [todo.status for todo in written.todos] == [item.status for item in made]
        counts = written.counts
        assert counts.pending + counts.in_progress + counts.completed == len(made)


@given(some_items, st.booleans())
def test_the_rules_by_column_are_the_rules_item_by_item(made: list[Item], parallel: bool) -> None:
    assert checked(*made, parallel=parallel) == plainly_checked(made, parallel)


def plainly_checked(made: Sequence[Item], parallel: bool) -> Written | str:
    """The contract's order of `execute`, spelled out."""
    from planlog.features.todo.blank import TOOL_SPACE, find_visible
    from planlog.features.todo.summary import count

    todos: list[Todo] = []
    for item in made:
        content = item.content.strip(TOOL_SPACE)
        if not find_visible(content):
            return BLANK
        if content in [todo.content for todo in todos]:
            return f"Error: invalid todos: duplicate content {msgspec.json.encode(content).decode()}"
        todos.append(Todo(content, item.status))
    active = count(todos).in_progress
    if active > 1 and not parallel:
        return f"Error: invalid todos: at most one task may be in_progress, got {active}"
    return Written(todos, count(todos))


@given(st.text())
def test_no_argument_text_makes_the_tool_raise(raw: str) -> None:
    from planlog.features.todo.tool import TodoWrite

    assert isinstance(check_arguments(TodoWrite, raw), (TodoWrite, Violations))


# --- in the house


async def test_a_call_is_presented_with_its_list_as_text_too(open_house: OpenHouse) -> None:
    async with open_house() as house:
        raw = msgspec.json.encode(of(entry("a", "completed"), entry("b", "in_progress"), entry("c"))).decode()
        shown = msgspec.to_builtins(present(house.scope.get(Tools), "todo_write", raw))
        assert shown == {
            "card": "generic",
            "title": "Update todo list",
            "kind": "think",
            "rawInput": [entry("a", "completed"), entry("b", "in_progress"), entry("c")],
            "text": "[x] a\n[~] b\n[ ] c",
        }


async def test_the_tool_works_without_projections_and_without_a_face(open_house: OpenHouse, items: Items) -> None:
    async with open_house(roles=("event", "tool")) as house:
        assert list(house.scope.get(Projections)) == []
        await house.begin_turn()
        assert not (await house.write(*items("[~] a"))).is_error
        assert await house.written() == [of(entry("a", "in_progress"))]


async def test_the_feature_leaves_no_trace_and_comes_back_to_its_plan(open_house: OpenHouse, items: Items) -> None:
    async with open_house() as house:
        scope = house.scope
        tools, projections, screen = scope.get(Tools), scope.get(Projections), scope.get(StdioRenders)
        await house.begin_turn()
        await house.write(*items("[~] a"))
        told = msgspec.json.encode(tools.definitions())
        for mount in house.mounts:
            scope.remove(mount.id)
        await scope.settled()
        assert tools.names() == []
        assert list(projections) == []
        assert scope.get(Vocabulary).get("todo/write") is None
        assert screen.view("todos", items("[~] a")) == []
        gone = await house.write(*items("[~] b"))
        assert gone.error == {"name": "UnknownToolError", "code": "UNKNOWN_TOOL"}
        for mount in house.mounts:
            scope.add(mount)
        await scope.ready()
        assert msgspec.json.encode(tools.definitions()) == told
        assert {projection.key for projection in projections} == {"todos", "planHistory"}
        assert await house.session.view(TODOS) == items("[~] a")
        assert not (await house.write(*items("[x] a"))).is_error


@pytest.mark.parametrize(
    "settings, complaint",
    [
        ({}, 'todo: setting "allow_parallel_in_progress" is required: true or false'),
        (
            {"allow_parallel_in_progress": 1},
            'todo: setting "allow_parallel_in_progress" must be true or false, got 1',
        ),
        (
            {"allow_parallel_in_progress": True, "limit": 3},
            'todo: unknown setting "limit"; it knows: allow_parallel_in_progress',
        ),
    ],
)
def test_a_composition_has_to_say_whether_work_may_run_in_parallel(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        load_row(Row("todo", "planlog.features.todo", settings), ("event", "tool"), ROLES)
    assert str(refusal.value) == complaint
