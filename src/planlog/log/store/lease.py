"""The right to run a turn in a session, as a lock on a file that the kernel gives back when its holder dies.

What the file says of its holder is for people; whether it is held is for the kernel to say. Somebody may delete the
file meanwhile: then two processes may hold a lock each, and the epoch in the database refuses the older one.
"""

import asyncio
import fcntl
import os
import random
import time
from contextlib import suppress
from pathlib import Path

from planlog.log.store import Owner, SessionBusy
from planlog.log.store.faults import explain_system

PATIENCE_SECONDS = 1.0
"""A look at the owner shares the lock for microseconds, or for as long as its process gets no turn meanwhile."""

PAUSE_SECONDS = (0.0003, 0.001)


class FileLock:
    """A lock that is held. `release` gives it back; so does the death of the process, and no child inherits it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Removes the file and unlocks it. Safe to call twice."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            # Removed while it is still locked: whoever has it open already finds that out, see `_lock`.
            with suppress(OSError):
                if _is_at(descriptor, self._path):
                    self._path.unlink()
        finally:
            os.close(descriptor)


async def lock(path: Path, session: str) -> FileLock:
    """Locks the file at `path`, made where it is missing. Raises `SessionBusy` at once, or `StoreError`."""
    until = time.monotonic() + PATIENCE_SECONDS
    try:
        while True:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = _lock(path)
            if descriptor is not None:
                return FileLock(path, descriptor)
            if time.monotonic() > until:
                break
            await asyncio.sleep(random.uniform(*PAUSE_SECONDS))
    except BlockingIOError:
        pass
    except OSError as error:
        raise explain_system(error, path, "lock") from error
    raise SessionBusy(session, owner_of(path))


def owner_of(path: Path) -> Owner | None:
    """Who holds the lock, by its own account; None where nobody does, or has yet to say."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pid, _, host = os.read(descriptor, 1000).decode(errors="replace").partition(" ")
        return Owner(int(pid), host.strip()) if pid.isdecimal() else None
    else:
        return None
    finally:
        os.close(descriptor)


def _lock(path: Path) -> int | None:
    """The descriptor of the locked file; None where that may be tried again at once.

    Raises `BlockingIOError` where somebody holds the lock, and not only looks at it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    held = False
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Those who look share the lock with us; a holder does not.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
        held = _is_at(descriptor, path)
        if not held:
            return None
        # Said without checking: on a full disk the lock is held all the same.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {os.uname().nodename}\n".encode(), 0)
        return descriptor
    finally:
        if not held:
            os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
