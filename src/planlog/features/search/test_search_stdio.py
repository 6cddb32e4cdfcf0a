import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.acceptance.conftest import House as Machine

from planlog.faces.renders import Call, Row
from planlog.features.search.stdio import glob_row, grep_row, totals

ROWS = {"grep": grep_row, "glob": glob_row}


def row_of(name: str, arguments: dict[str, Any], **more: Any) -> Row:
    return ROWS[name](Call(name, json.dumps(arguments), **more))


@pytest.mark.parametrize(
    "name, arguments, details, title, summary",
    [
        ("grep", {"pattern": "a b", "path": "src"}, {"lines": 12, "files": 4}, 'grep "a b" src', "12 lines in 4 files"),
        ("grep", {"pattern": "a", "glob": "*.py"}, {"lines": 1, "files": 1}, 'grep "a" *.py', "1 line in 1 file"),
        ("grep", {"pattern": "a", "files_only": True}, {"lines": 0, "files": 4}, 'grep "a"', "4 files"),
        ("grep", {"pattern": "a"}, {"lines": 0, "files": 0}, 'grep "a"', "nothing found"),
        ("glob", {"pattern": "**/*.py"}, {"files": 40}, "glob **/*.py", "40 files"),
        ("glob", {"pattern": "*", "path": "src"}, {"files": 0}, "glob * src", "nothing found"),
        ("glob", {"pattern": "x" * 300}, {"files": 1}, f"glob {'x' * 200}…", "1 file"),
    ],
)
def test_a_search_is_one_row(
    name: str, arguments: dict[str, Any], details: dict[str, int], title: str, summary: str
) -> None:
    assert row_of(name, arguments) == Row(title)
    assert row_of(name, arguments, result="…", details={"search": {**details, "cut": False}}) == Row(title, summary)
    cut = row_of(name, arguments, result="…", details={"search": {**details, "cut": True}})
    assert cut == Row(title, f"{summary} in time" if summary == "nothing found" else f"{summary}, and more")
    failed = row_of(name, arguments, result="Error: no\nmore", is_error=True)
    assert failed == Row(title, "no")


def test_searches_of_a_turn_are_counted() -> None:
    calls = [Call("grep", "{}"), Call("bash", "{}"), Call("glob", "{}")]
    assert [totals(calls), totals(calls[:1]), totals(calls[1:2])] == ["2 searches", "1 search", ""]


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["search", "lines", "files", "cut"]), inner), max_leaves=5)  # fmt: skip


@given(st.sampled_from(["grep", "glob"]), st.text(), st.none() | st.text(), st.booleans(), JSON)
def test_no_call_makes_its_row_raise(
    name: str, arguments: str, result: str | None, is_error: bool, details: Any
) -> None:
    row = ROWS[name](Call(name, arguments, result, is_error, details))
    assert row.title.startswith(name)
    assert "\n" not in row.summary


def test_the_model_searches_side_by_side_unasked(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    try:
        (machine.folder / "a.py").write_text("one\ntwo\n")
        (machine.folder / "out").symlink_to("/etc")
        calls = [
            {"name": "grep", "arguments": {"pattern": "t.o"}},
            {"name": "glob", "arguments": {"pattern": "*.py"}},
            {"name": "grep", "arguments": {"pattern": "root", "path": "out/passwd"}},
        ]
        done = machine.planlog("run", "-m", machine.script({"tool_calls": calls}, {"text": "Found."}), "search")
        assert (done.returncode, "Found." in done.stdout.splitlines()) == (0, True)
        blocks = [one["data"]["message"]["content"][0] for one in machine.events() if one["type"] == "tool/result"]
        assert sorted(block["content"][0]["text"] for block in blocks) == [
            f'Error: "out/passwd" is outside of the workspace {machine.folder}',
            "a.py",
            "a.py:2:two",
        ]
    finally:
        machine.stop()
