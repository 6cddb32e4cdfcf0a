"""One prompt from the shell: what is printed where, and what the exit code says."""

import json

import pytest

from tests.acceptance.conftest import House

HELLO = {"text": "Hello!"}


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


def test_json_is_the_log_and_nothing_else(house: House) -> None:
    model = house.script(bash("echo one"), HELLO)
    done = house.planlog("run", "--json", "-m", model, "--approve", "auto", "work")
    assert done.returncode == 0
    assert done.stdout == house.planlog("log").stdout
    types = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert types[-1] == "turn/end"
    assert [t for t in types if t.startswith("tool/")] == ["tool/call", "tool/result"]


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
    assert (done.returncode, done.stderr) == (
        2,
        "planlog: the prompt is empty; say what to do, as PROMPT or on stdin\n",
    )


def test_a_turn_that_fails_says_why_and_ends_with_1(house: House) -> None:
    done = house.planlog("run", "-m", house.script(bash("true")), "--approve", "auto", "work")
    assert done.returncode == 1
    [line] = [line for line in done.stderr.splitlines() if line.startswith("planlog: ")]
    assert "script" in line
    assert house.events()[-1]["data"]["reason"]["kind"] == "error"


def test_a_session_that_is_not_there_is_an_error_and_begins_no_other(house: House) -> None:
    for way in (["--resume", "nope"], ["--resume", "../../x"], ["--continue"], ["--resume"]):
        done = house.planlog("run", *way, "-m", house.script(HELLO), "go on")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "planlog sessions lists" in done.stderr
    assert house.json("sessions") == []


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


def test_a_prompt_that_stands_where_a_session_is_wanted_is_missed(house: House) -> None:
    model = house.script(HELLO)
    done = house.planlog("run", "-m", model, "--resume", "hi")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        'planlog: "hi" was taken as the session and the prompt is missing; '
        "--continue PROMPT goes on in the newest session\n"
    )
    done = house.planlog("run", "-m", model, "--resume", "hi", "")
    assert done.stderr == "planlog: the prompt is empty; say what to do, as PROMPT or on stdin\n"


def test_show_marks_a_turn_that_failed_as_it_marks_a_call_that_failed(house: House) -> None:
    house.planlog("run", "-m", house.script(bash("true")), "--approve", "auto", "work")
    assert house.planlog("show").stdout.splitlines()[-1].startswith("✗ ")


def test_a_session_is_called_what_its_person_calls_it(house: House) -> None:
    house.planlog("run", "-m", house.script({"text": "Hi."}), "go on\nplease")
    [listed] = house.json("sessions")
    assert listed["title"] == "go on"
    named = house.planlog("title", listed["id"][:6], " Mend the\n roof \x1b[2J")
    assert (named.returncode, named.stderr) == (0, "this session is called Mend the roof ␛[2J\n")
    assert house.json("sessions")[0]["title"] == "Mend the roof \x1b[2J"
    refused = house.planlog("title", listed["id"], " ")
    assert (refused.returncode, refused.stderr) == (1, "planlog: the title is empty\n")
