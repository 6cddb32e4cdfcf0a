"""What the model is told of the tool, word for word, under both settings.

After a wanted change: python src/planlog/features/todo/test_schemas.py
"""

import json
from pathlib import Path
from typing import Any

import pytest
import quicktok

from planlog.faces.renders import Call
from planlog.features.todo import TOOL_NAME
from planlog.features.todo.event import STATUSES
from planlog.features.todo.lines import MARKS, STYLES
from planlog.features.todo.stdio import RENDERS
from planlog.features.todo.summary import Counts
from planlog.features.todo.tool import ONE_AT_A_TIME, SEVERAL_AT_ONCE, Written, render_written, todo_write

EXPECTED = Path(__file__).with_name("tool-schemas.expected.json")
BOTH = (True, False)


def definition(parallel: bool) -> dict[str, Any]:
    return todo_write(allow_parallel_in_progress=parallel).definition()


def told() -> str:
    header = {f"allow_parallel_in_progress = {str(parallel).lower()}": [definition(parallel)] for parallel in BOTH}
    return json.dumps(header, indent=2, ensure_ascii=False) + "\n"


def tokens(text: str) -> int:
    return len(quicktok.get_encoding("o200k_base").encode(text))


def minified(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def test_the_model_is_told_what_was_agreed() -> None:
    assert told() == EXPECTED.read_text()


def test_only_one_sentence_follows_the_setting() -> None:
    several, one = definition(True), definition(False)
    assert several.pop("description").replace(SEVERAL_AT_ONCE, ONE_AT_A_TIME) == one.pop("description")
    assert several == one


@pytest.mark.parametrize("parallel", BOTH)
def test_the_tool_costs_each_request_at_most_200_tokens(parallel: bool) -> None:
    assert tokens(minified(definition(parallel))) <= 200


def test_a_success_costs_at_most_20_tokens() -> None:
    longest = render_written(Written([], Counts(200, 200, 200)))
    assert tokens(longest) <= 20


@pytest.mark.parametrize("parallel", BOTH)
def test_the_definition_is_the_same_bytes_each_time(parallel: bool) -> None:
    assert minified(definition(parallel)) == minified(definition(parallel))


def test_schema_check_and_drawing_know_the_same_statuses() -> None:
    todos = definition(True)["parameters"]["properties"]["todos"]
    assert todos["items"]["properties"]["status"]["enum"] == list(STATUSES)
    assert set(STATUSES) == set(MARKS) == set(STYLES)


def test_the_row_is_drawn_for_the_name_under_which_the_tool_is_called() -> None:
    assert definition(True)["name"] == TOOL_NAME == "todo_write"
    assert RENDERS.rows[definition(True)["name"]](Call(TOOL_NAME, '{"todos":[]}')).title == "Update to-do list"


if __name__ == "__main__":
    EXPECTED.write_text(told())
