"""What is shown before it is on the log, or never will be: deltas of an answer, output of a running tool, notices.

It stays in this process, is not stored and may be missed; whoever wants to be sure follows the log.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager

import msgspec

from planlog.model.model import Chunk


class LiveDelta(msgspec.Struct, frozen=True, rename="camel"):
    """A chunk of the answer that is streaming.

    `offset` is how many characters of text and reasoning this step had streamed before it, also in requests that
    failed: `assistant/chunk` events count the same way, so who has read those knows what is new.
    """

    turn: int
    step: int
    offset: int
    chunk: Chunk


class LiveProgress(msgspec.Struct, frozen=True, rename="camel"):
    """Output of the running call `call_id`, piece by piece."""

    call_id: str
    text: str


class LiveNotice(msgspec.Struct, frozen=True):
    """One line for a person about what is being waited for."""

    text: str


LiveNews = LiveDelta | LiveProgress | LiveNotice
Hear = Callable[[LiveNews], None]


class Live:
    """Passes live news of sessions to those who listen, at once and in order."""

    def __init__(self) -> None:
        self._listeners: dict[str, tuple[Hear, ...]] = {}

    @contextmanager
    def listen(self, session: str, hear: Hear) -> Generator[None]:
        """Calls `hear` with all news of the session until the block ends; it must neither wait nor raise."""
        self._listeners[session] = (*self._listeners.get(session, ()), hear)
        try:
            yield
        finally:
            rest = list(self._listeners[session])
            rest.remove(hear)
            self._listeners[session] = tuple(rest)
            if not rest:
                del self._listeners[session]

    def say(self, session: str, what: LiveNews) -> None:
        """Tells everyone who listens to the session."""
        for hear in self._listeners.get(session, ()):
            hear(what)
