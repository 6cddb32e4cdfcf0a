import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.todo.event import STATUSES, Todo
from planlog.features.todo.fold import TODOS
from planlog.features.todo.history import PLAN_HISTORY, History, Standing, difference, left_open
from planlog.features.todo.texts import CHINESE, left_open_text
from planlog.log.event import Event, read_line
from planlog.log.jsonl import read_file
from planlog.log.projection import Projection
from planlog.log.vocabulary import Vocabulary

GOLDEN = Path(__file__).parents[4] / "tests" / "golden"


def event(seq: int, name: str, data: dict[str, Any]) -> Event:
    return read_line(json.dumps({"type": name, "seq": seq, "time": 1000 * seq, "data": data}).encode())


def log_of(*told: Any) -> list[Event]:
    """A log: a list of lines such as "[x] a" is a plan that is written, a number a turn that starts, 0 one that ends."""
    events: list[Event] = []
    for seq, what in enumerate(told):
        match what:
            case list():
                events.append(event(seq, "todo/write", {"todos": [to_entry(line) for line in what]}))
            case 0:
                events.append(event(seq, "turn/end", {"turn": 1, "reason": {"kind": "completed"}}))
            case int():
                events.append(event(seq, "turn/start", {"turn": what}))
            case _:
                events.append(event(seq, what, {}))
    return events


def to_entry(line: str) -> dict[str, str]:
    status = {"[x]": "completed", "[~]": "in_progress", "[ ]": "pending"}[line[:3]]
    return {"content": line[4:], "status": status}


def lines_of(todos: Sequence[Todo]) -> list[str]:
    marks = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}
    return [f"{marks[todo.status]} {todo.content}" for todo in todos]


def test_no_plan_stands_before_one_is_written() -> None:
    assert TODOS.fold([]) is None
    assert TODOS.fold(log_of(1, "step/start")) is None


def test_the_model_writes_a_plan_and_the_next_turn_clears_it() -> None:
    assert lines_of(TODOS.fold(log_of(1, ["[~] a", "[ ] b"])) or []) == ["[~] a", "[ ] b"]
    assert lines_of(TODOS.fold(log_of(1, ["[~] a"], ["[x] a"], 0)) or []) == ["[x] a"]
    assert TODOS.fold(log_of(1, ["[x] a"], 0, 2)) is None
    assert TODOS.fold(log_of(1, ["[x] a"], [])) == []


def test_what_is_none_of_its_business_leaves_the_same_list() -> None:
    plan = TODOS.fold(log_of(1, ["[~] a"]))
    for other in log_of(0, "user/message", "tool/result", "request/header", "todo/writes", "turn/started"):
        assert TODOS.apply(plan, other) is plan
        assert PLAN_HISTORY.apply(history := History(), other) is history


def test_the_projection_says_what_it_is_to_those_who_drive_it() -> None:
    assert (TODOS.key, TODOS.state_version, TODOS.last_of) == ("todos", 2, ("todo/write", "turn/start"))
    plan = TODOS.fold(log_of(1, ["[~] a"]))
    assert TODOS.view(plan) is plan


def test_every_plan_that_stood_is_kept_with_its_turn_seq_and_time() -> None:
    lists = PLAN_HISTORY.view(PLAN_HISTORY.fold(log_of(1, ["[~] a"], "step/end", [], 0, 2, ["[ ] b"])))
    assert [(one.turn, one.seq, one.time, lines_of(one.todos)) for one in lists] == [
        (1, 1, 1000, ["[~] a"]),
        (1, 3, 3000, []),
        (2, 6, 6000, ["[ ] b"]),
    ]


@pytest.mark.parametrize(
    "before, after, expected",
    [
        ([], ["[ ] a", "[ ] b"], {"added": ["a", "b"]}),
        (["[ ] a"], [], {"removed": ["a"]}),
        (["[ ] a"], ["[~] a"], {"statusChanged": [{"content": "a", "from": "pending", "to": "in_progress"}]}),
        (["[ ] a", "[ ] b"], ["[ ] b", "[ ] a"], {"reordered": ["b"]}),
        (["[ ] a", "[ ] b", "[ ] c"], ["[ ] c", "[ ] a", "[ ] b"], {"reordered": ["c"]}),
        (["[ ] a", "[ ] b", "[ ] c"], ["[ ] b", "[ ] c", "[ ] a"], {"reordered": ["a"]}),
        (["[ ] a", "[ ] b"], ["[ ] new", "[ ] a", "[ ] b"], {"added": ["new"]}),
        (["[ ] a", "[ ] b", "[ ] c"], ["[ ] a", "[ ] c"], {"removed": ["b"]}),
        (
            ["[ ] a", "[~] b", "[ ] c"],
            ["[x] b", "[ ] a", "[ ] d"],
            {
                "added": ["d"],
                "removed": ["c"],
                "statusChanged": [{"content": "b", "from": "in_progress", "to": "completed"}],
                "reordered": ["b"],
            },
        ),
    ],
)
def test_a_difference_names_what_changed_and_nothing_else(
    before: list[str], after: list[str], expected: dict[str, Any]
) -> None:
    lists = PLAN_HISTORY.view(PLAN_HISTORY.fold(log_of(1, before, after)))
    nothing = {"added": [], "removed": [], "statusChanged": [], "reordered": []}
    assert json.loads(_encoded(lists[-1]))["diff"] == nothing | expected


