"""Follows a session's log and tells an editor about it: from its beginning, from its history, or from where it is."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing

from anyio.abc import TaskGroup

from planlog.agent.conversation import CONVERSATION
from planlog.agent.event import ASSISTANT_MESSAGE, REQUEST_CONTEXT, TURN_START
from planlog.agent.live import LiveNews
from planlog.agent.nesting import NESTING
from planlog.agent.repair import closed_in_memory
from planlog.faces.acp.codec import INTERNAL_ERROR
from planlog.faces.acp.house import House
from planlog.faces.acp.opening import OpenSession
from planlog.faces.acp.requests import RpcError
from planlog.faces.acp.telling import coalesced
from planlog.faces.acp.tracing import trace
from planlog.faces.acp.translation import Translation
from planlog.faces.acp.updates import CommandInput, CommandOffered, CommandsUpdate, TextBlock, ThoughtChunk, Update
from planlog.kernel.errors import PlanlogError
from planlog.log.event import Event, read_line

Settle = Callable[[Event, Translation], None]
"""Hears of each event once, right after it was told, however often the session is loaded."""
Silent = Callable[[PlanlogError | None], None]
"""Hears that nothing more is told: because of the error, or since an opening has failed that was the first one."""


class Following:
    """Every event is told once, from the beginning, the history or the present on; each load begins anew.

    One thing at a time tells: a load, or the task of the newest `round`, which follows the log as it grows.
    """

    def __init__(self, house: House, here: OpenSession, tasks: TaskGroup, settle: Settle, silent: Silent) -> None:
        self.seen = -1
        """The seq of the last event that was settled, or that was there before."""
        self.tells = False
        """Whether what is on the log now will have been told in a while."""
        self._house = house
        self._session = here.session
        self._here = here
        self._telling = here.telling
        self._tasks = tasks
        self._settle = settle
        self._silent = silent
        self._translation: Translation | None = None
        self._at = -1
        self._round = 0
        self._loads = False
        self._interrupted = False

    @property
    def is_on(self) -> bool:
        """Whether the client has come to the session: it was begun, resumed or loaded."""
        return self._translation is not None

    def begin(self) -> None:
        """A new session: all that will happen is told."""
        self._follow_on(self._translate(), -1)
        self._offer_commands()

    async def resume(self) -> None:
        """Goes on from here without telling what was; `opened` tells what stands."""
        translation = self._translate()
        await self._session.refresh()
        first = self._session.state(NESTING)
        start = await self._turn_start() if first.open else self._session.head
        while start < self._session.head:
            for event in (page := await self._page(start)):
                translation.replay(event)
            start = page[-1].seq + 1
        for type in (REQUEST_CONTEXT.name, ASSISTANT_MESSAGE.name):
            if event := await self._last(type):
                translation.recall(event)
        head, title = -1, None
        states: dict[str, object] = {}
        while head != self._session.head:
            head = self._session.head
            states = {fold.key: await self._session.folded(fold) for fold in self._house.folds()}
            title = (await self._session.view(CONVERSATION)).title
        translation.begin_at(states, title)
        self.seen = max(self.seen, head - 1)
        self._follow_on(translation, head - 1)

    def opened(self) -> None:
        """What is told right after the answer to a resume."""
        if self._translation:
            self._telling.tell(self._translation.standing())
            self._offer_commands()
            self._telling.tell(self._translation.about())

    async def replay(self) -> None:
        """Tells the whole history anew, then what stands, and goes on from there.

        One that fails or is cancelled leaves everything as it was. Only one at a time.
        """
        fresh = self._translate()
        if self._translation:
            fresh.take_over(self._translation)
        self._round += 1
        self._loads = self.tells = True
        try:
            head = await self._tell_history(fresh)
        except BaseException:
            self._loads = self.tells = False
            self.go_on()
            if not self.tells:
                self._silent(None)
            raise
        self._loads = False
        self._telling.tell(fresh.standing())
        self._offer_commands()
        self._telling.tell(fresh.about())
        self._follow_on(fresh, head - 1)

    def go_on(self) -> None:
        """Follows again where that was broken off, if it ever was begun."""
        if self._translation and not self.tells:
            self._follow_on(self._translation, self._at)

    def interrupt(self) -> None:
        """The load that is under way fails, and each one to come."""
        self._interrupted = True

    async def _tell_history(self, fresh: Translation) -> int:
        """Returns the length of the history."""
        await self._session.refresh()
        start = 0
        while start < self._session.head:
            page = await self._page(start)
            await self._replay_page(fresh, page)
            start = page[-1].seq + 1
        if not self._house.agent.runs(self._session) and not await self._owner():
            await self._replay_page(fresh, await closed_in_memory(self._session), settles=False)
        self._check()
        return start

    async def _page(self, start: int) -> Sequence[Event]:
        page = await self._session.read(start)
        if not page:
            raise RpcError(INTERNAL_ERROR, "the session was deleted meanwhile")
        return page

    async def _replay_page(self, translation: Translation, page: Iterable[Event], *, settles: bool = True) -> None:
        updates: list[Update] = []
        for event in page:
            updates += self._translated(translation, event, history=True)
            if settles and event.seq > self.seen:
                await self._tell_all(updates)
                updates = []
                self._settled(event, translation)
        await self._tell_all(updates)

    async def _tell_all(self, updates: Iterable[Update]) -> None:
        for update in coalesced(updates):
            await self._telling.room()
            self._check()
            self._telling.tell([update])

    def _check(self) -> None:
        if self._interrupted:
            raise RpcError(INTERNAL_ERROR, "the session was closed meanwhile")

    def _translate(self) -> Translation:
        here = self._here
        return Translation(self._house.renders, self._house.folds(), here.tools, here.folder, here.own)

    async def _turn_start(self) -> int:
        start = await self._last(TURN_START.name)
        return start.seq if start else self._session.head

    async def _last(self, type: str) -> Event | None:
        line = await self._house.sessions.store.last_of(self._session.id, (type,))
        return read_line(line) if line else None

    async def _owner(self) -> bool:
        return await self._house.sessions.store.owner(self._session.id) is not None

    # Following

    def _follow_on(self, translation: Translation, after: int) -> None:
        self._round += 1
        self._translation, self._at = translation, after
        self.tells = True
        self._tasks.start_soon(self._follow, translation, self._round, after)

    async def _follow(self, translation: Translation, round: int, after: int) -> None:
        try:
            async with aclosing(self._session.follow(after)) as batches:
                async for batch in batches:
                    for event in batch:
                        await self._telling.room()
                        if round != self._round:
                            return
                        self._telling.tell(self._translated(translation, event))
                        self._at = event.seq
                        if event.seq > self.seen:
                            self._settled(event, translation)
        except PlanlogError as error:
            if round == self._round:
                self.tells = False
                self._silent(error)

    def _settled(self, event: Event, translation: Translation) -> None:
        self.seen = event.seq
        self._settle(event, translation)

    def _translated(self, translation: Translation, event: Event, *, history: bool = False) -> list[Update]:
        """One odd event of a foreign log must not hide all others."""
        try:
            return translation.replay(event) if history else translation.event(event)
        except Exception:
            trace()
            text = f"[event {event.seq} ({event.type}) cannot be shown]"
            return [ThoughtChunk(TextBlock(text), f"unshown-{event.seq}")]

    def hear(self, what: LiveNews) -> None:
        """Tells what is not on the log yet."""
        # Where the client does not keep up, live news are left out: answers come from the log as well.
        if self._translation and not self._loads and not self._telling.is_held_up:
            self._telling.tell(self._translation.live(what))

    def _offer_commands(self) -> None:
        offered = tuple(
            CommandOffered(one.name, one.description, CommandInput(one.hint) if one.hint else None)
            for one in self._house.renders.commands()
        )
        self._telling.tell([CommandsUpdate(offered)])
