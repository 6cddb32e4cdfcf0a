"""Follows a session's log and tells an editor about it: from its beginning, from its history, or from where it is."""

from collections.abc import Callable, Iterable
from contextlib import aclosing

import msgspec
from anyio.abc import TaskGroup

from planlog.agent.conversation import CONVERSATION
from planlog.agent.live import LiveNews
from planlog.agent.nesting import NESTING
from planlog.agent.repair import closed_in_memory
from planlog.faces.acp.codec import INTERNAL_ERROR
from planlog.faces.acp.connection import RpcError, trace
from planlog.faces.acp.house import House
from planlog.faces.acp.opening import OpenSession
from planlog.faces.acp.translation import Translation
from planlog.faces.acp.updates import CommandInput, CommandOffered, CommandsUpdate, TextBlock, ThoughtChunk, Update
from planlog.kernel.errors import PlanlogError
from planlog.log.event import Event

Settle = Callable[[Event, Translation], None]
"""Hears of each event once, right after it was told, however often the session is loaded."""


class Following:
    """Every event is told once from the beginning, the history or the present on; a load begins anew.

    Only the newest `round` of it tells anything. `broken` is called when the session cannot be followed any more.
    """

    def __init__(
        self,
        house: House,
        here: OpenSession,
        tasks: TaskGroup,
        settle: Settle,
        broken: Callable[[PlanlogError], None],
    ) -> None:
        self.seen = -1
        """The seq of the last event that was settled, or that was there before."""
        self._house = house
        self._session = here.session
        self._here = here
        self._telling = here.telling
        self._tasks = tasks
        self._settle = settle
        self._broken = broken
        self._translation: Translation | None = None
        self._round = 0

    def begin(self) -> None:
        """A new session: all that will happen is told."""
        self._follow_on(self._translate(), -1)
        self._offer_commands()

    async def resume(self) -> Translation:
        """Goes on from here without telling what was; `opened` tells what stands."""
        translation = self._translate()
        await self._session.refresh()
        first = self._session.state(NESTING)
        start = await self._turn_start() if first.open else self._session.head
        while start < self._session.head:
            for event in (page := await self._session.read(start)):
                translation.replay(event)
            start = page[-1].seq + 1
        head, title = -1, None
        states: dict[str, object] = {}
        while head != self._session.head:
            head = self._session.head
            states = {fold.key: await self._session.folded(fold) for fold in self._house.folds()}
            title = (await self._session.view(CONVERSATION)).title
        translation.begin_at(states, title)
        self.seen = max(self.seen, head - 1)
        self._follow_on(translation, head - 1)
        return translation

    def opened(self, translation: Translation) -> None:
        """What is told right after the answer to a resume."""
        self._telling.tell(translation.standing())
        self._offer_commands()
        self._telling.tell(translation.about())

    async def replay(self) -> None:
        """Tells the whole history anew, then what stands, and goes on from there."""
        shown = self._stop_following()
        fresh = self._translate()
        if shown:
            fresh.take_over(shown)
        round = self._round
        await self._session.refresh()
        start = 0
        while start < self._session.head:
            page = await self._session.read(start)
            await self._replay_page(fresh, page, round)
            start = page[-1].seq + 1
        if not self._house.agent.runs(self._session) and not await self._owner():
            await self._replay_page(fresh, await closed_in_memory(self._session), round, settles=False)
        self._telling.tell(fresh.standing())
        self._offer_commands()
        self._telling.tell(fresh.about())
        self._follow_on(fresh, start - 1)

    async def _replay_page(
        self, translation: Translation, page: Iterable[Event], round: int, *, settles: bool = True
    ) -> None:
        updates: list[Update] = []
        for event in page:
            updates += self._translated(translation, event, history=True)
            if settles and event.seq > self.seen:
                await self._telling.tell_all(updates)
                updates = []
                self._settled(event, translation)
        await self._telling.tell_all(updates)
        if round != self._round:
            raise RpcError(INTERNAL_ERROR, "the session was loaded again or closed meanwhile")

    def _translate(self) -> Translation:
        here = self._here
        return Translation(self._house.renders, self._house.folds(), here.tools, here.folder, here.own)

    async def _turn_start(self) -> int:
        line = await self._house.sessions.store.last_of(self._session.id, ("turn/start",))
        return msgspec.json.decode(line, type=_Seq).seq if line else self._session.head

    async def _owner(self) -> bool:
        return await self._house.sessions.store.owner(self._session.id) is not None

    # Following

    def _stop_following(self) -> Translation | None:
        self._round += 1
        translation, self._translation = self._translation, None
        return translation

    def _follow_on(self, translation: Translation, after: int) -> None:
        self._round += 1
        self._translation = translation
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
                        if event.seq > self.seen:
                            self._settled(event, translation)
        except PlanlogError as error:
            self._broken(error)

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
        if self._translation and not self._telling.is_held_up:
            self._telling.tell(self._translation.live(what))

    def _offer_commands(self) -> None:
        offered = tuple(
            CommandOffered(one.name, one.description, CommandInput(one.hint) if one.hint else None)
            for one in self._house.renders.commands()
        )
        self._telling.tell([CommandsUpdate(offered)])


class _Seq(msgspec.Struct):
    seq: int
