"""Jobs that are committed together: all that write are durable at once, and none harms another.

A job is a function of the connection. It looks first and writes afterwards, so one that refuses (it raises a
`PlanlogError`) has changed nothing, and the others of its batch are committed all the same.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from planlog.kernel.errors import PlanlogError
from planlog.log.store import StoreError
from planlog.log.store.faults import LOCKED, OF_THE_PLACE, explain
from planlog.log.store.outcome import Outcome
from planlog.log.store.patience import Wait

T = TypeVar("T")
Work = Callable[[apsw.Connection], T]


class Job:
    """What shall be done, and afterwards what came of it."""

    __slots__ = ("error", "outcome", "result", "work")

    def __init__(self, work: Work[Any], outcome: Outcome[Any]) -> None:
        self.work = work
        self.outcome = outcome
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self) -> None:
        """Tells the task that waits; on the event loop."""
        if self.error is None:
            self.outcome.set_result(self.result)
        else:
            self.outcome.set_exception(self.error)


def begin(connection: apsw.Connection, wait: Callable[[], Wait]) -> None:
    """Takes the lock that one writer of all processes has; blocks while another has it. Raises `StoreLocked`."""
    waiting: Wait | None = None
    while True:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except LOCKED:
            waiting = waiting or wait()
            time.sleep(waiting.pause())
        else:
            return


def commit(connection: apsw.Connection, path: Path, jobs: Sequence[Job], begin: Callable[[], None]) -> None:
    """Does the jobs in one transaction, which `begin` opens, and leaves in each its result or error.

    When the disk or the file fails, all of them have failed. A job that fails for what it is, with anything but a
    refusal, is told apart by doing each in a transaction of its own.
    """
    try:
        begin()
        for job in jobs:
            try:
                job.error, job.result = None, job.work(connection)
            except PlanlogError as refusal:
                job.error = refusal
        connection.execute("COMMIT")
    except BaseException as error:
        undo(connection)
        if len(jobs) > 1 and not isinstance(error, (StoreError, *OF_THE_PLACE)):
            for job in jobs:
                commit(connection, path, (job,), begin)
            return
        failure = in_words(error, connection, path)
        for job in jobs:
            job.error = failure


def in_words(error: BaseException, connection: apsw.Connection, path: Path) -> BaseException:
    """The `StoreError` for what SQLite raised; anything else is returned as it is."""
    if not isinstance(error, apsw.Error):
        return error
    failure = explain(error, path, "save to", connection.system_errno)
    failure.__cause__ = error
    return failure


def undo(connection: apsw.Connection) -> None:
    """Leaves the transaction that failed, where SQLite has not done so itself."""
    with suppress(apsw.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
