"""Opens the database without stopping the event loop, which another process's lock would do for seconds."""

import asyncio
import threading
from contextlib import suppress
from pathlib import Path

from planlog.log.store.database import Database, open_database
from planlog.log.store.patience import Wait


class _Opening:
    """One attempt, on a thread of its own. Whoever was waiting may be gone when it ends: then it is closed again.

    A daemon, so that a program may end meanwhile; nothing is lost with it.
    """

    def __init__(self, home: Path, wait: Wait) -> None:
        self._home = home
        self._wait = wait
        self._loop = asyncio.get_running_loop()
        self._database: Database | None = None
        self._error: BaseException | None = None
        self.opened: asyncio.Future[Database] = self._loop.create_future()
        threading.Thread(target=self._work, name="planlog-opening", daemon=True).start()

    def _work(self) -> None:
        try:
            self._database = open_database(self._home, self._wait)
        except BaseException as error:
            self._error = error
        with suppress(RuntimeError):  # The loop is gone, and with it whoever waited.
            self._loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        if self.opened.cancelled():
            if self._database is not None:
                self._database.close()
        elif self._database is not None:
            self.opened.set_result(self._database)
        elif self._error is not None:
            self.opened.set_exception(self._error)


async def open_apart(home: Path, wait: Wait) -> Database:
    """`open_database`, awaited. May be cancelled."""
    return await _Opening(home, wait).opened
