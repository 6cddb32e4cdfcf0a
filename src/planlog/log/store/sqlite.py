"""Keeps all logs of one user in one SQLite database, which any number of processes use at the same time.

Writing is done by one thread, see `writer`; reading here, on the event loop, from a connection of its own, for in
write-ahead mode a reader never waits for a writer.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from planlog.log.store import (
    Command,
    Lease,
    Owner,
    Row,
    SessionBusy,
    SessionRecord,
    SessionUnknown,
    Store,
    StoreError,
    queries,
)
from planlog.log.store.batch import Work
from planlog.log.store.database import Database
from planlog.log.store.faults import LOCKED, explain, explain_system
from planlog.log.store.home import Home
from planlog.log.store.lease import FileLock, is_held, lock, make_file
from planlog.log.store.opening import open_apart
from planlog.log.store.patience import Patience, Wait
from planlog.log.store.refusals import check_rows
from planlog.log.store.writer import Writer

T = TypeVar("T")

BULK = 500
"""Rows that one commit may remove, so that the lock is never held for long."""

RECORDS = 200
"""Sessions that are listed before the loop gets a turn."""

PATIENT = Patience()

log = logging.getLogger("planlog.store")


class SqliteLease:
    """A lease that ends when it is released or when this process does."""

    def __init__(self, session: str, epoch: int, held: FileLock) -> None:
        self._session = session
        self._epoch = epoch
        self._held = held

    @property
    def session(self) -> str:
        return self._session

    @property
    def epoch(self) -> int:
        return self._epoch

    async def release(self) -> None:
        self._held.release()


class SqliteStore:
    """See `Store`; made by `open_store`, on the event loop that uses it."""

    def __init__(self, database: Database, wait: Callable[[], Wait], loop: asyncio.AbstractEventLoop) -> None:
        self._path = database.path
        self._reader = database.reader
        self._writer = Writer(database.writer, database.path, loop, wait) if database.writer else None
        self._wait = wait
        self._keys: dict[str, int] = {}
        self._version = 0

    async def create(self, record: SessionRecord) -> None:
        await self._write(partial(queries.create, record=record))

    async def rename(self, session: str, name: str) -> None:
        await self._write(partial(queries.rename, session=session, name=name))
        self._keys.pop(session, None)

    async def delete(self, session: str) -> None:
        with suppress(SessionUnknown):
            key = await self._key(session)
            while not await self._write(partial(queries.delete_some, key=key, limit=BULK)):
                pass
            self._keys.pop(session)

    async def find(self, prefix: str) -> list[SessionRecord]:
        found: list[SessionRecord] = []
        while page := await self._read(
            partial(queries.records_after, prefix=prefix, after=found[-1].id if found else "", limit=RECORDS)
        ):
            found += page
            await asyncio.sleep(0)
        return sorted(found, key=lambda record: (-record.updated_at, record.id))

    async def record(self, session: str) -> SessionRecord:
        return await self._read(partial(queries.record_of, session=session))

    async def append(self, session: str, rows: Sequence[Row], *, lease: Lease, claims: Sequence[str] = ()) -> None:
        check_rows(rows)
        key = self._keys.get(session) or await self._key(session)
        rows, claims, epoch = tuple(rows), tuple(claims), lease.epoch
        await self._writable().run(lambda connection: queries.append(connection, session, key, rows, epoch, claims))

    async def read(
        self, session: str, start: int, *, types: frozenset[str] | None = None, limit: int = 500
    ) -> list[bytes]:
        key = await self._key(session)
        return await self._read(partial(queries.lines, key=key, start=start, types=types, limit=limit))

    async def last_of(self, session: str, types: Sequence[str]) -> bytes | None:
        return await self._read(partial(queries.last_line, key=await self._key(session), types=types))

    async def types(self, session: str) -> set[str]:
        return await self._read(partial(queries.types_of, key=await self._key(session)))

    async def send(self, session: str, command: Command) -> None:
        key = await self._key(session)
        await self._write(partial(queries.send, session=session, key=key, command=command))

    async def commands(self, session: str) -> list[Command]:
        return await self._read(partial(queries.commands_of, key=await self._key(session)))

    async def withdraw(self, session: str, command: str) -> bool:
        return await self._write(partial(queries.withdraw, key=await self._key(session), command=command))

    async def acquire(self, session: str) -> SqliteLease:
        key = await self._key(session)
        path = self._lock_path(key)
        self._writable()
        try:
            held = await lock(path, lambda: self._write(lambda _: make_file(path)))
        except BlockingIOError:
            raise SessionBusy(session, await self.owner(session)) from None
        except OSError as error:
            raise explain_system(error, path, "lock") from error
        try:
            here = Owner(os.getpid(), os.uname().nodename)
            epoch = await self._write(partial(queries.next_epoch, session=session, key=key, holder=here))
        except BaseException:
            held.release()
            raise
        return SqliteLease(session, epoch, held)

    async def owner(self, session: str) -> Owner | None:
        key = await self._key(session)
        path = self._lock_path(key)
        try:
            held = is_held(path)
        except OSError as error:
            raise explain_system(error, path, "look at") from error
        return await self._read(partial(queries.holder_of, key=key)) if held else None

    def version(self) -> int:
        try:
            self._version = self._reader.pragma("data_version")
        except LOCKED:
            # Another process is repairing the log's index; whatever it commits is seen at the next look.
            pass
        except apsw.Error as error:
            raise self._explain(error) from error
        return self._version

    async def close(self) -> None:
        """Commits what is under way, and closes the file."""
        try:
            if self._writer is not None:
                await self._writer.close()
        finally:
            self._reader.close()

    def _writable(self) -> Writer:
        if self._writer is None:
            raise StoreError(
                f"cannot save to {self._path}: it may only be read; make it writable or choose another home with --home"
            )
        return self._writer

    async def _write(self, work: Work[T]) -> T:
        return await self._writable().run(work)

    async def _read(self, work: Work[T]) -> T:
        """What `work` finds. Only the start and the end of other processes' use of the file can be in the way."""
        wait = self._wait()
        while True:
            try:
                return work(self._reader)
            except LOCKED:
                await asyncio.sleep(wait.pause())
            except apsw.Error as error:
                raise self._explain(error) from error

    async def _key(self, session: str) -> int:
        if session not in self._keys:
            self._keys[session] = await self._read(partial(queries.key_of, session=session))
        return self._keys[session]

    def _lock_path(self, key: int) -> Path:
        return self._path.parent / "locks" / f"{key}.lock"

    def _explain(self, error: apsw.Error) -> StoreError:
        if isinstance(error, apsw.ConnectionClosedError):
            return StoreError(f"cannot read {self._path}: the store is closed")
        return explain(error, self._path, "read", self._reader.system_errno)


@asynccontextmanager
async def open_store(
    home: Path, *, patience: Patience = PATIENT, on_notice: Callable[[str], None] = log.warning
) -> AsyncGenerator[SqliteStore]:
    """The store in the folder `home`, both made where they are missing. Raises `StoreError`.

    `on_notice` gets, on the event loop, a line for a person when the lock of another process is being waited for.
    """
    loop = asyncio.get_running_loop()

    def tell(notice: str) -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(on_notice, notice)

    def wait() -> Wait:
        return Wait(home / "planlog.db", patience, tell)

    database = await open_apart(home, wait())
    store = SqliteStore(database, wait, loop)
    try:
        yield store
    finally:
        await store.close()


async def plugin(home: Home) -> AsyncGenerator[Store]:
    """Offers the store in the home."""
    async with open_store(home.path) as store:
        yield store
