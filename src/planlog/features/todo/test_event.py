import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.todo.blank import SCRIPT_SPACE
from planlog.features.todo.event import TODO_WRITE, Todo, TodosWritten
from planlog.log.event import SURFACE_TYPES, Violation, read_line
from planlog.log.lossless import NotLossless


def violation_of(data: Any) -> str | None:
    """What is said of an event on a log whose data is `data`."""
    line = json.dumps({"type": "todo/write", "seq": 3, "time": 0, "data": data}).encode()
    try:
        TODO_WRITE.check(read_line(line))
    except Violation as violation:
        return str(violation)
    return None


def of(*entries: Any) -> dict[str, Any]:
    return {"todos": list(entries)}


def entry(content: Any = "a", status: Any = "pending", **more: Any) -> dict[str, Any]:
    return {"content": content, "status": status, **more}


@pytest.mark.parametrize(
    "data, message",
    [
        ({"todos": "a"}, "todo/write todos must be an array"),
        ({"todos": None}, "todo/write todos must be an array"),
        ({"todos": entry()}, "todo/write todos must be an array"),
        ({}, "todo/write todos must be an array"),
        ([], "todo/write todos must be an array"),
        (None, "todo/write todos must be an array"),
        (of("a"), "todo/write entries must be objects"),
        (of(None), "todo/write entries must be objects"),
        (of(entry(), []), "todo/write entries must be objects"),
        (of({"status": "pending"}), "todo/write content must be non-empty and already trimmed"),
        (of(entry(5)), "todo/write content must be non-empty and already trimmed"),
        (of(entry("")), "todo/write content must be non-empty and already trimmed"),
        (of(entry("a ")), "todo/write content must be non-empty and already trimmed"),
        (of(entry("\ufeffa")), "todo/write content must be non-empty and already trimmed"),
        (of(entry("a\u2028")), "todo/write content must be non-empty and already trimmed"),
        (of(entry(), entry(status="completed")), 'todo/write repeats content "a"'),
        (of(entry('say "hi"\n.'), entry('say "hi"\n.')), r'todo/write repeats content "say \"hi\"\n."'),
        (of(entry(status="doing")), 'todo/write carries unknown status "doing"'),
        (of(entry(status="")), 'todo/write carries unknown status ""'),
        (of(entry(status=None)), 'todo/write carries unknown status "null"'),
        (of(entry(status=1)), 'todo/write carries unknown status "1"'),
        (of({"content": "a"}), 'todo/write carries unknown status "undefined"'),
        # The first entry that breaks a rule is named, and of its rules the first.
        (of(entry(status="doing"), entry("")), 'todo/write carries unknown status "doing"'),
        (of(entry(""), "a"), "todo/write content must be non-empty and already trimmed"),
    ],
)
def test_what_was_never_true_of_a_written_plan_is_refused_by_name(data: Any, message: str) -> None:
    assert violation_of(data) == f'invariant violated by "todo": {message}'


@pytest.mark.parametrize(
    "data",
    [
        of(),
        of(entry()),
        of(*(entry(str(n), "in_progress") for n in range(9))),
        of(*(entry(str(n)) for n in range(5_000))),
        of(entry("x" * 5_000)),
        of(entry("\u200b")),
        of(entry("\x1c"), entry("\u0085a")),
        of(entry("a"), entry("A"), entry("a\u200b")),
        of(entry(id=1, activeForm="doing a")) | {"note": "from elsewhere"},
    ],
    ids=["empty", "one", "nine active", "5000 items", "long", "zero width", "C0 and NEL", "nearly equal", "more keys"],
)
def test_the_log_is_silent_on_what_only_the_tool_wants(data: Any) -> None:
    assert violation_of(data) is None


def test_several_active_items_are_no_concern_of_the_log_whatever_the_setting() -> None:
    TODO_WRITE.fact(TodosWritten([Todo("a", "in_progress"), Todo("b", "in_progress")]))


@given(st.text(st.sampled_from(SCRIPT_SPACE + "\x1c\x85\u200bab")))
def test_content_is_accepted_when_javascript_would_not_trim_it(content: str) -> None:
    accepted = bool(content) and content[0] not in SCRIPT_SPACE and content[-1] not in SCRIPT_SPACE
    assert (violation_of(of(entry(content))) is None) == accepted


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("pending") | st.just("content"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "status", "todos", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_stands_on_a_log_is_read_or_refused_in_words(data: Any) -> None:
    said = violation_of(data)
    if said is None:
        assert all(todo["status"] in ("pending", "in_progress", "completed") for todo in data["todos"])
    else:
        assert said.startswith('invariant violated by "todo": todo/write ')


def test_a_fact_is_a_snapshot_of_the_callers_list() -> None:
    todos = [Todo("a", "pending")]
    fact = TODO_WRITE.fact(TodosWritten(todos))
    todos.append(Todo("b", "pending"))
    assert fact.data == b'{"todos":[{"content":"a","status":"pending"}]}'


def test_a_constructor_checks_nothing_but_the_fact_does() -> None:
    with pytest.raises(Violation, match='unknown status "doing"'):
        TODO_WRITE.fact(TodosWritten([Todo("a", "doing")]))  # type: ignore[arg-type]
    with pytest.raises(Violation, match="entries must be objects"):
        TODO_WRITE.fact(TodosWritten(["a"]))  # type: ignore[list-item]
    with pytest.raises(NotLossless):
        TODO_WRITE.fact(TodosWritten([Todo("\ud83d", "pending")]))


def test_a_plan_never_joins_what_the_model_sees() -> None:
    assert TODO_WRITE.name not in SURFACE_TYPES
    with pytest.raises(Violation, match="may not have a surfaceOp"):
        TODO_WRITE.fact(TodosWritten([]), surface_op="append")
