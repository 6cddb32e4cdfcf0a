import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planlog.app.running import run_command_line
from planlog.features.todo import demo
from planlog.features.todo.demo import SCRIPT, first_failure, unfinished
from planlog.features.todo.event import Todo
from planlog.model.message import Block, Message, ModelSource, Text, ToolCall, ToolResult, ToolSource, UserSource

Items = Callable[..., list[Todo]]
Said = tuple[int, str, str]
Run = Callable[..., tuple[Said, dict[str, Any]]]

STEPS = [
    "Write notes.txt, a text to count",
    "Write count.sh, which counts words",
    "Run it and keep the counts in report.txt",
    "Check the report against the text",
]


@pytest.fixture
def run_demo(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `planlog demo`, with `false` in the place of command number `broken` if it is given.

    What it exits with and prints, and what `planlog plan --json` says afterwards.
    """
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def run(broken: int | None = None) -> tuple[Said, dict[str, Any]]:
        if broken is not None:
            script = tmp_path / "demo.jsonl"
            script.write_text(_with_false(SCRIPT.read_text(), broken))
            monkeypatch.setattr(demo, "SCRIPT", script)
        home = ["--home", str(tmp_path / "home")]
        code = run_command_line([*home, "demo"])
        out, err = capfd.readouterr()
        (scratch,) = tmp_path.glob("planlog-demo-*")
        run_command_line([*home, "-C", str(scratch), "plan", "--json"])
        return (code, out, err), json.loads(capfd.readouterr().out)

    return run


def _with_false(script: str, broken: int) -> str:
    replies = [json.loads(line) for line in script.splitlines()]
    calls = [call for reply in replies for call in reply.get("tool_calls", []) if call["name"] == "bash"]
    calls[broken]["arguments"]["command"] = "false"
    return "".join(json.dumps(reply) + "\n" for reply in replies)


def test_the_demo_plans_a_small_job_and_does_it(run_demo: Run, tmp_path: Path) -> None:
    (code, out, err), plan = run_demo()
    assert code == 0, err
    assert plan["counts"] == {"pending": 0, "inProgress": 0, "completed": 4}
    assert [todo["content"] for todo in plan["todos"]] == STEPS
    for done in range(5):
        assert "\n".join(_drawn(done)) in out
    assert "every word was counted" in out
    (report,) = tmp_path.glob("planlog-demo-*/report.txt")
    assert report.read_text().splitlines()[0].split() == ["4", "the"]


def _drawn(done: int) -> list[str]:
    marks = ["[x]"] * done + ["[~]"] + ["[ ]"] * 4
    return ["[todos]", *(f"  {mark} {step}" for mark, step in zip(marks, STEPS, strict=False))]


@pytest.mark.parametrize("broken", range(4))
def test_a_demo_whose_command_fails_stops_there_and_says_so(run_demo: Run, broken: int) -> None:
    (code, out, err), plan = run_demo(broken)
    assert code == 1
    assert [todo["status"] for todo in plan["todos"]] == [
        *["completed"] * broken,
        "in_progress",
        *["pending"] * (3 - broken),
    ]
    assert "I stop here, a step failed: Error: " in out
    assert "\n".join(_drawn(broken + 1)) not in out
    last = err.splitlines()[-1]
    assert last == f'planlog: the demo did not finish: it stopped at "{STEPS[broken]}", {broken} of 4 done'


# --- the rule alone


def user(*blocks: Block) -> Message:
    return Message("u", "user", UserSource(), list(blocks))


def answer(*blocks: Block) -> Message:
    return Message("a", "assistant", ModelSource("script", "x"), list(blocks))


def result(text: str, is_error: bool = False) -> Message:
    return Message("r", "user", ToolSource("c"), [ToolResult("c", [Text(text)], is_error)])


CALL = answer(ToolCall("c", "bash", "{}"))


@pytest.mark.parametrize(
    "messages, failure",
    [
        ([user(Text("hi"))], None),
        ([user(Text("hi")), CALL, result("ok")], None),
        ([user(Text("hi")), CALL, result("Error: exit code 1\nmore", is_error=True)], "Error: exit code 1"),
        (
            [CALL, result("Error: first", is_error=True), result("ok"), result("Error: last", is_error=True)],
            "Error: first",
        ),
        ([CALL, result("Error: old", is_error=True), CALL, result("ok")], None),
    ],
)
def test_only_results_that_no_answer_has_followed_count(messages: list[Message], failure: str | None) -> None:
    assert first_failure(messages) == failure


def test_a_plan_is_finished_when_it_exists_and_nothing_is_open(items: Items) -> None:
    assert unfinished(items("[x] a", "[x] b")) is None
    assert unfinished(items("[x] a", "[ ] b", "[~] c")) == 'it stopped at "b", 1 of 3 done'
    assert unfinished([]) == unfinished(None) == "no plan was written"
