import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.features.todo.event import STATUSES, Todo
from planlog.features.todo.summary import Summary, count, summarize, summarize_arguments
from planlog.features.todo.texts import CHINESE, ENGLISH, TEXTS, suffix_text, summary_text


def summary_of(*entries: Any) -> Summary:
    summary = summarize_arguments(json.dumps({"todos": list(entries)}))
    assert summary is not None
    return summary


def entry(content: Any, status: Any) -> dict[str, Any]:
    return {"content": content, "status": status}


ACTIVE = "in_progress"


@pytest.mark.parametrize(
    "entries, expected",
    [
        ([], Summary(0, 0, None, 0)),
        ([entry("a", "completed"), entry("b", "pending")], Summary(1, 2, None, 0)),
        ([entry("a", "completed"), entry("b", ACTIVE)], Summary(1, 2, "b", 0)),
        ([entry("a", ACTIVE), entry("b", ACTIVE), entry("c", ACTIVE)], Summary(0, 3, "a", 2)),
        # One that cannot be named is counted.
        ([entry("", ACTIVE), entry("b", ACTIVE)], Summary(0, 2, "b", 1)),
        ([entry("\u200b \x1b", ACTIVE), entry(5, ACTIVE), entry(" b ", ACTIVE)], Summary(0, 3, "b", 2)),
        ([entry(None, ACTIVE), {"status": ACTIVE}], Summary(0, 2, None, 2)),
        # Things that are no items at all still are entries of the list.
        ([None, 3, "a", [], entry("b", ["completed"]), entry("c", "done")], Summary(0, 6, None, 0)),
    ],
)
def test_a_list_in_one_line_names_the_first_active_item_and_counts_the_others(
    entries: list[Any], expected: Summary
) -> None:
    assert summary_of(*entries) == expected


@pytest.mark.parametrize("arguments", ["", "null", "[]", "{}", "todos", '"x"', "1e999", "[" * 100_000, "\ud83d"])
def test_arguments_without_a_list_have_no_summary(arguments: str) -> None:
    assert summarize_arguments(arguments) is None


@pytest.mark.parametrize("arguments", ['{"todos":null}', '{"todos":{}}', '{"todos":"[{"}', '{"todos":[{"con'])
def test_what_is_no_whole_list_has_no_summary(arguments: str) -> None:
    assert summarize_arguments(arguments) is None


def test_a_list_sent_as_a_string_is_summed_up_like_the_list() -> None:
    assert summarize_arguments(json.dumps({"todos": json.dumps([entry("a", ACTIVE)])})) == Summary(0, 1, "a", 0)


def test_the_words_in_both_languages() -> None:
    summary = Summary(2, 5, "写测试", 2)
    assert (summary_text(summary), suffix_text(summary)) == (
        "2/5 completed · 写测试",
        ("+2", "and 2 more in progress"),
    )
    assert (summary_text(summary, CHINESE), suffix_text(summary, CHINESE)) == (
        "2/5 已完成 · 写测试",
        ("+2", "另有 2 项进行中"),
    )
    assert suffix_text(Summary(0, 2, None, 2)) == ("+2", "2 in progress")
    assert suffix_text(Summary(0, 2, "a", 0)) == ("", "")
    assert summary_text(Summary(0, 0, None, 0)) == "list cleared"
    assert set(TEXTS) == {"en", "zh"}


@pytest.mark.parametrize(
    "field, english, chinese",
    [
        ("heading", "To-dos", "任务"),
        ("tasks", "{done}/{total} tasks", "{done}/{total} 个任务"),
        ("completed", "{done}/{total} completed", "{done}/{total} 已完成"),
        ("in_progress", "{n} in progress", "{n} 进行中"),
        ("pending", "{n} pending", "{n} 待处理"),
        ("title", "Update to-do list", "更新任务清单"),
    ],
)
def test_the_texts_that_were_agreed(field: str, english: str, chinese: str) -> None:
    assert (getattr(ENGLISH, field), getattr(CHINESE, field)) == (english, chinese)


@given(st.lists(st.builds(Todo, st.text(), st.sampled_from(STATUSES))))
def test_the_summary_of_a_list_agrees_with_its_counts(todos: list[Todo]) -> None:
    summary, counts = summarize(todos), count(todos)
    assert (summary.done, summary.total) == (counts.completed, len(todos))
    assert summary.others + (summary.active is not None) == counts.in_progress


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_arguments_make_it_raise(value: Any) -> None:
    for text in (json.dumps(value), json.dumps({"todos": value}), json.dumps({"todos": [value]}), str(value)):
        summarize_arguments(text)
