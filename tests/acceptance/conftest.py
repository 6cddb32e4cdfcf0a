"""The real program, in processes of its own: each test has a home, a folder to work in and the scripts that it writes."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest

from planlog.agent.agent import Agent
from planlog.app.compose import open_program
from planlog.app.shipped import find_composition
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store.home import Home

T = TypeVar("T")

COMMAND = [sys.executable, "-m", "planlog"]


class House:
    """A person's machine: `home` keeps the sessions, `folder` is where commands are typed."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.folder = root / "work"
        self.folder.mkdir()
        self.env = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "COVERAGE_PROCESS_START")},
            "PLANLOG_HOME": str(self.home),
            "HOME": str(root),
            "LANG": "C.UTF-8",
        }
        self._started: list[subprocess.Popen[Any]] = []
        self._scripts = 0

    def script(self, *replies: dict[str, Any]) -> str:
        """The `-m` of a scripted model that says `replies`, one after the other."""
        self._scripts += 1
        path = self.folder.parent / f"script{self._scripts}.jsonl"
        path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        return f"script:{path}"

    def planlog(self, *arguments: str, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
        """Runs one command to its end."""
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env={**self.env, **env},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=30,
        )

    def json(self, *arguments: str) -> Any:
        """What a command prints with `--json`; it has to succeed and to print nothing else."""
        done = self.planlog(*arguments, "--json")
        assert (done.returncode, done.stderr) == (0, ""), done
        return json.loads(done.stdout)

    def start(self, *arguments: str, before: Sequence[str] = (), **options: Any) -> subprocess.Popen[Any]:
        """Begins a command that goes on while the test looks at it; `before` is what runs it, such as strace."""
        defaults: dict[str, Any] = {
            "cwd": self.folder,
            "env": self.env,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        process = subprocess.Popen([*before, *COMMAND, *arguments], **{**defaults, **options})
        self._started.append(process)
        return process

    def events(self, session: str = "") -> list[dict[str, Any]]:
        """The log of a session, by default of the newest one."""
        done = self.planlog("log", *([session] if session else []))
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def elsewhere(self, work: Callable[[Agent, Session], Awaitable[T]]) -> T:
        """What another process does with the newest session; here it is the test's own."""

        async def run() -> T:
            roles = ("event", "fold", "service", "tool")
            async with open_program(find_composition("stdio"), roles, Home(self.home), {}) as scope:
                sessions = scope.get(Sessions)
                newest = (await sessions.store.find(""))[0].id
                return await work(scope.get(Agent), await sessions.open(newest))

        return anyio.run(run)

    def stop(self) -> None:
        """Kills what a failed test left behind, and lets commands end that wait at a pipe: their program was killed."""
        for pipe in filter(Path.is_fifo, self.folder.iterdir()):
            os.close(os.open(pipe, os.O_RDWR | os.O_NONBLOCK))
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr, process.stdin):
                if stream:
                    stream.close()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """A machine of its own for the test."""
    house = House(tmp_path)
    yield house
    house.stop()
