"""A store that forgets everything when the program ends: for tests, with the manners of the one on disk."""

import os
import platform
from collections.abc import AsyncGenerator, Sequence
from itertools import islice

import msgspec
from anyio.lowlevel import cancel_shielded_checkpoint

from planlog.log.store import Command, Lease, Owner, Row, SessionBusy, SessionRecord, Store
from planlog.log.store.refusals import check_append, check_rows, exists, unknown, waiting


class MemoryLease:
    """A lease that ends when it is released; there is no other process whose death could end it."""

    def __init__(self, kept: "_Kept", epoch: int) -> None:
        self._kept = kept
        self._epoch = epoch

    @property
    def session(self) -> str:
        return self._kept.record.id

    @property
    def epoch(self) -> int:
        return self._epoch

    async def release(self) -> None:
        if self._kept.epoch == self._epoch:
            self._kept.owner = None


class _Kept:
    """One session."""

    def __init__(self, record: SessionRecord) -> None:
        self.record = record
        self.rows: list[Row] = []
        self.commands: dict[str, Command] = {}
        self.epoch = 0
        self.owner: Owner | None = None


class MemoryStore:
    """See `Store`. Several `Sessions` over one of these are like several processes over one database."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Kept] = {}
        self._commits = 0

    async def create(self, record: SessionRecord) -> None:
        await cancel_shielded_checkpoint()
        if record.id in self._sessions:
            raise exists(record.id)
        self._sessions[record.id] = _Kept(msgspec.structs.replace(record, head=0, updated_at=record.created_at))
        self._commits += 1

    async def rename(self, session: str, name: str) -> None:
        await cancel_shielded_checkpoint()
        kept = self._kept(session)
        if name in self._sessions:
            raise exists(name)
        kept.record = msgspec.structs.replace(kept.record, id=name)
        self._sessions[name] = self._sessions.pop(session)
        self._commits += 1

    async def delete(self, session: str) -> None:
        await cancel_shielded_checkpoint()
        if self._sessions.pop(session, None) is not None:
            self._commits += 1

    async def find(self, prefix: str) -> list[SessionRecord]:
        visible = [kept.record for kept in self._sessions.values() if not kept.record.id.startswith(".")]
        records = [record for record in visible if record.id.startswith(prefix)]
        return sorted(records, key=lambda record: (-record.updated_at, record.id))

    async def record(self, session: str) -> SessionRecord:
        return self._kept(session).record

    async def append(self, session: str, rows: Sequence[Row], *, lease: Lease, claims: Sequence[str] = ()) -> None:
        check_rows(rows)
        rows, claims = tuple(rows), tuple(claims)
        await cancel_shielded_checkpoint()
        kept = self._kept(session)
        gone = [command for command in claims if command not in kept.commands]
        check_append(session, rows, head=len(kept.rows), epoch=kept.epoch, lease=lease.epoch, gone=gone)
        for command in claims:
            kept.commands.pop(command, None)
        kept.rows.extend(rows)
        if rows:
            kept.record = msgspec.structs.replace(kept.record, head=len(kept.rows), updated_at=rows[-1].time)
        self._commits += 1

    async def read(
        self, session: str, start: int, *, types: frozenset[str] | None = None, limit: int = 500
    ) -> list[bytes]:
        rows = self._kept(session).rows[max(start, 0) :]
        return [row.line for row in islice((row for row in rows if types is None or row.type in types), limit)]

    async def last_of(self, session: str, types: Sequence[str]) -> bytes | None:
        return next((row.line for row in reversed(self._kept(session).rows) if row.type in types), None)

    async def types(self, session: str) -> set[str]:
        return {row.type for row in self._kept(session).rows}

    async def send(self, session: str, command: Command) -> None:
        await cancel_shielded_checkpoint()
        kept = self._kept(session)
        if command.id in kept.commands:
            raise waiting(session, command.id)
        kept.commands[command.id] = command
        self._commits += 1

    async def commands(self, session: str) -> list[Command]:
        return list(self._kept(session).commands.values())

    async def withdraw(self, session: str, command: str) -> bool:
        await cancel_shielded_checkpoint()
        if self._kept(session).commands.pop(command, None) is None:
            return False
        self._commits += 1
        return True

    async def acquire(self, session: str) -> MemoryLease:
        await cancel_shielded_checkpoint()
        kept = self._kept(session)
        if kept.owner is not None:
            raise SessionBusy(session, kept.owner)
        kept.owner = Owner(os.getpid(), platform.node())
        kept.epoch += 1
        self._commits += 1
        return MemoryLease(kept, kept.epoch)

    async def owner(self, session: str) -> Owner | None:
        return self._kept(session).owner

    def version(self) -> int:
        return self._commits

    def _kept(self, session: str) -> _Kept:
        if session not in self._sessions:
            raise unknown(session)
        return self._sessions[session]


async def plugin() -> AsyncGenerator[Store]:
    """Offers a store that begins empty."""
    yield MemoryStore()
