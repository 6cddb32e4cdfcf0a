"""The right to run a turn in a session, as a lock on a file that the kernel gives back when its holder dies.

The file is empty and stays for ever, one for each session that ever ran: on a busy disk, to make, write or remove a
file can take as long as a commit does, to lock one never. Somebody may delete it all the same: then two processes may
hold a lock each, and the epoch in the database refuses the older one.
"""

import asyncio
import fcntl
import os
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

PATIENCE_SECONDS = 1.0
"""A look at the lock shares it for microseconds, or for as long as the looking process gets no turn meanwhile."""

PAUSE_SECONDS = (0.0003, 0.001)


class FileLock:
    """A lock that is held, until `release` or the death of this process. No child process inherits it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Safe to call twice."""
        if self._descriptor is not None:
            # Closing would do, were there not a moment in which a child that another thread starts has a copy.
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            os.close(self._descriptor)
            self._descriptor = None


async def lock(path: Path, make: Callable[[], Awaitable[None]]) -> FileLock:
    """Locks the file at `path`; `make` is awaited where there is none.

    Raises `BlockingIOError` at once while somebody holds the lock, and any other `OSError` of the file system.
    """
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            descriptor = _lock(path)
        except FileNotFoundError:
            await make()
            continue
        if descriptor is not None:
            return FileLock(descriptor)
        if time.monotonic() > until:
            raise BlockingIOError(f"{path} is looked at all the time")
        await asyncio.sleep(random.uniform(*PAUSE_SECONDS))


def make_file(path: Path) -> None:
    """An empty file to lock, in a folder of its owner's alone."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def is_held(path: Path) -> bool:
    """Whether a living process holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _lock(path: Path) -> int | None:
    """The descriptor of the locked file; None where it may be tried again at once.

    Raises `BlockingIOError` where somebody holds the lock, and does not only look at it.
    """
    descriptor = os.open(path, os.O_RDONLY)
    held = False
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Those who look share the lock with us; a holder does not.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        # Whoever deletes the file leaves the next one to lock another.
        held = os.path.samestat(os.fstat(descriptor), os.stat(path))
        return descriptor if held else None
    finally:
        if not held:
            os.close(descriptor)
