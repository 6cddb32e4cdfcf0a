"""The program on a terminal: colours, questions, Ctrl-C, and a window that is closed."""

import json
import os
from typing import Any

import pytest

from planlog.agent.agent import Agent
from planlog.agent.approval import APPROVALS
from planlog.log.session import Session
from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal
from tests.acceptance.test_signals import is_gone

ALLOW = "Allow it? [y]es, [n]o, [a]lways just this in this session: "


def bash(command: str) -> dict[str, object]:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


def test_a_person_is_asked_and_a_yes_runs_the_call(house: House) -> None:
    model = house.script(bash("echo hi\nrm -rf \x1b[2Kbuild"), {"text": "Done."})
    terminal = Terminal(house, "run", "-m", model, "clean")
    terminal.wait_for("Allow it? [y/N] ")
    assert "bash wants to run:" in terminal.screen
    assert "  echo hi\r\n" in terminal.screen
    assert "  rm -rf ␛[2Kbuild\r\n" in terminal.screen
    terminal.type("y\n")
    assert terminal.finish() == 0
    assert "Done." in terminal.screen
    assert [event["data"]["outcome"] for event in house.events() if event["type"] == "approval/decided"] == ["allowed"]


@pytest.mark.parametrize("keys", ["\n", "n\n", "yep\n", "\x1b[A\n", "\x04"])
def test_everything_but_a_yes_is_a_no(house: House, keys: str) -> None:
    model = house.script(bash("touch done"), {"text": "I will not."})
    terminal = Terminal(house, "run", "-m", model, "do it")
    terminal.wait_for(ALLOW)
    terminal.type(keys)
    assert terminal.finish() == 0
    assert not (house.folder / "done").exists()
    assert "I will not." in terminal.screen


def test_nobody_is_asked_to_approve_what_is_not_shown(house: House) -> None:
    # Some models send the arguments as a string that holds an object; the tool understands it.
    hidden = {"tool_calls": [{"name": "bash", "arguments": json.dumps(json.dumps({"command": "touch done"}))}]}
    terminal = Terminal(house, "run", "-m", house.script(hidden, {"text": "end"}), "do it")
    while ALLOW not in terminal.screen and "so it is denied" not in terminal.screen:
        terminal.read_more()
    assert ("Allow it?" in terminal.screen) == ("  touch done\r\n" in terminal.screen)
    terminal.type("y\n")
    assert terminal.finish() == 0
    assert (house.folder / "done").exists() == ("  touch done\r\n" in terminal.screen)


@pytest.mark.parametrize(
    ("keys", "runs"), [(["\n"] * 5 + ["y\n"], True), (["y\n"] * 5 + ["\n"], False), (["n\n"], False)]
)
def test_a_yes_counts_only_below_the_last_line_of_what_would_run(house: House, keys: list[str], runs: bool) -> None:
    lines = "\n".join(f": line {number}." for number in range(130))
    terminal = Terminal(house, "run", "-m", house.script(bash(f"{lines}\ntouch done"), {"text": "end"}), "do it")
    terminal.wait_for("more lines; return shows them, n denies the call: ")
    assert "line 20." in terminal.screen
    assert "line 21." not in terminal.screen
    for number, key in enumerate(keys):
        left = 110 - 22 * number
        terminal.wait_for(f"{left} more lines" if left else "Allow it? [y/N] ")
        assert "Allow it?" not in terminal.screen or "touch done" in terminal.screen
        terminal.type(key)
    assert terminal.finish() == 0
    assert (house.folder / "done").exists() == runs


def test_keys_that_were_typed_before_a_question_do_not_answer_it(house: House) -> None:
    pipe = house.folder / "gate"
    os.mkfifo(pipe)
    model = house.script(bash(f"echo > {pipe}; cat {pipe}"), bash("touch done"), {"text": "end"})
    terminal = Terminal(house, "run", "-m", model, "do both")
    terminal.wait_for("Allow it? [y/N] ")
    terminal.type("y\n")
    pipe.read_text()
    terminal.type("y\ny\n")
    pipe.write_text("open\n")
    terminal.wait_for(ALLOW)
    terminal.type("\n")
    assert terminal.finish() == 0
    assert not (house.folder / "done").exists()


def test_a_question_ends_with_its_turn_and_the_next_one_is_asked(house: House) -> None:
    house.planlog("run", "-m", house.script({"text": "Hello!"}), "hello")
    house.elsewhere(lambda agent, session: agent.prompt(session, "one"))
    model = house.script(bash("touch one"), bash("touch two"), {"text": "Done."})
    terminal = Terminal(house, "run", "--continue", "-m", model, "two")
    terminal.wait_for("touch one")
    terminal.wait_for(ALLOW)
    house.elsewhere(lambda agent, session: agent.cancel(session))
    terminal.wait_for("touch two")
    while terminal.screen.count(ALLOW) < 2:
        terminal.read_more()
    terminal.type("y\n")
    terminal.wait_for("Done.")
    assert terminal.finish() == 0
    assert "answered elsewhere" not in terminal.screen
    assert [(house.folder / name).exists() for name in ("one", "two")] == [False, True]


