"""The event loop of programs; it looks up names of hosts where nobody has to wait for them when it ends.

A network that is gone lets a look-up hang for half a minute, and nothing can call it back. On a thread of the loop's
own pool it would keep the whole process from ending for as long, whatever signals a person sends.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Loop(asyncio.SelectorEventLoop):
    """The loop that asyncio uses on Unix, but for that."""

    async def getaddrinfo(
        self, host: Any, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> Any:
        """See `socket.getaddrinfo`."""
        answer: asyncio.Future[Any] = self.create_future()

        def settle(how: Callable[[Any], object], what: Any) -> None:
            if not answer.done():
                how(what)

        def ask() -> None:
            how: Callable[[Any], object] = answer.set_result
            try:
                what: Any = socket.getaddrinfo(host, port, family, type, proto, flags)
            except Exception as error:
                how, what = answer.set_exception, error
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self.call_soon_threadsafe(settle, how, what)

        threading.Thread(target=ask, name="look-up", daemon=True).start()
        return await answer
