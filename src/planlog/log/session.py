"""One session's log as the rest of the house sees it: append, view, follow.

A `Session` keeps in memory only what follows from the log: the next seq, the states of the rules, the states of the
projections that somebody looked at. All of it moves after a commit and never before; all of it can be thrown away.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

from planlog.kernel.errors import PlanlogError
from planlog.log.event import KNOWN_TYPES, Event, Fact, Violation, check_envelope, read_line
from planlog.log.projection import Projection
from planlog.log.store import Command, Lease, Row, SessionRecord, Store
from planlog.log.store.refusals import taken_over
from planlog.log.vocabulary import Rule, Vocabulary

S = TypeVar("S")
PAGE = 500
RECENT_BYTES = 1 << 20
"""How much of a log's end is kept at hand for those who follow it."""


class SessionRefused(PlanlogError):
    """A log that this program must not touch: a newer one wrote it, or it is damaged."""


class LeaseMissing(PlanlogError):
    """Somebody appends without holding the session's lease: a programming error."""


class Session:
    """A log that is open in this process. Made by `Sessions`, which keeps one for each id."""

    def __init__(self, store: Store, words: Vocabulary, record: SessionRecord, clock: Callable[[], int]) -> None:
        self.id = record.id
        self.cwd = record.cwd
        self.created_at = record.created_at
        self.head = 0
        """The seq that the next event will get, as far as this process has read."""
        self._store = store
        self._words = words
        self._clock = clock
        self._lock = anyio.Lock(fast_acquire=True)
        self._lease: Lease | None = None
        self._overtaken = False
        self._rules: dict[Rule[Any], Any] = {}
        self._views: dict[Projection[Any], Any] = {}
        self._recent: deque[Event] = deque()
        self._recent_bytes = 0
        self._damage: PlanlogError | None = None
        self.seen_version: int | None = None
        """The store's version when `Sessions` last looked for news of this session."""
        self._news: anyio.Event | None = None
        self.watchers = 0
        """How many tasks wait for news; `Sessions` polls the store only for sessions that have some."""

    # Reading

    async def load(self) -> None:
        """Reads what the rules need: the log from its last `turn/start`. Raises `SessionRefused`."""
        for name in sorted(await self._store.types(self.id) - KNOWN_TYPES):
            await self._last_of((name,))
        first = await self._last_of(("turn/start",))
        self._rules = {rule: rule.begin(first) for rule in self._words.rules()}
        self.head = first.seq if first else 0
        await self._catch_up()

    async def read(
        self, start: int = 0, *, types: frozenset[str] | None = None, limit: int = PAGE
    ) -> tuple[Event, ...]:
        """A page of committed events with seq >= `start`, checked as it is read; empty at the end."""
        events = [self._checked(line) for line in await self._store.read(self.id, start, types=types, limit=limit)]
        if len(events) == limit:
            await anyio.lowlevel.checkpoint()  # a long log is read page after page; others get a turn in between
        if types is None:
            for seq, event in enumerate(events, start):
                if event.seq != seq:
                    raise SessionRefused(f"session {self.id} is damaged: seq {seq} is missing")
        return tuple(events)

    async def pages(self, start: int = 0, *, types: frozenset[str] | None = None) -> AsyncIterator[tuple[Event, ...]]:
        """All committed events from `start` on, page by page."""
        while page := await self.read(start, types=types):
            yield page
            start = page[-1].seq + 1

    async def view(self, projection: Projection[S]) -> Any:
        """The projection's view of what is committed, as far as this process has read. The first look folds the log."""
        return projection.view(await self.folded(projection))

    async def folded(self, projection: Projection[S]) -> S:
        """The state behind `view`, as of `head` at the moment of return, for whoever goes on folding from there."""
        if projection not in self._views:
            async with self._lock:
                if projection not in self._views:
                    self._views[projection] = await self._fold(projection)
        return self._views[projection]

    def state(self, rule: Rule[S]) -> S:
        """The state of a rule after the last committed event."""
        if rule not in self._rules:
            raise LookupError(f"the rule {rule.name!r} was not learned before session {self.id} was opened")
        return self._rules[rule]

    async def follow(self, after: int = -1) -> AsyncGenerator[tuple[Event, ...]]:
        """Committed events with seq > `after`, in batches as they come, without a gap, for ever."""
        start = after + 1
        if self._damage is not None:  # nobody has looked since; it may have passed
            await self.refresh()
        with self._watching():
            while True:
                news = self.news
                if self._damage is not None:
                    raise self._damage
                if start < self.head:
                    batch = self._since(start) or await self.read(start)
                    start = batch[-1].seq + 1
                    yield batch
                else:
                    await news.wait()

    def _watching(self) -> "_Watching":
        return _Watching(self)

    # Writing

    @asynccontextmanager
    async def lease(self) -> AsyncGenerator[Lease]:
        """The right to append, for one turn. Raises `SessionBusy` at once while somebody else holds it."""
        lease = await self._store.acquire(self.id)
        try:
            await self.refresh()
            self._lease, self._overtaken = lease, False
            yield lease
        finally:
            self._lease = None
            with anyio.CancelScope(shield=True):
                await lease.release()
            self.notify()

    async def append(
        self, *facts: Fact | Callable[[int], Fact], claims: Sequence[str] = (), time: int | None = None
    ) -> tuple[Event, ...]:
        """Commits `facts` together, and removes the commands `claims` with them: all or nothing, durable on return.

        A fact that speaks of its own place, or of a neighbour's, is given as a function of the seq that it gets.
        `time` (epoch milliseconds) is the clock's unless a repair speaks for somebody who is dead. Not cut short by
        cancellation (the store holds it off): once begun, the outcome is known and taken in before the caller is
        cancelled. Raises `Violation` or a `StoreError`; then nothing has moved. One append is in flight at a time.
        """
        async with self._lock:
            lease = self._lease
            if lease is None:
                raise LeaseMissing(f"append to session {self.id} without its lease")
            if self._overtaken:
                raise taken_over(self.id)
            now = self._clock() if time is None else time
            places = enumerate(facts, start=self.head)
            events = tuple((f if isinstance(f, Fact) else f(seq)).placed(seq, now) for seq, f in places)
            states = self._advance(self._rules, events)
            rows = [Row(event.seq, event.type, event.time, event.line) for event in events]
            await self._store.append(self.id, rows, lease=lease, claims=claims)
            self._commit(events, states)
            return events

    # Commands

    async def send(self, command: Command) -> None:
        """Leaves a command for whoever runs this session next; durable on return."""
        await self._store.send(self.id, command)
        self.notify()

    async def commands(self) -> list[Command]:
        """Commands that nobody has claimed, oldest first."""
        return await self._store.commands(self.id)

    async def withdraw(self, command: str) -> bool:
        """Takes an unclaimed command back; False when it was claimed already."""
        withdrawn = await self._store.withdraw(self.id, command)
        self.notify()
        return withdrawn

    # News

    @property
    def news(self) -> anyio.Event:
        """Set at the next change of any kind: an event, a command, another process's commit.

        Take it, look at what you need, and only then wait for it: so nothing is missed.
        """
        if self._news is None:
            self._news = anyio.Event()
        return self._news

    async def changed(self, news: anyio.Event) -> None:
        """Waits for `news`, with the store watched meanwhile, so that other processes' doings count."""
        with self._watching():
            await news.wait()
        if self._damage is not None:
            raise self._damage

    def notify(self) -> None:
        """Wakes everyone who waits for news of this session."""
        if self._news is not None:
            self._news.set()
            self._news = None

    async def refresh(self) -> None:
        """Takes in what other processes have committed since the last look."""
        async with self._lock:
            await self._catch_up()
            self._damage = None

    async def look(self) -> None:
        """`refresh` for whoever waits for news: what is wrong with the log is theirs to hear."""
        try:
            await self.refresh()
        except PlanlogError as error:
            self._damage = error
        self.notify()

    # Inside

    async def _last_of(self, types: Sequence[str]) -> Event | None:
        line = await self._store.last_of(self.id, types)
        return self._checked(line) if line else None

    def _checked(self, line: bytes) -> Event:
        event: Event | None = None
        try:
            event = read_line(line)
            check_envelope(event)
            event_type = self._words.get(event.type)
            if event_type is not None:
                event_type.check(event)
        except PlanlogError as error:
            where = f" at seq {event.seq}" if event else ""
            raise SessionRefused(f"session {self.id} is damaged{where}: {error}") from error
        if event_type is None and event.type not in KNOWN_TYPES and not event.ignorable:
            raise SessionRefused(
                f'session {self.id} holds "{event.type}" (seq {event.seq}), which a newer program wrote; '
                "update planlog to open it"
            )
        return event

    async def _catch_up(self) -> None:
        while True:
            page = await self.read(self.head)
            if not page:
                return
            # Nobody else writes while the lease is ours; so it is not, and rules would only speak of what follows.
            self._overtaken = self._lease is not None
            try:
                states = self._advance(self._rules, page)
            except Violation as error:
                raise SessionRefused(f"session {self.id} is damaged: {error}") from error
            self._commit(page, states)

    def _advance(self, states: dict[Rule[Any], Any], events: Iterable[Event]) -> dict[Rule[Any], Any]:
        advanced = dict(states)
        for event in events:
            event_type = self._words.get(event.type)
            for rule, state in advanced.items():
                advanced[rule] = rule.advance(state, event, event_type)
        return advanced

    def _commit(self, events: Sequence[Event], states: dict[Rule[Any], Any]) -> None:
        if not events:
            return
        self._rules = states
        self.head = events[-1].seq + 1
        self._keep_at_hand(events)
        for projection, state in tuple(self._views.items()):
            wanted = projection.types
            try:
                for event in events:
                    if wanted is None or event.type in wanted:
                        state = projection.apply(state, event)
            except Exception:  # what is committed is committed: whoever looks next folds again, and hears of it
                del self._views[projection]
            else:
                self._views[projection] = state
        self.notify()

    def _keep_at_hand(self, events: Sequence[Event]) -> None:
        self._recent.extend(events)
        self._recent_bytes += sum(len(event.line) for event in events)
        while self._recent_bytes > RECENT_BYTES and len(self._recent) > 1:
            self._recent_bytes -= len(self._recent.popleft().line)

    async def _fold(self, projection: Projection[S]) -> S:
        state = projection.init
        if projection.last_of:
            last = await self._last_of(projection.last_of)
            return projection.apply(state, last) if last else state
        await self._catch_up()
        async for page in self.pages(types=projection.types):
            # What came meanwhile comes once more, with the next look for news.
            state = projection.go_on(state, (event for event in page if event.seq < self.head))
        return state

    def _since(self, start: int) -> tuple[Event, ...]:
        count = self.head - start
        if count > len(self._recent):
            return ()
        return tuple(islice(reversed(self._recent), count))[::-1]


class _Watching:
    """Counts a waiter in and out."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> None:
        self._session.watchers += 1

    def __exit__(self, *_: object) -> None:
        self._session.watchers -= 1
