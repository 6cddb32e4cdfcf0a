"""One prompt from the shell: what is printed where, and what the exit code says."""

import json

import pytest

from tests.acceptance.conftest import House

TODOS = [
    {"content": "read the code", "status": "completed"},
    {"content": "write the tests", "status": "in_progress"},
    {"content": "提交", "status": "pending"},
]
HELLO = {"text": "Hello!"}


def write_todos(todos: object, text: str = "") -> dict[str, object]:
    return {"text": text, "tool_calls": [{"name": "todo_write", "arguments": {"todos": todos}}]}


def bash(command: str, text: str = "") -> dict[str, object]:
    return {"text": text, "tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


def test_the_answer_is_on_stdout_and_the_session_on_stderr(house: House) -> None:
    done = house.planlog("run", "-m", house.script(HELLO), "hello")
    assert (done.returncode, done.stdout) == (0, "Hello!\n")
    [session] = house.json("sessions")
    assert done.stderr == f"session {session['id']} · planlog run --resume {session['id']} PROMPT goes on\n"
    assert session["turns"] == 1
    assert session["cwd"] == str(house.folder)
    assert session["running"] is False
    assert session["todos"] is None


def test_a_plan_is_printed_whenever_it_is_written_and_when_it_is_cleared(house: House) -> None:
    model = house.script(write_todos(TODOS, "I will plan."), write_todos([]), {"text": "Done."})
    done = house.planlog("run", "-m", model, "--quiet", "plan")
    assert done.stdout == "Done.\n"
    done = house.planlog("run", "-m", model, "plan")
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


def test_json_is_the_log_and_nothing_else(house: House) -> None:
    model = house.script(write_todos(TODOS), HELLO)
    done = house.planlog("run", "--json", "-m", model, "plan")
    assert done.returncode == 0
    assert done.stdout == house.planlog("log").stdout
    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert types[-1] == "turn/end"
    assert [t for t in types if t in ("tool/call", "todo/write", "tool/result")] == [
        "tool/call",
        "todo/write",
        "tool/result",
    ]


@pytest.mark.parametrize("arguments", [["-"], []])
def test_a_prompt_may_come_from_stdin(house: House, arguments: list[str]) -> None:
    done = house.planlog("run", "-m", house.script(HELLO), *arguments, stdin="from a\nfile\n")
    assert done.returncode == 0
    [message] = [event for event in house.events() if event["type"] == "user/message"]
    assert message["data"]["content"] == [{"type": "text", "text": "from a\nfile"}]


def test_without_a_model_the_choices_are_named_and_nothing_is_begun(house: House) -> None:
    done = house.planlog("run", "hello")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "script:FILE" in done.stderr
    assert house.json("sessions") == []


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt_is_refused(house: House, prompt: str) -> None:
    done = house.planlog("run", "-m", house.script(HELLO), prompt)
    assert (done.returncode, done.stderr) == (2, "planlog: the prompt is empty\n")


def test_a_turn_that_fails_says_why_and_ends_with_1(house: House) -> None:
    done = house.planlog("run", "-m", house.script(write_todos(TODOS)), "plan")
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line.startswith("planlog: ")]
    assert "script" in line
    assert house.events()[-1]["data"]["reason"]["kind"] == "error"


def test_the_plan_is_there_in_every_way_to_come_back(house: House) -> None:
    model = house.script(write_todos(TODOS), HELLO)
    house.planlog("run", "-m", model, "plan")
    session = house.json("sessions")[0]["id"]
    assert house.json("plan", session)["todos"] == TODOS
    assert house.json("plan", session[:4])["todos"] == TODOS
    assert house.json("plan")["todos"] == TODOS
    again = house.script(write_todos(TODOS[1:]), HELLO)
    for number, way in enumerate((["--continue"], ["--resume"], ["--resume", session[:4]], ["--resume", session]), 2):
        done = house.planlog("run", *way, "-m", again, "go on")
        assert (done.returncode, done.stderr) == (0, "")
        [listed] = house.json("sessions")
        assert (listed["id"], listed["turns"], listed["todos"]) == (session, number, TODOS[1:])


def test_a_session_that_is_not_there_is_an_error_and_begins_no_other(house: House) -> None:
    for way in (["--resume", "nope"], ["--resume", "../../x"], ["--continue"], ["--resume"]):
        done = house.planlog("run", *way, "-m", house.script(HELLO), "go on")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "planlog sessions lists" in done.stderr
    assert house.json("sessions") == []


def test_the_transcript_can_be_read_again(house: House) -> None:
    model = house.script(bash("echo one; exit 3", "Trying."), write_todos(TODOS), {"text": "It failed.\n"})
    house.planlog("run", "-m", model, "--approve", "auto", "try\nit")
    shown = house.planlog("show")
    assert shown.returncode == 0
    assert shown.stdout == (
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
    )


def test_a_call_that_nobody_can_approve_is_denied_and_says_how_to_allow_it(house: House) -> None:
    model = house.script(bash("touch done"), {"text": "Never mind."})
    done = house.planlog("run", "-m", model, "do it")
    assert done.returncode == 0
    assert not (house.folder / "done").exists()
    assert "bash needs approval and nobody can be asked here, so it is denied; --approve auto" in done.stderr
    assert [event["data"]["outcome"] for event in house.events() if event["type"] == "approval/decided"] == ["denied"]
    house.planlog("run", "-m", model, "--approve", "auto", "do it")
    assert (house.folder / "done").exists()


def test_python_dash_m_and_the_script_are_the_same_program(house: House) -> None:
    assert house.planlog("--version").stdout.startswith("planlog ")
    assert house.planlog("--help").stdout.startswith("Usage: planlog ")
