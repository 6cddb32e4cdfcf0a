"""The moments at which a Ctrl-C may find a turn: each brings a real program to that moment."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal

HUGE = 1 << 40
"""Bytes of a file that takes minutes to read; it is sparse, so it takes no room."""


class Stoppable(NamedTuple):
    """A program in the middle of a turn: `interrupt` is a Ctrl-C, `finish` waits for the end and says the exit code.

    `pid` is the program itself, which may have ended long before whoever holds it up lets go of it.
    """

    interrupt: Callable[[], None]
    finish: Callable[[], int]
    pid: int

    def is_over(self) -> bool:
        """Whether the program has ended."""
        try:
            status = Path(f"/proc/{self.pid}/stat").read_text()
        except OSError:
            return True
        return status.rpartition(")")[2].split()[0] == "Z"


class Moment(NamedTuple):
    """`begin` returns when the program is there. `calls` is how many calls the log will have."""

    name: str
    begin: Callable[[House], Stoppable]
    calls: int


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """One call of a reply."""
    return {"name": name, "arguments": arguments}


def before_the_first_byte(house: House) -> Stoppable:
    process = _run(house, {"text": "slow " * 100, "delay_ms": 60_000})
    _until(process, "request/header")
    return _stoppable(process)


def in_mid_stream(house: House) -> Stoppable:
    process = _run(house, {"text": "slow " * 1000, "delay_ms": 30_000})
    _until(process, "assistant/chunk")
    return _stoppable(process)


def one_of_three_calls(house: House) -> Stoppable:
    """Two are done; the third reads on and on."""
    house.folder.joinpath("small.txt").write_text("small\n")
    _huge(house.folder / "huge.txt")
    calls = [call("read", path="small.txt"), call("read", path="huge.txt", offset=2), call("glob", pattern="*.txt")]
    process = _run(house, {"tool_calls": calls})
    _until(process, "tool/result", "tool/result")
    return _stoppable(process)


def a_search(house: House) -> Stoppable:
    """It takes three seconds to open a file."""
    house.folder.joinpath("held.txt").write_text("text\n")
    calls = [call("grep", pattern="text")]
    return _held(house, calls, "open,openat", "-P", "./held.txt", "-P", str(house.folder / "held.txt"))


def a_write(house: House) -> Stoppable:
    """It stands still in its sync."""
    return _held(house, [call("write", path="new.txt", content="new\n")], "fsync")


def a_command(house: House) -> Stoppable:
    process = _run(house, {"tool_calls": [call("bash", command="sleep 300 & (trap '' TERM; sleep 300); sleep 300")]})
    _until(process, "tool/call")
    while not children(process.pid):
        assert process.poll() is None
    return _stoppable(process)


def an_open_question(house: House) -> Stoppable:
    terminal = Terminal(house, "run", "-m", house.script({"tool_calls": [call("bash", command="true")]}), "work")
    terminal.expect("Allow it?")
    return Stoppable(lambda: terminal.type("\x03"), terminal.finish, terminal.process.pid)


MOMENTS = (
    Moment("before the first byte", before_the_first_byte, 0),
    Moment("in mid-stream", in_mid_stream, 0),
    Moment("one of three calls", one_of_three_calls, 3),
    Moment("a search", a_search, 1),
    Moment("a write", a_write, 1),
    Moment("a command", a_command, 1),
    Moment("an open question", an_open_question, 1),
)


def children(pid: int) -> list[int]:
    """The processes that `pid` has started, from any of its threads."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # the thread has ended
            found += map(int, task.joinpath("children").read_text().split())
    return found


def _huge(path: Path) -> None:
    """Begins with more text than is looked at to tell a binary file."""
    with path.open("wb") as file:
        file.write(b"a line without an end " * 50_000)
        file.truncate(HUGE)


def _held(house: House, calls: list[dict[str, Any]], names: str, *which: str) -> Stoppable:
    """A program in which these system calls, or those about the files of `which`, take three seconds."""
    log = house.folder.parent / "strace.txt"
    held = ["-e", f"trace={names}", "-e", f"inject={names}:delay_enter=3s"]
    process = _run(house, {"tool_calls": calls}, before=["strace", "-f", "-qq", "-o", str(log), *which, *held])
    _until(process, "tool/call")
    while not log.exists() or not log.read_text():
        assert process.poll() is None
    (traced,) = children(process.pid)
    return _stoppable(process, traced)


def _run(house: House, *replies: dict[str, Any], before: Sequence[str] = ()) -> "subprocess.Popen[bytes]":
    return house.start("run", "--json", "-m", house.script(*replies), "--approve", "auto", "work", before=before)


def _until(process: "subprocess.Popen[bytes]", *types: str) -> None:
    """Reads events from `run --json` until each of `types` has come."""
    assert process.stdout
    missing = list(types)
    while missing:
        line = process.stdout.readline()
        assert line, f"{missing} never came"
        type = json.loads(line)["type"]
        if type in missing:
            missing.remove(type)


def _stoppable(process: "subprocess.Popen[bytes]", pid: int = 0) -> Stoppable:
    def finish() -> int:
        process.communicate(timeout=20)
        return process.returncode

    return Stoppable(lambda: os.kill(pid or process.pid, signal.SIGINT), finish, pid or process.pid)
