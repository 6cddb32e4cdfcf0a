"""Requests of a client, and ours to it: how each is carried out, answered once, and fails."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import msgspec

from planlog.faces.acp.codec import error_line, result_line
from planlog.faces.acp.streams import Outlet


class RpcError(Exception):
    """The request fails with this error; `message` is for a person, `data` is JSON for programs."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ClientFailed(Exception):
    """The client answered a request of ours with an error, or with something that is no answer to it."""


class Asked:
    """A request of the client that is being carried out; it can be answered from anywhere, the first answer counts."""

    def __init__(self, id: bytes, outlet: Outlet) -> None:
        self.id = id
        self.cancel: Callable[[], object] = lambda: None
        """What is done when the client takes the request back; by default it is left alone."""
        self.answered = anyio.Event()
        self._outlet = outlet

    def reply(self, result: Any) -> None:
        """Answers with a result."""
        self._send(lambda: result_line(self.id, result))

    def fail(self, code: int, message: str, data: Any = None) -> None:
        """Answers with an error."""
        self._send(lambda: error_line(self.id, code, message, data))

    def _send(self, line: Callable[[], bytes]) -> None:
        if not self.answered.is_set():
            self._outlet.send(line())
            self.answered.set()


class Method(msgspec.Struct, frozen=True):
    """How a request is carried out: `run` gets its typed parameters.

    What it returns is the answer, unless it has replied itself. With `early` it may come before `initialize`; one that
    `lasts` is not waited for when the client says no more, and whoever ends what it has begun answers it.
    """

    params: type[Any]
    run: Callable[[Any, Asked], Awaitable[Any]]
    early: bool = False
    lasts: bool = False
