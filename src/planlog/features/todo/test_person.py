"""The plan as a person at the command line sees it, through the real program."""

import re
from pathlib import Path

from tests.acceptance.conftest import House as Machine
from tests.acceptance.test_run import HELLO, bash
from tests.acceptance.test_safety import EVIL, OBEYED, SHOWN

from planlog.app.shipped import SHIPPED
from planlog.app.toml import written
from planlog.kernel.composition import Composition, read_composition

TODOS = [
    {"content": "read the code", "status": "completed"},
    {"content": "write the tests", "status": "in_progress"},
    {"content": "提交", "status": "pending"},
]


def write_todos(todos: object, text: str = "") -> dict[str, object]:
    return {"text": text, "tool_calls": [{"name": "todo_write", "arguments": {"todos": todos}}]}


def test_without_todo_the_house_still_stands(machine: Machine, tmp_path: Path) -> None:
    shipped = read_composition(SHIPPED / "stdio.toml")
    rest = tuple(row for row in shipped.rows if row.id != "todo")
    own = tmp_path / "own.toml"
    own.write_text(written(Composition("own", str(own), shipped.roles, rest)))
    whole = machine.script(
        {"tool_calls": [{"name": "todo_write", "arguments": {"todos": [{"content": "a", "status": "pending"}]}}]}, HELLO
    )
    assert machine.planlog("run", "-m", whole, "plan").returncode == 0
    done = machine.planlog("--composition", str(own), "run", "--continue", "-m", machine.script(HELLO), "hello")
    assert (done.returncode, done.stdout) == (0, "Hello!\n")
    tools = [tool["name"] for tool in machine.json("--composition", str(own), "tools")]
    assert "bash" in tools
    assert "todo_write" not in tools
    assert "todos" not in machine.json("--composition", str(own), "sessions")[0]
    assert machine.planlog("--composition", str(own), "show").stdout.startswith("> plan\n✓ todo_write  {")
    assert machine.planlog("--composition", str(own), "plan").returncode == 2
    assert "  plan " not in machine.planlog("--composition", str(own), "--help").stdout


def test_a_plan_is_printed_whenever_it_is_written_and_when_it_is_cleared(machine: Machine) -> None:
    model = machine.script(write_todos(TODOS, "I will plan."), write_todos([]), {"text": "Done."})
    done = machine.planlog("run", "-m", model, "--quiet", "plan")
    assert done.stdout == "Done.\n"
    done = machine.planlog("run", "-m", model, "plan")
    assert done.stdout == (
        "I will plan.\n"
        "[todos]\n"
        "  [x] read the code\n"
        "  [~] write the tests\n"
        "  [ ] 提交\n"
        "✓ Update to-do list  1/3 completed · write the tests\n"
        "[todos] cleared\n"
        "✓ Update to-do list  list cleared\n"
        "Done.\n"
    )


def test_the_plan_is_there_in_every_way_to_come_back(machine: Machine) -> None:
    model = machine.script(write_todos(TODOS), HELLO)
    machine.planlog("run", "-m", model, "plan")
    session = machine.json("sessions")[0]["id"]
    assert machine.json("plan", session)["todos"] == TODOS
    assert machine.json("plan", session[:4])["todos"] == TODOS
    assert machine.json("plan")["todos"] == TODOS
    again = machine.script(write_todos(TODOS[1:]), HELLO)
    for number, way in enumerate((["--continue"], ["--resume"], ["--resume", session[:4]], ["--resume", session]), 2):
        done = machine.planlog("run", *way, "-m", again, "go on")
        assert (done.returncode, done.stderr) == (0, "")
        [listed] = machine.json("sessions")
        assert (listed["id"], listed["turns"], listed["todos"]) == (session, number, TODOS[1:])


def test_the_transcript_can_be_read_again(machine: Machine) -> None:
    model = machine.script(bash("echo one; exit 3", "Trying."), write_todos(TODOS), {"text": "It failed.\n"})
    machine.planlog("run", "-m", model, "--approve", "auto", "try\nit")
    shown = machine.planlog("show")
    assert shown.returncode == 0
    assert re.sub(r"\d+\.\d s", "TIME", shown.stdout) == (
        "> try\n"
        "> it\n"
        "Trying.\n"
        "✗ $ echo one; exit 3  exit code 3\n"
        "  one\n"
        "[todos]\n"
        "  [x] read the code\n"
        "  [~] write the tests\n"
        "  [ ] 提交\n"
        "✓ Update to-do list  1/3 completed · write the tests\n"
        "It failed.\n"
        "1 command (1 failed) · TIME\n"
    )


def test_json_keeps_the_text_as_it_was(machine: Machine) -> None:
    model = machine.script(
        {"tool_calls": [{"name": "todo_write", "arguments": {"todos": [{"content": EVIL, "status": "pending"}]}}]},
        {"text": "end"},
    )
    machine.planlog("run", "-m", model, "plan")
    assert machine.json("plan")["todos"][0]["content"] == EVIL
    printed = machine.planlog("log").stdout
    assert [sign for sign in ("\x1b", "\x07", "\x08", "\r") if sign in printed] == []


def test_control_characters_in_a_plan_are_shown_and_never_obeyed(machine: Machine) -> None:
    model = machine.script(write_todos([{"content": EVIL, "status": "in_progress"}]), HELLO)
    seen = machine.planlog("run", "-m", model, "plan").stdout
    assert f"[~] {SHOWN}" in seen
    for command in (["plan"], ["plan", "--history"], ["sessions"], ["show"]):
        done = machine.planlog(*command)
        seen += done.stdout + done.stderr
    assert [sign for sign in OBEYED if sign in seen] == []
