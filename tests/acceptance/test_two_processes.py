"""Two processes at one session: what one does the other sees, and what one leaves the other takes up."""

import json
import os
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal

HELLO = {"text": "Hello!"}


class Gate:
    """A command that a turn runs until the test opens it."""

    def __init__(self, house: House) -> None:
        self._pipe = house.folder / "gate"
        os.mkfifo(self._pipe)
        command = f"echo at the gate > {self._pipe}; cat {self._pipe}"
        self.reply = {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}

    def reached(self) -> None:
        """Waits until the command runs."""
        self._pipe.read_text()

    def open(self) -> None:
        """Lets the command end."""
        self._pipe.write_text("open\n")


@pytest.fixture
def gate(house: House) -> Gate:
    return Gate(house)


@pytest.fixture
def bystander() -> Iterator[int]:
    """The process id of a living process that has nothing to do with planlog."""
    with subprocess.Popen(["sleep", "300"]) as process:
        yield process.pid
        process.kill()


def events_until(process: "subprocess.Popen[Any]", wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """What `run --json` prints up to the first event that is `wanted`."""
    assert process.stdout
    seen: list[dict[str, Any]] = []
    for line in process.stdout:
        seen.append(json.loads(line))
        if wanted(seen[-1]):
            return seen
    raise AssertionError(f"it ended: {seen}")


def prompts(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["content"][0]["text"] for event in events if event["type"] == "user/message"]


def endings(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["reason"]["kind"] for event in events if event["type"] == "turn/end"]


def test_who_follows_when_the_owner_is_killed_closes_its_turn_and_goes_on(house: House, gate: Gate) -> None:
    first = house.start("run", "-m", house.script(gate.reply, {"text": "never"}), "--approve", "auto", "one")
    gate.reached()
    second = house.start("run", "--json", "--continue", "-m", house.script(HELLO), "two")
    seen = events_until(second, lambda event: event["type"] == "tool/call")
    first.kill()
    out, err = second.communicate(timeout=20)
    gate.open()
    assert second.returncode == 0, err
    seen += [json.loads(line) for line in out.splitlines()]
    assert seen == house.events()[seen[0]["seq"] :]
    assert (prompts(seen), endings(seen)) == (["one", "two"], ["interrupted", "completed"])
    [result] = [event["data"] for event in seen if event["type"] == "tool/result"]
    assert result["error"]["code"] == "TOOL_OUTCOME_UNKNOWN"
    done = house.planlog("run", "--continue", "-m", house.script(HELLO), "three")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello!\n", "")


def test_a_prompt_whose_process_was_killed_is_answered_by_whoever_runs_next(house: House, gate: Gate) -> None:
    model = house.script(gate.reply, {"text": "One."}, {"text": "Two."}, {"text": "Three."})
    first = house.start("run", "-m", model, "--approve", "auto", "one")
    gate.reached()
    second = house.start("run", "--json", "--continue", "-m", house.script(HELLO), "two")
    events_until(second, lambda event: event["type"] == "tool/call")
    second.kill()
    second.communicate(timeout=20)
    gate.open()
    out, err = first.communicate(timeout=20)
    assert first.returncode == 0, err
    assert out.endswith(b"One.\n")
    done = house.planlog("run", "--continue", "-m", house.script({"text": "Two."}, {"text": "Three."}), "three")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Three.\n")
    assert prompts(house.events()) == ["one", "two", "three"]
    assert endings(house.events()) == ["completed"] * 3


def test_a_living_process_with_the_pid_of_a_dead_owner_fools_nobody(house: House, gate: Gate, bystander: int) -> None:
    owner = house.start("run", "-m", house.script(gate.reply), "--approve", "auto", "one")
    gate.reached()
    owner.kill()
    owner.communicate(timeout=20)
    gate.open()
    with sqlite3.connect(house.home / "planlog.db") as database:
        holder = (bystander, socket.gethostname())
        assert database.execute("UPDATE session SET holder_pid = ?, holder_host = ?", holder).rowcount == 1
    database.close()
    assert house.json("sessions")[0]["running"] is False
    assert f"process {bystander}" not in house.planlog("show").stdout
    done = house.planlog("run", "--continue", "-m", house.script(HELLO), "two")
    assert (done.returncode, done.stdout) == (0, "Hello!\n")
    assert done.stderr == "turn 1 was interrupted when its process died; it is closed first\n"
    assert endings(house.events()) == ["interrupted", "completed"]
    os.kill(bystander, 0)


def test_an_owner_of_another_machine_with_the_own_pid_fools_nobody(house: House, gate: Gate) -> None:
    first = house.start("run", "-m", house.script(gate.reply, {"text": "One."}), "--approve", "auto", "one")
    gate.reached()
    second = house.start("run", "--json", "--continue", "-m", house.script(HELLO), "two")
    events_until(second, lambda event: event["type"] == "tool/call")
    with sqlite3.connect(house.home / "planlog.db") as database:
        assert database.execute("UPDATE session SET holder_pid = ?", (second.pid,)).rowcount == 1
    database.close()
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=20)
    assert second.returncode == 130
    gate.open()
    first.communicate(timeout=20)
    assert (prompts(house.events()), endings(house.events())) == (["one"], ["completed"])


def test_an_owner_that_stands_still_keeps_its_session(house: House, gate: Gate) -> None:
    first = house.start(
        "run", "-m", house.script(gate.reply, {"text": "One."}, {"text": "Two."}), "--approve", "auto", "one"
    )
    gate.reached()
    first.send_signal(signal.SIGSTOP)
    assert house.json("sessions")[0]["running"] is True
    second = house.start("run", "--json", "--continue", "-m", house.script(HELLO), "two")
    events_until(second, lambda event: event["type"] == "tool/call")
    first.send_signal(signal.SIGCONT)
    gate.open()
    first.communicate(timeout=20)
    assert first.returncode == 0
    _, err = second.communicate(timeout=20)
    assert second.returncode == 0, err
    assert (prompts(house.events()), endings(house.events())) == (["one", "two"], ["completed"] * 2)


def test_a_prompt_that_was_left_by_somebody_careful_is_not_run_carelessly(house: House, gate: Gate) -> None:
    first = house.start("run", "-m", house.script(gate.reply, {"text": "One."}), "--approve", "auto", "one")
    gate.reached()
    second = house.start(
        "run", "--json", "--continue", "-m", house.script({"text": "Two."}), "--approve", "deny", "two"
    )
    events_until(second, lambda event: event["type"] == "tool/call")
    for process in (second, first):
        process.kill()
        process.communicate(timeout=20)
    touch = {"tool_calls": [{"name": "bash", "arguments": {"command": "touch done"}}]}
    model = house.script(touch, {"text": "Two."}, {"text": "Three."})
    terminal = Terminal(house, "run", "--continue", "-m", model, "--approve", "auto", "three")
    assert terminal.finish() == 0
    assert "Allow it?" not in terminal.screen
    assert not (house.folder / "done").exists()
