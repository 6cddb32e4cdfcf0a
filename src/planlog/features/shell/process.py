"""Runs one command to its end, in time or not, and leaves no process of its session behind.

The command's shell leads a POSIX session of its own, so that whatever it starts can be found and signalled, and that
nothing can ask on the person's terminal. The whole session is killed when the shell has ended, when its time is over
and when the caller is cancelled. Three things are beyond reach: a process that left the session (`setsid`, a daemon;
docs/decisions/0031-a-command-ends-with-its-session.md), one that runs as another user (`sudo`), and everything when
this program itself is killed with SIGKILL.
"""

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from signal import Signals

from anyio import CancelScope, move_on_after

from planlog.features.shell.output import Output
from planlog.features.shell.progress import Progress
from planlog.tools.child import Child
from planlog.tools.tool import ToolFailure


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: from TERM to KILL after a time-out and after a cancel; for the output to close after the end."""

    timed_out: float = 1.5
    cancelled: float = 0.4
    closing: float = 0.3


PATIENCE = Patience()


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended.

    `status` is its exit code, or minus the signal that ended it; None if not even KILL could end it. `output` is
    stdout and stderr in order of arrival, of which `dropped` characters in the middle are not kept. `seconds` is how
    long it took. `held` says that a process outside of the session kept the output open, so it is still running.
    """

    status: int | None
    output: str
    dropped: int
    seconds: float
    timed_out: bool
    held: bool

    def ending(self) -> str:
        """The status in words: `exit code 3`, `killed by SIGSEGV`."""
        if self.status is None:
            return "could not be killed"
        if self.status >= 0:
            return f"exit code {self.status}"
        try:
            return f"killed by {Signals(-self.status).name}"
        except ValueError:  # real-time signals have no names
            return f"killed by signal {-self.status}"


def find_shell() -> str:
    """The path of bash, or of sh where there is no bash."""
    return which("bash") or which("sh") or "/bin/sh"


async def run_command(
    command: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    output_limit: int,
    hear: Callable[[str], None],
    patience: Patience = PATIENCE,
) -> Ran:
    """Runs `command` in the folder `cwd` with empty input, for at most `timeout` seconds.

    `hear` gets output as it arrives, at a bearable rate. Raises `ToolFailure` when the command cannot be started.
    Cancellation stops the command first, and then travels on.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    output, progress = Output(output_limit), Progress(hear)
    # No `await` stands between the start of the process and this `try`: a cancel finds it either not there or in care.
    child = Child(*_spawn(command, cwd, env), lambda data: progress.add(output.feed(data)))
    try:
        child.watch()
        with move_on_after(timeout) as time:
            await child.exited.wait()
        if time.cancelled_caught:
            await child.stop(patience.timed_out)
        child.kill()
        with move_on_after(patience.closing):
            await child.closed.wait()
    except asyncio.CancelledError:
        with CancelScope(shield=True):
            await child.stop(patience.cancelled)
        raise
    finally:
        # Also where the wait above was cut short by a second cancel: this part never waits.
        child.release()
        progress.close()
    progress.add(output.end())
    progress.flush()
    progress.close()
    return Ran(
        status=child.status,
        output=output.text(),
        dropped=output.dropped,
        seconds=loop.time() - start,
        timed_out=time.cancelled_caught,
        held=not child.closed.is_set(),
    )


def _spawn(command: str, cwd: Path, env: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """Starts the shell; the process and a pipe that does not block.

    Not by asyncio's own way to start a process: that one waits in between, and knows the shell but not its session.
    """
    pipe, entry = os.pipe()
    try:
        process = subprocess.Popen(
            [find_shell(), "-c", "--", command],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=entry,
            stderr=entry,
            start_new_session=True,
        )
    except Exception as error:
        os.close(pipe)
        if isinstance(error, OSError):
            raise ToolFailure(f"the command could not be started in {cwd}: {error.strerror}") from error
        raise
    finally:
        os.close(entry)
    os.set_blocking(pipe, False)
    return process, pipe
