"""Writes to one file without ever keeping the event loop waiting for whoever reads it.

Outside of `unblocked` a write waits until all is written, as anywhere. Inside, what can be written at once is; the
rest goes to a thread that writes it in order, and so does everything after it until the thread is done. At once can be
written: to a regular file, and to a pipe that has room (which then takes `PIPE_BUF` bytes). No system tells as much of
a terminal or a socket: what seems to have room may have less than is needed.

Nothing here bounds what waits. Whoever has much to write asks `is_full` first and waits for `room`.
"""

import os
import select
import stat
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TextIO

from planlog.kernel.errors import PlanlogError

if TYPE_CHECKING:
    import asyncio

FULL = 1 << 17
"""Bytes that may wait before whoever has more should wait too."""
PARTING = 0.3
"""Seconds in which a reader can take what is left when the program is told to end."""
_AT_ONCE = select.PIPE_BUF
_GATHERED = 1 << 16
_END = b""


class ScreenGone(Exception):
    """Nobody reads any more: the pipe was closed, or the terminal."""


class Outlet:
    """The file of a descriptor; `name` is what errors call it.

    Where what is said may be `spared` (notes about a result, not the result), nothing is raised: a file that cannot be
    written gets no more.
    Raises `ScreenGone` when the reader has gone, `PlanlogError` when the file cannot be written for another reason;
    what the thread ran into is raised by whatever is called next.
    """

    def __init__(self, descriptor: int, name: str, *, spared: bool = False) -> None:
        self._descriptor = descriptor
        self._name = name
        self._spared = spared
        self._deaf = False
        mode = os.fstat(descriptor).st_mode
        self._never_waits = stat.S_ISREG(mode)
        self._poll = select.poll() if stat.S_ISFIFO(mode) else None
        if self._poll:
            self._poll.register(descriptor, select.POLLOUT)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._progress: asyncio.Event | None = None
        self._waiting = 0
        self._queue: SimpleQueue[bytes] | None = None
        self._given_up = False
        self._failure: Exception | None = None

    def is_same_file(self, other: "Outlet") -> bool:
        """Whether both write to one terminal, pipe or file, so that only one of them may, or the order is lost."""
        return os.path.samestat(os.fstat(self._descriptor), os.fstat(other._descriptor))

    @property
    def is_full(self) -> bool:
        """Whether so much waits that more should not be added."""
        return self._waiting >= FULL

    def write(self, data: bytes) -> None:
        """Writes `data` after all that was written before."""
        if self._failure:
            raise self._failure
        if self._loop is None or (not self._waiting and self._takes_at_once(len(data))):
            self._put(data)
        elif data:
            self._waiting += len(data)
            if self._queue is None:
                self._queue = SimpleQueue()
                # A daemon: a write that nobody ever takes must not keep the program from ending.
                work = threading.Thread(target=self._work, args=(self._loop, self._queue), daemon=True)
                work.start()
            self._queue.put(data)

    async def room(self) -> None:
        """Waits until no more waits than should."""
        await self._until(FULL)

    async def flushed(self) -> None:
        """Waits until everything is written."""
        await self._until(1)

    async def broken(self) -> None:
        """Waits for the thread to fail, and raises why."""
        await self._until(-1)

    @asynccontextmanager
    async def unblocked(self) -> AsyncGenerator[None]:
        """A block in which no write waits; its end waits until all is written, or not for long when it is cut short."""
        import asyncio

        import anyio

        self._loop, self._progress = asyncio.get_running_loop(), asyncio.Event()
        try:
            yield
            await self.flushed()
        except BaseException:
            with anyio.move_on_after(PARTING, shield=True), suppress(ScreenGone, PlanlogError):
                await self.flushed()
            raise
        finally:
            self._given_up = self._waiting > 0
            if self._queue:
                self._queue.put(_END)
            self._queue = self._loop = self._progress = None
            self._waiting = 0

    def _put(self, data: bytes) -> None:
        if self._deaf:
            return
        try:
            write_all(self._descriptor, data, self._name)
        except (ScreenGone, PlanlogError):
            if not self._spared:
                raise
            self._deaf = True

    def _takes_at_once(self, size: int) -> bool:
        if self._poll is None:
            return self._never_waits
        # A pipe without a reader is "ready" too: the write then says so.
        return size <= _AT_ONCE and bool(self._poll.poll(0))

    async def _until(self, fewer: int) -> None:
        while self._failure is None and self._waiting >= fewer and self._progress:
            await self._progress.wait()
        if self._failure:
            raise self._failure

    def _work(self, loop: "asyncio.AbstractEventLoop", queue: SimpleQueue[bytes]) -> None:
        """The thread: takes what waits, up to `_GATHERED` bytes at once, writes it and tells the loop."""
        failure: Exception | None = None
        while not failure and not self._given_up and (data := queue.get()):
            pieces, size = [data], len(data)
            with suppress(Empty):
                while data and size < _GATHERED:
                    data = queue.get_nowait()
                    pieces.append(data)
                    size += len(data)
            try:
                self._put(b"".join(pieces))
            except Exception as error:
                failure = error
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(self._written, size, failure)
            if not data:
                return

    def _written(self, size: int, failure: Exception | None) -> None:
        if self._progress:
            self._waiting -= size
            self._failure = self._failure or failure
            self._progress.set()
            self._progress.clear()


def open_outlet(stream: TextIO | None, *, spared: bool = False) -> Outlet | None:
    """The file of a stream; None where it has none."""
    try:
        return Outlet(stream.fileno(), stream.name, spared=spared) if stream else None
    except OSError:
        return None


def write_all(descriptor: int, data: bytes, name: str) -> None:
    """Writes all of `data`, however long that takes. Raises `ScreenGone` or `PlanlogError`."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # whoever shares the pipe made it non-blocking
            select.select([], [descriptor], [])
        except OSError as error:
            import errno

            if error.errno in (errno.EPIPE, errno.EIO):  # EIO: the terminal was closed
                raise ScreenGone from error
            raise PlanlogError(f"cannot write to {name.strip('<>')}: {error.strerror}") from error
