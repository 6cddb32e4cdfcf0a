"""Wherever a Ctrl-C finds the turn, it stops, each call has one result, nothing is left running, the next prompt works."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal

HUGE = 1 << 40
"""Bytes of a file that takes minutes to read; it is sparse, so it takes no room."""


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def running(house: House) -> list[str]:
    """The command lines of processes that work in the folder, or below it."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_here = process.joinpath("cwd").readlink().is_relative_to(house.folder)
            words = process.joinpath("cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if is_here and words:  # those that have ended and were not waited for have none
            found.append(words.replace(b"\0", b" ").decode())
    return found


def check(house: House, calls: int) -> None:
    """The turn is closed with as many results as calls, nobody is left, and the session goes on."""
    assert running(house) == []
    events = house.events()
    assert events[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}
    called = [event["data"]["callId"] for event in events if event["type"] == "tool/call"]
    answered = [event["data"]["message"]["source"]["callId"] for event in events if event["type"] == "tool/result"]
    assert sorted(called) == sorted(answered)
    assert len(set(called)) == calls
    done = house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "go on")
    assert (done.returncode, done.stdout) == (0, "Back.\n"), done


def until(process: "subprocess.Popen[bytes]", wanted: Callable[[dict[str, Any]], bool]) -> None:
    """Reads events from `run --json` until one is `wanted`."""
    assert process.stdout
    for line in process.stdout:
        if wanted(json.loads(line)):
            return
    raise AssertionError("it never came")


def stopped(process: "subprocess.Popen[bytes]") -> None:
    """One Ctrl-C, and it ends."""
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130


def is_a(*types: str) -> Callable[[dict[str, Any]], bool]:
    """Comes true at the last of `types`, each of them seen once."""
    missing = list(types)

    def seen(event: dict[str, Any]) -> bool:
        if event["type"] in missing:
            missing.remove(event["type"])
        return not missing

    return seen


def run(house: House, *replies: dict[str, Any], before: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
    """A turn that is under way."""
    return house.start("run", "--json", "-m", house.script(*replies), "--approve", "auto", "work", before=before)


@pytest.mark.parametrize("types", [["request/header"], ["request/header", "assistant/chunk"]])
def test_a_cancel_before_the_first_byte_and_in_mid_stream(house: House, types: list[str]) -> None:
    process = run(house, {"text": "slow " * 1000, "delay_ms": 60_000 if len(types) == 1 else 30_000})
    until(process, is_a(*types))
    stopped(process)
    check(house, calls=0)


def test_a_cancel_during_one_of_three_calls_keeps_the_results_of_the_others(house: House) -> None:
    house.folder.joinpath("small.txt").write_text("small\n")
    with house.folder.joinpath("huge.txt").open("wb") as huge:
        huge.write(b"a line without an end " * 10_000)
        huge.truncate(HUGE)
    calls = [call("read", path="small.txt"), call("read", path="huge.txt", offset=2), call("glob", pattern="*.txt")]
    process = run(house, {"tool_calls": calls})
    until(process, is_a("tool/result", "tool/result"))
    stopped(process)
    check(house, calls=3)
    results = [event["data"] for event in house.events() if event["type"] == "tool/result"]
    assert [data.get("error", {}).get("code") for data in results[:3]] == [None, None, "ABORTED"]


def test_a_cancel_while_a_search_runs_stops_the_search(house: House) -> None:
    for number in range(40):
        with house.folder.joinpath(f"huge{number}.txt").open("wb") as huge:
            huge.write(b"a line\n" * 10_000)
            huge.truncate(HUGE)
    process = run(house, {"tool_calls": [call("grep", pattern="never there", path=".")]})
    until(process, is_a("tool/call"))
    while len(running(house)) < 2:
        assert process.poll() is None
    stopped(process)
    check(house, calls=1)


def test_a_cancel_during_a_write_leaves_the_old_content_or_the_new(house: House) -> None:
    """The write stands still in its sync for longer than anybody would wait."""
    target = house.folder / "new.txt"
    log = house.folder.parent / "strace.txt"
    held = ("strace", "-f", "-qq", "-o", str(log), "-e", "trace=fsync", "-e", "inject=fsync:delay_enter=10s")
    process = run(house, {"tool_calls": [call("write", path="new.txt", content="new\n")]}, before=held)
    until(process, is_a("tool/call"))
    while not log.exists() or "fsync(" not in log.read_text():
        assert process.poll() is None
    (traced,) = children(process.pid)
    os.kill(traced, signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    check(house, calls=1)
    assert not target.exists()
    assert os.listdir(house.folder) == []


def children(pid: int) -> Iterator[int]:
    """The processes that `pid` has started."""
    return map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())


def test_a_cancel_while_a_question_is_open(house: House) -> None:
    terminal = Terminal(house, "run", "-m", house.script({"tool_calls": [call("bash", command="true")]}), "work")
    terminal.expect("Allow it?")
    terminal.type("\x03")
    assert terminal.finish() == 130
    check(house, calls=1)
