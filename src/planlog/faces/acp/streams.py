"""The two ends of the wire: descriptors of any kind, read and written by threads for which nobody has to wait.

A pipe, a socket, a file and a terminal can all be read by a thread that blocks, and none of them has to be made
non-blocking, which whoever else holds it would notice. A client that stops reading holds up one thread.
"""

import asyncio
import os
import select
import threading
from collections import deque

import anyio

from planlog.faces.acp.stdio import wait_for, write_all

CHUNK = 1 << 18
WAITING = 4
"""Chunks that are read ahead."""
FULL = 1 << 20
"""Unsent bytes at which an outlet counts as full."""


class Inlet:
    """Reads a descriptor, a few chunks ahead."""

    def __init__(self, descriptor: int, read: bytes = b"") -> None:
        """`read` is what somebody has read already."""
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque([read] if read else [])
        self._some = anyio.Event()
        self._slots = threading.Semaphore(WAITING)
        threading.Thread(target=self._read, name="ACP input", daemon=True).start()

    async def read(self) -> bytes:
        """The next bytes; none at the end, and where nothing can be read."""
        while not self._chunks:
            self._some = anyio.Event()
            await self._some.wait()
        if self._chunks[0]:
            self._slots.release()
            return self._chunks.popleft()
        return b""

    def _read(self) -> None:
        data = b"-"
        while data:
            self._slots.acquire()
            try:
                data = os.read(self._descriptor, CHUNK)
            except BlockingIOError:  # somebody else made it non-blocking
                wait_for(self._descriptor, select.POLLIN)
                self._slots.release()
                continue
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._take, data)
            except RuntimeError:  # the loop has ended
                return

    def _take(self, data: bytes) -> None:
        self._chunks.append(data)
        self._some.set()


class Outlet:
    """Writes lines to a descriptor in the order in which they were sent."""

    def __init__(self, descriptor: int) -> None:
        self.broken = anyio.Event()
        """Set once nothing can be written any more; what is sent from then on is dropped."""
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: deque[bytes] = deque()
        self._unsent = 0
        self._more = threading.Condition()
        self._moved = anyio.Event()
        threading.Thread(target=self._write, name="ACP output", daemon=True).start()

    @property
    def is_full(self) -> bool:
        """Whether whoever can wait should wait."""
        return self._unsent >= FULL

    def send(self, line: bytes) -> None:
        """Sends a line; never waits."""
        if self.broken.is_set():
            return
        self._unsent += len(line)
        with self._more:
            self._lines.append(line)
            self._more.notify()

    async def room(self) -> None:
        """Waits until it is no longer full."""
        while self.is_full:
            await self._moved.wait()

    async def flushed(self) -> None:
        """Waits until everything is written, or nothing can be."""
        while self._unsent:
            await self._moved.wait()

    def _write(self) -> None:
        while True:
            with self._more:
                while not self._lines:
                    self._more.wait()
                lines = list(self._lines)
                self._lines.clear()
            data = b"".join(lines)
            broken = not write_all(self._descriptor, data)
            try:
                self._loop.call_soon_threadsafe(self._written, len(data), broken)
            except RuntimeError:  # the loop has ended
                return
            if broken:
                return

    def _written(self, size: int, broken: bool) -> None:
        self._unsent = 0 if broken else self._unsent - size
        if broken:
            self.broken.set()
        moved, self._moved = self._moved, anyio.Event()
        moved.set()
