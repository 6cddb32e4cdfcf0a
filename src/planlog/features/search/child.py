"""Runs an engine as a child process to its end, in time or not, and leaves nothing of it behind."""

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from signal import SIGKILL
from typing import IO, Literal

from planlog.tools.tool import ToolFailure

PIECE = 1 << 16
"""Bytes that are read at once."""
LOOK = 0.02
"""Seconds between two looks at whether anybody waits."""
COMPLAINT = 1 << 16
"""Bytes that are kept of what an engine complains about."""
MEMORY = 1 << 31
"""Bytes of address space that an engine may take, where the system can tell it so."""
# No key, no setting of the person, and nothing of the workspace.
ENVIRONMENT = {"LC_ALL": "C.UTF-8"}

Cut = Literal["", "enough", "time"]
"""Why an engine was stopped before its end, if it was."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How an engine ended: its exit status, and what it said about it."""

    status: int
    complaint: str
    cut: Cut


def run(
    command: list[str],
    *,
    folder: str,
    given: int,
    seconds: float,
    stopped: Callable[[], bool],
    take: Callable[[bytes], bool],
) -> Ended:
    """Runs `command` in `folder` with `given` as its input; blocks.

    `take` gets the output piece by piece and says whether it wants more. Raises `ToolFailure` where the child cannot be
    started, and where it was `stopped`, for then nobody waits.
    """
    deadline = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=ENVIRONMENT,
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolFailure(f"the search could not be started: {error.strerror or error}") from error
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        with process.stdout as output, process.stderr as errors:
            _limit_memory(process.pid)
            cut, complaint = _read(output, errors, deadline, stopped, take)
            if cut:
                _kill(process)
            return Ended(process.wait(), complaint, cut)
    finally:
        _kill(process)
        process.wait()


def _read(
    output: IO[bytes], errors: IO[bytes], deadline: float, stopped: Callable[[], bool], take: Callable[[bytes], bool]
) -> tuple[Cut, str]:
    complaint = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        selector.register(errors, selectors.EVENT_READ)
        while selector.get_map():
            if stopped():
                raise ToolFailure("stopped before the search was over")
            if time.monotonic() >= deadline:
                return "time", ""
            for key, _ in selector.select(LOOK):
                data = os.read(key.fd, PIECE)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is errors:
                    complaint += data[: COMPLAINT - len(complaint)]
                elif not take(data):
                    return "enough", ""
    return "", complaint.decode("utf-8", "replace")


def _limit_memory(pid: int) -> None:
    import resource  # only a search needs it

    if hasattr(resource, "prlimit"):  # Linux
        with suppress(OSError, ValueError):
            resource.prlimit(pid, resource.RLIMIT_AS, (MEMORY, MEMORY))


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """KILL to the child and its like, as long as its number is its own."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, SIGKILL)