def test_a_question_that_is_answered_elsewhere_is_over(house: House) -> None:
    async def say_no(agent: Agent, session: Session) -> None:
        [asked] = await session.view(APPROVALS)
        await agent.answer(session, asked.id, "denied")

    terminal = Terminal(house, "run", "-m", house.script(bash("touch done"), {"text": "Never mind."}), "do it")
    terminal.wait_for(ALLOW)
    house.elsewhere(say_no)
    terminal.wait_for("answered elsewhere")
    assert terminal.finish() == 0
    assert not (house.folder / "done").exists()


def test_ctrl_c_at_a_question_ends_the_turn(house: House) -> None:
    terminal = Terminal(house, "run", "-m", house.script(bash("touch done"), {"text": "never"}), "do it")
    terminal.wait_for(ALLOW)
    terminal.type("\x03")
    assert terminal.finish() == 130
    assert house.events()[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}
    assert not (house.folder / "done").exists()


def test_ctrl_c_in_an_older_turn_takes_the_own_prompt_back_and_ends(house: House) -> None:
    house.planlog("run", "-m", house.script({"text": "Hello!"}), "hello")
    house.elsewhere(lambda agent, session: agent.prompt(session, "one"))
    terminal = Terminal(house, "run", "--continue", "-m", house.script(bash("touch done"), {"text": "never"}), "two")
    terminal.wait_for(ALLOW)
    terminal.type("\x03")
    assert terminal.finish() == 130
    ends = [event["data"] for event in house.events() if event["type"] == "turn/end"]
    assert [(end["turn"], end["reason"]["kind"]) for end in ends] == [(1, "completed"), (2, "aborted")]
    assert ends[1]["reason"]["reason"] == {"kind": "user"}
    house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "three")
    texts = [event["data"]["content"][0]["text"] for event in house.events() if event["type"] == "user/message"]
    assert texts == ["hello", "one", "three"]


def test_a_second_ctrl_c_does_not_wait(house: House) -> None:
    pipe = house.folder / "pid"
    os.mkfifo(pipe)
    stubborn = f"trap '' INT TERM; echo $$ > {pipe}; while :; do read -t 100 < {pipe}; done"
    terminal = Terminal(house, "run", "-m", house.script(bash(stubborn)), "--approve", "auto", "work")
    child = int(pipe.read_text())
    terminal.type("\x03")
    terminal.type("\x03")
    assert terminal.finish() == 130
    assert is_gone(child)


def test_a_window_that_is_closed_leaves_nothing_running(house: House) -> None:
    pipe = house.folder / "pid"
    os.mkfifo(pipe)
    command = f"trap '' HUP; echo $$ > {pipe}; exec sleep 300"
    terminal = Terminal(house, "run", "-m", house.script(bash(command)), "--approve", "auto", "work")
    child = int(pipe.read_text())
    terminal.close()
    assert terminal.finish() == 129
    assert is_gone(child)
    assert house.events()[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "disposed"}}


def test_a_running_call_is_named_on_a_line_that_its_result_replaces(house: House) -> None:
    pipe = house.folder / "gate"
    os.mkfifo(pipe)
    command = f"echo > {pipe}; cat {pipe}; {': ' * 100}"
    model = house.script(bash(command), {"text": "end"})
    terminal = Terminal(house, "run", "-m", model, "--approve", "auto", "work", columns=40)
    pipe.read_text()
    terminal.wait_for("$ echo > ")
    pipe.write_text("open\n")
    assert terminal.finish() == 0
    before, sign, after = terminal.screen.partition("$ echo > ")
    assert before.startswith("\r\x1b[K\x1b[2mwaiting for the model\x1b[0m")
    status, _, rest = (sign + after).partition("\x1b[0m")
    assert len(status) == 39
    assert status.endswith("…")
    assert "\r\x1b[K\x1b[2m$ echo > " in rest  # what it printed since
    assert "\r\x1b[K\x1b[32m✓\x1b[0m " in rest


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"NO_COLOR": "1", "TERM": "dumb"}])
def test_a_dumb_terminal_gets_plain_text(house: House, env: dict[str, Any]) -> None:
    model = house.script(bash("echo one"), {"text": "end", "reasoning": "hm"})
    terminal = Terminal(house, "run", "-m", model, "--approve", "auto", "work", **env)
    assert terminal.finish() == 0
    assert "\x1b" not in terminal.screen
    assert "✓ $ echo one  exit code 0" in terminal.screen


def test_colours_are_for_stdout_and_stderr_each_on_its_own(house: House) -> None:
    terminal = Terminal(house, "run", "-m", house.script({"text": "end"}), "work", NO_COLOR="")
    assert terminal.finish() == 0
    assert "\x1b[2msession " in terminal.screen


def test_a_silent_command_is_timed_on_the_line_that_names_it(house: House) -> None:
    pipe = house.folder / "pipe"
    os.mkfifo(pipe)
    terminal = Terminal(
        house, "run", "-m", house.script(bash("cat pipe"), {"text": "Done."}), "--approve", "auto", "go"
    )
    terminal.expect("$ cat pipe  2 s", "$ cat pipe  3 s")
    pipe.write_text("heard\n")
    terminal.expect("✓ $ cat pipe  exit code 0", "heard", "Done.", "1 command · ")
    assert terminal.finish() == 0
