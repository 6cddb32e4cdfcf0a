import pytest

from planlog.tools.nearest import nearest

NAMES = ["bash", "edit", "glob", "grep", "job_output", "read", "subagent", "todo_write", "write"]


@pytest.mark.parametrize(
    "name",
    ["TodoWrite", "todowrite", "write_todos", " todo_write ", "functions.todo_write", "WriteTodos", "TODO_WRITE"],
)
def test_other_vendors_names_for_the_list_lead_to_todo_write(name: str) -> None:
    assert nearest(name, NAMES) == "todo_write"


@pytest.mark.parametrize("name", ["no_such_tool", "", "update_plan", "任务", "x" * 1_000_000, "\ud83d\0"])
def test_a_name_unlike_all_others_leads_nowhere(name: str) -> None:
    assert nearest(name, NAMES) is None


def test_without_tools_nothing_is_near() -> None:
    assert nearest("todo_write", []) is None


def test_a_short_name_keeps_its_own_tool() -> None:
    assert nearest("Write", NAMES) == "write"
    assert nearest("Bash", NAMES) == "bash"
