"""Shows a session's events from some point on, as they are committed."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Protocol

import anyio

from planlog.agent.event import TURN_END
from planlog.agent.live import LiveNews, LiveNotice
from planlog.faces.stdio.console import Console
from planlog.faces.stdio.transcript import Transcript
from planlog.log.event import Event
from planlog.log.session import Session

TICK = 1.0
"""Seconds between two looks at what runs."""


class Viewer(Protocol):
    """Something that shows a session."""

    def event(self, event: Event) -> None:
        """A committed event, in the order of the log."""
        ...

    def live(self, what: LiveNews) -> None:
        """What is not on the log yet, or never will be."""
        ...

    def finish(self) -> None:
        """Nothing more comes."""
        ...


class JsonLines:
    """Prints each event as it is on the log, and nothing else."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def event(self, event: Event) -> None:
        """The event's line, byte for byte."""
        self._console.out.json_lines([event.line])

    def live(self, what: LiveNews) -> None:
        """Notices alone, as notes."""
        if isinstance(what, LiveNotice):
            self._console.note(what.text)

    def finish(self) -> None:
        """Every line is whole already."""


class Follower:
    """Hands committed events with seq > `after` to whoever listens, as fast as what they print is read."""

    def __init__(
        self, console: Console, session: Session, listeners: Sequence[Callable[[Event], None]], after: int
    ) -> None:
        self._console = console
        self._session = session
        self._listeners = listeners
        self._shown = after
        self._news = anyio.Event()

    async def follow(self) -> None:
        """Goes on for ever. Raises what a listener raises."""
        async with aclosing(self._session.follow(self._shown)) as batches:
            async for batch in batches:
                for event in batch:
                    if self._console.is_full:
                        await self._console.room()
                    for listen in self._listeners:
                        listen(event)
                    self._shown = event.seq
                news, self._news = self._news, anyio.Event()
                news.set()

    async def shown(self, head: int) -> None:
        """Waits until everything before `head` was handed on."""
        while self._shown < head - 1:
            await self._news.wait()


class Ears:
    """Shows what is live. It is said in the middle of the agent's work, which a broken screen must not reach.

    Where nobody reads, it is left out: answers come from the log as well, and progress is over when it is read.
    """

    def __init__(self, console: Console, viewer: Viewer) -> None:
        self._console = console
        self._viewer = viewer
        self._failure: Exception | None = None
        self._deaf = anyio.Event()

    def hear(self, what: LiveNews) -> None:
        """Shows `what`, until showing fails."""
        if self._failure is None and (not self._console.is_full or isinstance(what, LiveNotice)):
            try:
                self._viewer.live(what)
            except Exception as failure:
                self._failure = failure
                self._deaf.set()

    async def deafened(self) -> None:
        """Waits until showing failed, and raises why."""
        await self._deaf.wait()
        if self._failure is not None:
            raise self._failure


async def ticking(console: Console, transcript: Transcript) -> None:
    """Lets the line about what runs go on once a second, for ever; where there is no such line it is over at once."""
    while console.out.moves:
        await transcript.running.begun.wait()
        await anyio.sleep(TICK)
        transcript.tick()


def after_turn_end(show: Callable[[Event], None]) -> Callable[[Event], None]:
    """`show` for what follows the end of a turn whose beginning was never shown."""
    ended = False

    def show_later(event: Event) -> None:
        nonlocal ended
        if ended:
            show(event)
        ended = ended or event.type == TURN_END.name

    return show_later
