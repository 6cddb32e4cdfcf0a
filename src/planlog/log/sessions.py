"""All sessions of one store: made, found, opened once for each id, and kept in step with other processes."""

import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import anyio

from planlog.kernel.errors import ConfigError
from planlog.log.header import new_id, valid_id, write_header
from planlog.log.session import Session
from planlog.log.store import SessionRecord, SessionUnknown, Store
from planlog.log.vocabulary import Vocabulary

POLL_SECONDS = 0.02


def epoch_milliseconds() -> int:
    """The wall clock, as events carry it."""
    return time.time_ns() // 1_000_000


class Sessions:
    """The way to a `Session`. Asking twice for one id gives the same object."""

    def __init__(self, store: Store, words: Vocabulary, clock: Callable[[], int] = epoch_milliseconds) -> None:
        self.store = store
        self._words = words
        self._clock = clock
        self._open: dict[str, Session] = {}
        self._opening = anyio.Lock()

    async def create(self, cwd: Path) -> Session:
        """A new, empty session for work in `cwd`; none is left where the caller is cancelled."""
        session, now = new_id(), self._clock()
        header = write_header(session, now, str(cwd))
        try:
            await self.store.create(SessionRecord(session, now, str(cwd), header, 0, now))
            return await self.open(session)
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                await self.delete(session)
            raise

    async def open(self, session: str) -> Session:
        """The session with that whole id. Raises `SessionUnknown` or `SessionRefused`."""
        if not valid_id(session):
            raise SessionUnknown(f"no session {session!r}: an id is letters and digits")
        async with self._opening:
            if session not in self._open:
                opened = Session(self.store, self._words, await self.store.record(session), self._clock)
                await opened.load()
                self._open[session] = opened
            return self._open[session]

    async def delete(self, session: str) -> None:
        """Removes a session with its log; one that is not there is no error. Nobody may run it or look at it."""
        if valid_id(session):
            async with self._opening:
                self._open.pop(session, None)
                await self.store.delete(session)

    async def find(self, prefix: str) -> SessionRecord:
        """The one session whose id starts with `prefix`; several or none are a `ConfigError` that says so."""
        records = await self.store.find(prefix) if valid_id(prefix) else []
        exact = [record for record in records if record.id == prefix]
        if exact or len(records) == 1:
            return (exact or records)[0]
        if not records:
            raise ConfigError(f'no session starts with "{prefix}"; planlog sessions lists them')
        raise ConfigError(f'{len(records)} sessions start with "{prefix}": {", ".join(r.id for r in records[:5])}')

    async def watch(self) -> None:
        """Looks every 20 ms whether another process has committed, while anybody waits for news. Never returns."""
        while True:
            await anyio.sleep(POLL_SECONDS)
            watched = [session for session in self._open.values() if session.watchers]
            if not watched:
                continue
            version = self.store.version()
            for session in watched:
                if session.seen_version != version:
                    session.seen_version = version
                    await session.look()


async def plugin(store: Store, words: Vocabulary) -> AsyncGenerator[Sessions]:
    """Offers `Sessions`, and watches the store for as long as it runs."""
    sessions = Sessions(store, words)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(sessions.watch)
        yield sessions
        tasks.cancel_scope.cancel()
