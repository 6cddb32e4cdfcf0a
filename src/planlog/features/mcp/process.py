"""The process of a server, and its two pipes: whole lines in, whole lines out, neither faster than the other reads.

The SDK's own transport is not used: it hides the process, takes up to four seconds to end it, and leaves what a
killed planlog had started (docs/decisions/0071-servers-that-bring-tools.md).
"""

import os
import subprocess
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio

from planlog.agent.tasks import task_group
from planlog.kernel.errors import PlanlogError
from planlog.tools.child import Child
from planlog.tools.lines import Lines

LONGEST = 16 << 20
"""Bytes of a line."""
HELD = 1 << 20
"""Bytes of lines that may wait to be taken before the server has to wait."""
LEAVE_SECONDS = 0.3
"""How long a server may take to end by itself when its input has ended."""
STOP_SECONDS = 0.2
"""How long it may take after that, when it was sent TERM."""


class ServerEnded(PlanlogError):
    """Nothing more is to be had from the server."""


class ServerProcess:
    """A server that runs; `stdin` is our end of its input, which does not block."""

    def __init__(self, process: "subprocess.Popen[bytes]", stdin: int, stdout: int) -> None:
        self._child = Child(process, stdout, self._take)
        self._stdin = stdin
        self._lines = Lines(LONGEST)
        self._held: deque[bytes] = deque()
        self._size = 0
        self._ended = ""
        self._news = anyio.Event()

    async def read(self) -> bytes:
        """The next line that it has printed. Raises `ServerEnded`."""
        while not self._held:
            if self._ended:
                raise ServerEnded(self._ended)
            await self._news.wait()
        line = self._held.popleft()
        self._size -= len(line)
        if self._size < HELD and not self._ended:
            self._child.resume()
        return line

    async def write(self, line: bytes) -> None:
        """Returns when all of `line` is in the pipe. Raises `ServerEnded`."""
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._stdin, rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._stdin)
            except OSError:
                raise ServerEnded(await self._end("it reads no more")) from None

    async def end(self) -> None:
        """Ends its input, waits a moment, and stops what is left of it."""
        os.close(self._stdin)
        with anyio.CancelScope(shield=True):
            try:
                with anyio.move_on_after(LEAVE_SECONDS) as patience:
                    await self._child.exited.wait()
                if patience.cancelled_caught:
                    await self._child.stop(STOP_SECONDS)
            finally:
                self._child.release()

    async def watch(self) -> None:
        """Reads until no more can come."""
        self._child.watch()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._await_exit, tasks.cancel_scope)
            await self._child.closed.wait()
            tasks.cancel_scope.cancel()
        self._ended = self._ended or await self._end("it has closed its output")
        self._wake()

    async def _end(self, sign: str) -> str:
        """What has come to its end, where `sign` was seen; that the process has ended is often seen a moment later."""
        with anyio.move_on_after(LEAVE_SECONDS):
            await self._child.exited.wait()
        return "it has ended; planlog's stderr has what it said" if self._child.exited.is_set() else sign

    async def _await_exit(self, waiting: anyio.CancelScope) -> None:
        await self._child.exited.wait()
        # Something that it has started may hold its output open, and what it has said last may not be read yet.
        await anyio.sleep(LEAVE_SECONDS)
        waiting.cancel()

    def _take(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            if line is None:
                self._ended = f"it prints a line of more than {LONGEST >> 20} MiB"
            elif line.strip():
                self._held.append(line)
                self._size += len(line)
        if self._size >= HELD or self._ended:
            self._child.pause()
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()


@asynccontextmanager
async def running(command: list[str], cwd: Path, env: Mapping[str, str]) -> AsyncGenerator[ServerProcess]:
    """The server for as long as the block lasts. Raises `ServerEnded` when it cannot be started."""
    try:
        server = ServerProcess(*_spawn(command, cwd, env))
    except OSError as error:
        raise ServerEnded(f"{command[0]} cannot be started: {error.strerror}") from error
    try:
        async with task_group() as tasks:
            tasks.start_soon(server.watch)
            yield server
            tasks.cancel_scope.cancel()
    finally:
        await server.end()


def _spawn(command: list[str], cwd: Path, env: Mapping[str, str]) -> "tuple[subprocess.Popen[bytes], int, int]":
    """The process, our end of its input and our end of its output; neither blocks."""
    inlet, stdin = os.pipe()
    stdout, outlet = os.pipe()
    try:
        process = subprocess.Popen(command, cwd=cwd, env=env, stdin=inlet, stdout=outlet, start_new_session=True)
    except BaseException:
        os.close(stdin)
        os.close(stdout)
        raise
    finally:
        os.close(inlet)
        os.close(outlet)
    os.set_blocking(stdin, False)
    os.set_blocking(stdout, False)
    return process, stdin, stdout
