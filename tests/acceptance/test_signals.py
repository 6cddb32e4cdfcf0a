"""Ctrl-C, a terminal that closes, a service manager: the turn ends on the log and no child is left."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import pytest

from tests.acceptance.conftest import House


def working(house: House, *more: dict[str, Any], arguments: tuple[str, ...] = ()) -> tuple[subprocess.Popen[Any], int]:
    """A turn in the middle of a long command, and the command's process id."""
    pipe = house.folder / "pid"
    os.mkfifo(pipe)
    command = f"echo $$ > {pipe}; exec sleep 300"
    model = house.script({"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}, *more)
    process = house.start("run", "-m", model, "--approve", "auto", *arguments, "work")
    return process, int(pipe.read_text())


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_ctrl_c_stops_the_command_and_ends_the_turn_on_the_log(house: House) -> None:
    process, child = working(house, {"text": "never said"})
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert is_gone(child)
    assert b"never said" not in out
    assert b"planlog: the turn was stopped by its user\n" in err
    events = house.events()
    assert events[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}
    assert [event["type"] for event in events].count("tool/result") == 1
    done = house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "go on")
    assert (done.returncode, done.stdout) == (0, "Back.\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_to_end_leaves_nothing_running(house: House, number: signal.Signals, code: int) -> None:
    process, child = working(house)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == code
    assert is_gone(child)
    assert house.events()[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "disposed"}}
    assert house.json("sessions")[0]["running"] is False


def stubborn(house: House) -> tuple[subprocess.Popen[Any], TextIO]:
    """A turn in a command that hears no TERM, partly in a process group of its own; its output ends when all of it ends."""
    pipe = house.folder / "alive"
    os.mkfifo(pipe)
    inner = """trap "" TERM; echo begun; sleep 300; sleep 300"""
    command = f"""exec >{pipe}; trap "" TERM; timeout 300 sh -c '{inner}'; true"""
    model = house.script({"tool_calls": [{"name": "bash", "arguments": {"command": command}}]})
    process = house.start("run", "-m", model, "--approve", "auto", "work")
    alive = pipe.open()
    assert alive.readline() == "begun\n"
    return process, alive


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_reaches_what_a_command_put_into_a_group_of_its_own(house: House, number: int) -> None:
    process, alive = stubborn(house)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == 128 + number
    with alive:
        assert alive.read() == ""


def test_whoever_keeps_pressing_ctrl_c_leaves_no_command_behind(house: House) -> None:
    process, alive = stubborn(house)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.02)
    assert process.returncode == 130
    with alive:
        assert alive.read() == ""


def test_what_was_told_to_be_ignored_stays_ignored(house: House) -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    pipe = house.folder / "pid"
    os.mkfifo(pipe)
    model = house.script(
        {"tool_calls": [{"name": "bash", "arguments": {"command": f"echo > {pipe}; cat {pipe}"}}]}, {"text": "Done."}
    )
    process = house.start("run", "-m", model, "--approve", "auto", "work", preexec_fn=ignore)
    pipe.read_text()
    process.send_signal(signal.SIGHUP)
    pipe.write_text("go on\n")
    out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out.endswith(b"Done.\n")


def test_a_process_that_was_killed_is_shown_as_interrupted_and_repaired_by_the_next(house: House) -> None:
    process, child = working(house)
    process.kill()
    process.communicate(timeout=20)
    before = house.planlog("log").stdout
    shown = house.planlog("show").stdout
    [row, _] = [line for line in shown.splitlines() if line.startswith(("✗", "turn"))]
    assert row.startswith(f"✗ $ echo $$ > {house.folder}/pid; exec sleep 300  ")
    assert "turn 1 was interrupted: the process that ran it is gone; --resume goes on\n" in shown
    assert house.planlog("log").stdout == before
    os.kill(child, signal.SIGKILL)
    done = house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "go on")
    assert (done.returncode, done.stdout) == (0, "Back.\n")
    assert done.stderr == "turn 1 was interrupted when its process died; it is closed first\n"
    ends = [event["data"]["reason"]["kind"] for event in house.events() if event["type"] == "turn/end"]
    assert ends == ["interrupted", "completed"]


def lines(process: subprocess.Popen[Any]) -> Iterator[dict[str, Any]]:
    assert process.stdout
    for line in process.stdout:
        yield json.loads(line)


