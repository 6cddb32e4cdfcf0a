"""A process that serves this program, with whatever it starts: watched, stopped, and never left behind."""

import asyncio
import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from signal import SIGTERM

from anyio import move_on_after

from planlog.tools.posix_session import kill_session, signal_session

CHUNK = 1 << 16
"""Bytes of one read: the loop has its turn after each."""

_living: set["Child"] = set()
"""Every child that is not released: of this process and not of a plugin, as processes are."""


def kill_living() -> None:
    """KILL to whatever any command of this program still runs; never waits, and can be called from any callback."""
    for child in _living:
        child.kill()


class Child:
    """A process that leads a POSIX session, and the reading end `pipe`, which does not block, of what it prints."""

    def __init__(self, process: "subprocess.Popen[bytes]", pipe: int, read: Callable[[bytes], None]) -> None:
        self.exited = asyncio.Event()
        """The process has ended; others of its session may live."""
        self.closed = asyncio.Event()
        """Nobody can print any more."""
        self._read = read
        self._loop = asyncio.get_running_loop()
        self._released = threading.Event()
        self._process, self._pipe = process, pipe
        _living.add(self)
        self._watcher = threading.Thread(target=self._await_exit, name=f"await {self._process.pid}", daemon=True)

    @property
    def status(self) -> int | None:
        """Its exit code, or minus the signal that ended it; known when the child was released after its end."""
        return self._process.returncode

    def watch(self) -> None:
        """Begins to read, and to wait for the end."""
        self.resume()
        self._watcher.start()

    def pause(self) -> None:
        """Reads no more, so that a child that prints faster than it is heard has to wait."""
        self._loop.remove_reader(self._pipe)

    def resume(self) -> None:
        """Reads again, unless there is nothing more to read."""
        if not self.closed.is_set():
            self._loop.add_reader(self._pipe, self._take)

    def kill(self) -> None:
        """KILL to the whole session; never waits."""
        kill_session(self._process.pid)

    async def stop(self, grace: float) -> None:
        """TERM, at most `grace` seconds for the session to put its things in order, KILL."""
        signal_session(self._process.pid, SIGTERM)
        with move_on_after(grace):
            await self.exited.wait()
            await self.closed.wait()
        self.kill()
        # A process deep in the kernel (a dead network disk) does not even hear KILL; the caller must not hang with it.
        with move_on_after(grace):
            await self.exited.wait()

    def release(self) -> None:
        """Kills what is left, stops reading, and has the process reaped, now or as soon as it has ended."""
        self.kill()
        _living.discard(self)
        self._loop.remove_reader(self._pipe)
        os.close(self._pipe)
        self._released.set()
        if self.exited.is_set() or not self._watcher.is_alive():
            self._process.wait()

    def _take(self) -> None:
        try:
            data = os.read(self._pipe, CHUNK)
        except BlockingIOError:  # somebody else, such as the command itself, has read it
            return
        if data:
            self._read(data)
        else:
            self._loop.remove_reader(self._pipe)
            self.closed.set()

    def _await_exit(self) -> None:
        """In a thread of its own: tells the loop of the end, and reaps when no signal will follow."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:  # macOS before Python 3.13 cannot wait without reaping
            self._process.wait()
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know
            self._loop.call_soon_threadsafe(self.exited.set)
        self._released.wait()
        self._process.wait()
