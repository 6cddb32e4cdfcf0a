"""Runs a command under strace: to make its k-th write or sync fail, or to see in which order it wrote and synced."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

WRITES = "pwrite64"
SYNCS = "fdatasync,fsync"

_CALL = re.compile(r"^(?P<task>\d+) +(?P<name>\w+)\((?P<rest>.*)$")
_RESUMED = re.compile(r"^(?P<task>\d+) +<\.\.\. (?P<name>\w+) resumed>")


@dataclass(frozen=True)
class Fault:
    """What happens at the `nth` call of `calls` in each thread: `error=EIO`, `error=ENOSPC` or `signal=KILL`."""

    calls: str
    what: str
    nth: int


@dataclass(frozen=True)
class Call:
    """One system call that has returned: `argument` is what strace prints of it, file names and data included."""

    name: str
    argument: str


def run_traced(
    command: list[str], files: list[Path], log: Path, fault: Fault | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The finished run of `command`, with writes and syncs of `files` logged and one of them made to fail."""
    strace = ["strace", "-f", "-qq", "--seccomp-bpf", "-o", str(log), "-e", f"trace={WRITES},{SYNCS}", "-s", "0"]
    for file in files:
        strace += ["-P", str(file)]
    if fault is not None:
        strace += ["-e", f"inject={fault.calls}:{fault.what}:when={fault.nth}"]
    return subprocess.run(
        [*strace, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, cwd=cwd, check=False
    )


def count_calls(log: Path, calls: str) -> int:
    """The largest number of `calls` that one thread of a traced run made: how far faults can be enumerated."""
    names = set(calls.split(","))
    counts: dict[str, int] = {}
    for line in log.read_text(errors="replace").splitlines():
        match = _CALL.match(line)
        if match and match["name"] in names:
            counts[match["task"]] = counts.get(match["task"], 0) + 1
    return max(counts.values(), default=0)


def order_of_calls(command: list[str], log: Path, cwd: Path | None = None) -> list[Call]:
    """Every write and sync of a run, in the order in which they returned, with the data that was written."""
    strace = ["strace", "-f", "-y", "-qq", "--seccomp-bpf", "-o", str(log), "-s", "100000"]
    subprocess.run(
        [*strace, "-e", f"trace=write,{WRITES},{SYNCS}", *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        cwd=cwd,
        check=True,
    )
    begun: dict[tuple[str, str], str] = {}
    returned: list[Call] = []
    for line in log.read_text(errors="replace").splitlines():
        if match := _RESUMED.match(line):
            argument = begun.pop((match["task"], match["name"]), "")
            returned.append(Call(match["name"], argument))
        elif match := _CALL.match(line):
            if match["rest"].endswith("<unfinished ...>"):
                begun[match["task"], match["name"]] = match["rest"]
            else:
                returned.append(Call(match["name"], match["rest"]))
    return returned