def _encoded(standing: Standing) -> bytes:
    import msgspec

    return msgspec.json.encode(standing)


def test_an_unfinished_last_plan_is_remembered_when_its_turn_is_over() -> None:
    lists = PLAN_HISTORY.view(PLAN_HISTORY.fold(log_of(4, ["[x] a", "[x] b", "[~] c", "[ ] d", "[ ] e"], 0, 5)))
    last = left_open(lists)
    assert last is not None
    assert left_open_text(last) == "left open in turn 4: 2 of 5 done"
    assert left_open_text(last, CHINESE) == "第 4 轮遗留：5 项中已完成 2 项"


@pytest.mark.parametrize("last", [["[x] a"], []])
def test_a_plan_that_was_finished_or_cleared_is_not_left_open(last: list[str]) -> None:
    assert left_open(PLAN_HISTORY.view(PLAN_HISTORY.fold(log_of(1, ["[~] a"], last)))) is None
    assert left_open(()) is None


def test_logs_of_the_original_fold_to_the_plan_that_they_hold() -> None:
    for name, plan in (
        ("todo", ["[~] read the code", "[~] watch the build", '[ ] 写修复 — "quoted"']),
        ("bad", None),
        ("bash", None),
    ):
        with (GOLDEN / f"{name}.jsonl").open("rb") as lines:
            events = read_file(lines, Vocabulary()).events
        folded = TODOS.fold(events)
        assert (folded and lines_of(folded)) == plan


# --- laws

todo_lists = st.lists(
    st.builds(Todo, st.sampled_from("abcdefg"), st.sampled_from(STATUSES)),
    max_size=7,
    unique_by=lambda todo: todo.content,
)
logs = st.lists(todo_lists | st.integers(0, 9) | st.just("step/start"), max_size=12).map(
    lambda told: log_of(*([lines_of(one) if isinstance(one, list) else one for one in told]))
)


@given(logs, st.data())
@pytest.mark.parametrize("projection", [TODOS, PLAN_HISTORY], ids=["todos", "history"])
def test_a_fold_from_any_cut_equals_the_fold_from_the_start(
    projection: Projection[Any], log: list[Event], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(log)))
    assert projection.go_on(projection.fold(log[:cut]), log[cut:]) == projection.fold(log)


@given(logs)
def test_the_standing_plan_follows_from_the_last_event_of_its_types(log: list[Event]) -> None:
    last = [one for one in log if one.type in TODOS.last_of][-1:]
    assert TODOS.fold(log) == TODOS.fold(last)


@given(logs)
def test_the_history_ends_with_the_plan_that_stands(log: list[Event]) -> None:
    plan = TODOS.fold(log)
    lists = PLAN_HISTORY.view(PLAN_HISTORY.fold([one for one in log if one.type in (PLAN_HISTORY.types or ())]))
    assert len(lists) == sum(one.type == "todo/write" for one in log)
    if plan is not None:
        assert lists[-1].todos == plan


@given(todo_lists, todo_lists)
def test_a_difference_is_enough_to_make_the_next_list_of_the_one_before(before: list[Todo], after: list[Todo]) -> None:
    diff = difference(before, after)
    statuses = {todo.content: todo.status for todo in before} | {one.content: one.after for one in diff.status_changed}
    still = [todo for todo in after if todo.content not in diff.added]
    assert all(statuses[todo.content] == todo.status for todo in still)
    assert {todo.content for todo in before} - set(diff.removed) == {todo.content for todo in still}
    unmoved = [todo.content for todo in after if todo.content not in {*diff.added, *diff.reordered}]
    assert unmoved == [todo.content for todo in before if todo.content not in {*diff.removed, *diff.reordered}]
    assert difference(after, after) == difference([], [])


@given(st.permutations("abcdef"))
def test_no_fewer_items_could_be_called_moved(order: list[str]) -> None:
    from itertools import combinations

    before = [Todo(content, "pending") for content in "abcdef"]
    moved = difference(before, [Todo(content, "pending") for content in order]).reordered
    kept = next(
        size for size in range(6, 0, -1) if any(list(some) == sorted(some) for some in combinations(order, size))
    )
    assert len(moved) == 6 - kept