def test_a_session_that_another_process_runs_is_followed_and_its_prompt_comes_next(house: House) -> None:
    pipe = house.folder / "gate"
    os.mkfifo(pipe)
    command = f"echo at the gate > {pipe}; cat {pipe}"
    model = house.script(
        {"text": "First.", "tool_calls": [{"name": "bash", "arguments": {"command": command}}]},
        {"text": "First is done."},
        {"text": "Second by the first."},
    )
    first = house.start("run", "-m", model, "--approve", "auto", "one")
    pipe.read_text()
    [listed] = house.json("sessions")
    assert listed["running"] is True
    shown = house.planlog("show")
    assert f"turn 1 is being run by process {first.pid} on " in shown.stdout
    assert f"First.\n… $ echo at the gate > {pipe}; cat {pipe}\n" in shown.stdout
    second = house.start("run", "--json", "--resume", listed["id"], "-m", house.script({"text": "Second."}), "two")
    followed = lines(second)
    seen = [next(followed)["type"]]
    while seen[-1] != "tool/call":
        seen.append(next(followed)["type"])
    pipe.write_text("open\n")
    rest = list(followed)
    _, err = second.communicate(timeout=20)
    assert second.returncode == 0
    assert f"process {first.pid} on ".encode() in err
    assert b"is running this session; your prompt comes next" in err
    assert [event["data"]["turn"] for event in rest if event["type"] == "turn/end"] == [1, 2]
    first.communicate(timeout=20)
    assert first.returncode == 0
    assert [event["data"]["turn"] for event in house.events() if event["type"] == "turn/start"] == [1, 2]


def test_ctrl_c_in_a_follower_takes_its_prompt_back_and_leaves_the_running_turn_alone(house: House) -> None:
    pipe = house.folder / "gate"
    os.mkfifo(pipe)
    command = f"echo at the gate > {pipe}; cat {pipe}"
    model = house.script({"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}, {"text": "Done."})
    first = house.start("run", "-m", model, "--approve", "auto", "one")
    pipe.read_text()
    second = house.start("run", "--json", "--continue", "-m", house.script({"text": "Second."}), "two")
    followed = lines(second)
    while next(followed)["type"] != "tool/call":
        pass
    second.send_signal(signal.SIGINT)
    second.communicate(timeout=20)
    assert second.returncode == 130
    pipe.write_text("open\n")
    out, _ = first.communicate(timeout=20)
    assert first.returncode == 0
    assert out.endswith(b"Done.\n")
    assert [event["data"]["turn"] for event in house.events() if event["type"] == "turn/start"] == [1]


@pytest.mark.parametrize(
    ("reply", "moment"),
    [
        ({"text": "slow " * 100, "delay_ms": 60_000}, "request/header"),
        ({"error": {"status": 503, "message": "overloaded", "retry_after": 60}}, "llm/retry"),
    ],
    ids=["while the model answers", "while a retry waits"],
)
def test_ctrl_c_is_heard_wherever_the_turn_is(house: House, reply: dict[str, Any], moment: str) -> None:
    process = house.start("run", "--json", "-m", house.script(reply, {"text": "never said"}), "work")
    seen = lines(process)
    while next(seen)["type"] != moment:
        pass
    process.send_signal(signal.SIGINT)
    assert list(seen)[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}
    process.communicate(timeout=20)
    assert process.returncode == 130


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_an_import_that_waits_for_its_file_can_be_stopped(house: House, number: signal.Signals, code: int) -> None:
    pipe = house.folder / "log.jsonl"
    os.mkfifo(pipe)
    with pipe.open("r+b", buffering=0) as stdin:
        process = house.start("import", "-", stdin=stdin)
    pipe.write_bytes(b"begun\n" * (1 << 14))  # more than a pipe holds: returns when the program reads
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_reader_who_does_not_read_stops_neither_the_turn_nor_a_signal(
    house: House, number: signal.Signals, code: int
) -> None:
    process = house.start("run", "--json", "-m", house.script({"text": "word " * 100_000}), "talk")
    assert process.stdout
    process.stdout.read(1)
    while not (sessions := house.json("sessions")) or sessions[0]["running"]:
        pass
    assert house.events()[-1]["type"] == "turn/end"
    process.send_signal(number)
    process.wait(timeout=20)
    assert process.returncode == code


def test_a_reader_who_is_slow_gets_all_of_it_in_order(house: House) -> None:
    words = " ".join(map(str, range(60_000)))
    process = house.start("run", "-m", house.script({"text": words}), "count", stderr=subprocess.STDOUT, bufsize=0)
    assert process.stdout
    process.stdout.read(1)
    while not (sessions := house.json("sessions")) or sessions[0]["running"]:
        pass
    said, _ = process.communicate(timeout=20)
    [session] = sessions
    end = f"session {session['id']} · planlog run --resume {session['id']} PROMPT goes on"
    assert f"0{said.decode()}".splitlines() == [words, end]
    assert process.returncode == 0
