"""The one thread of a process that writes: it commits together whatever has gathered while it was busy."""

import atexit
import os
import queue
import threading
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from planlog.log.store import StoreError
from planlog.log.store.batch import Job, Work, begin, commit
from planlog.log.store.database import WAL_PAGES
from planlog.log.store.outcome import Outcome, known
from planlog.log.store.patience import Wait

T = TypeVar("T")

MOST_JOBS = 256
"""In one transaction, so that the lock is not held for long."""

LOOK_SECONDS = 1.0
"""How often it is seen whether the file is still where it was."""


class Writer:
    """The thread and its queue: `run` and `close` are for the event loop, the rest happens on the thread."""

    def __init__(
        self, connection: apsw.Connection, path: Path, loop: AbstractEventLoop, wait: Callable[[], Wait]
    ) -> None:
        """`connection` is the writer's from now on; `wait()` begins a wait for the lock."""
        self._connection = connection
        self._path = path
        self._file = os.stat(path)
        self._next_look = 0.0
        self._loop = loop
        self._wait = wait
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._closed: Outcome[None] | None = None
        self._ending = False
        self._log_pages = 0
        connection.set_wal_hook(self._count_pages)
        # Before the interpreter runs what is registered here it waits for all threads that are not daemons, and so for
        # ever for one that waits for jobs. A daemon that is joined here is not torn out of a commit either.
        self._thread = threading.Thread(target=self._work, name="planlog-writer", daemon=True)
        atexit.register(self._stop)
        self._thread.start()

    async def run(self, work: Work[T]) -> T:
        """What `work` returns, once it is on the disk; or the refusal or `StoreError` that it ended with.

        Not cut short by cancellation, see `known`.
        """
        if self._closed is not None:
            raise StoreError(f"cannot save to {self._path}: the store is closed")
        outcome: Outcome[T] = Outcome(loop=self._loop)
        job = Job(work, outcome)
        return await known(outcome, lambda: self._jobs.put(job))

    async def close(self) -> None:
        """Commits what has been asked for, and closes the connection."""
        if self._closed is None:
            self._closed = Outcome(loop=self._loop)
            await known(self._closed, partial(self._jobs.put, None))
            self._stop()

    def _stop(self) -> None:
        atexit.unregister(self._stop)
        self._jobs.put(None)
        self._thread.join()

    def _work(self) -> None:
        while not self._ending:
            job = self._jobs.get()
            if job is None:
                break
            batch = [job]
            self._gather(batch)
            commit(self._connection, self._path, batch, partial(self._begin, batch))
            self._call_soon(_settle, batch)
            if self._log_pages >= WAL_PAGES:
                self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
        self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._connection.close()
        if self._closed is not None:
            self._call_soon(self._closed.set_result, None)

    def _begin(self, batch: list[Job]) -> None:
        begin(self._connection, self._wait)
        self._refuse_moved()
        self._gather(batch)

    def _gather(self, batch: list[Job]) -> None:
        """Adds what has been asked for meanwhile; on the way notes that it was the last."""
        while not self._jobs.empty() and len(batch) < MOST_JOBS and not self._ending:
            job = self._jobs.get()
            if job is None:
                self._ending = True
            else:
                batch.append(job)

    def _refuse_moved(self) -> None:
        """SQLite would go on writing to a file that somebody has deleted, and nobody would ever read that.

        Looked at once a second: a look costs a tenth of a commit.
        """
        if time.monotonic() < self._next_look:
            return
        with suppress(FileNotFoundError):
            file = os.stat(self._path)
            if os.path.samestat(file, self._file):
                self._next_look = time.monotonic() + LOOK_SECONDS
                return
        raise StoreError(f"cannot save to {self._path}: it was moved or deleted while in use; start planlog again")

    def _count_pages(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self, mode: int) -> None:
        """Copies the log back, after the tasks have their answers. What is in the way now may not be next time."""
        with suppress(apsw.Error):
            self._connection.wal_checkpoint(mode=mode)
            self._log_pages = 0

    def _call_soon(self, call: Callable[[T], object], argument: T) -> None:
        # A loop that is gone has no task left that waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, argument)


def _settle(jobs: list[Job]) -> None:
    for job in jobs:
        job.settle()
