"""One session on the connection: its log is followed, prompts are answered in order, and questions are put.

The log leads. A prompt is answered at the moment at which the end of its turn is told, so that nothing of a turn can
come after its answer, and nothing of the next turn before it.
"""

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from pathlib import Path

import anyio
import msgspec

from planlog.agent.conversation import CONVERSATION
from planlog.agent.event import TURN_END, USER_MESSAGE, AbortKind
from planlog.agent.live import LiveNews
from planlog.agent.nesting import NESTING
from planlog.agent.repair import closed_in_memory
from planlog.agent.tasks import task_group
from planlog.faces.acp.choices import Choices
from planlog.faces.acp.codec import INTERNAL_ERROR
from planlog.faces.acp.connection import Asked, Connection, RpcError, trace
from planlog.faces.acp.endings import answer_turn
from planlog.faces.acp.house import House
from planlog.faces.acp.messages import McpServer, Stopped
from planlog.faces.acp.permissions import Permissions
from planlog.faces.acp.registry import Command
from planlog.faces.acp.translation import Translation
from planlog.faces.acp.updates import (
    AgentChunk,
    CommandInput,
    CommandOffered,
    CommandsUpdate,
    TextBlock,
    ThoughtChunk,
    Update,
)
from planlog.faces.acp.wording import pieces
from planlog.kernel.errors import PlanlogError, one_line
from planlog.log.event import Event
from planlog.log.header import new_id
from planlog.log.session import Session
from planlog.tools.servers import Connected, Server
from planlog.tools.tool import Tools

SERVERS_SECONDS = 5.0
"""How long a first prompt waits for servers that are still starting."""


class Left(msgspec.Struct):
    """A prompt that waits or is being answered. `message` is its id on the log, "" until it is left there.

    A command has no message; `heard`: a turn has taken it up.
    """

    asked: Asked
    command: Command | None = None
    text: str = ""
    message: str = ""
    heard: bool = False
    stopped: bool = False


class Talk:
    """`folder` is where tools work. Nothing is told before `begin`, `resume` or `replay`."""

    def __init__(self, house: House, connection: Connection, session: Session, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.choices = Choices(house.models, house.model, house.policy)
        self._house = house
        self._connection = connection
        self._tools = Tools(house.tools)
        self._own: set[str] = set()
        self._left: list[Left] = []
        self._news = anyio.Event()
        self._translation: Translation | None = None
        self._round = 0
        self._seen = -1
        self._in_order = anyio.Lock()
        self._closing = anyio.Event()
        self._servers: Connected | None = None
        self._reports: list[str] = []

    # Life

    async def live(self, servers: Sequence[McpServer], ready: anyio.Event) -> None:
        """Answers prompts until `close`; sets `ready` once it can."""
        async with task_group() as tasks, AsyncExitStack() as stack:
            self._tasks = tasks
            self._permissions = Permissions(self._connection, self._house.agent, self.session, tasks)
            for server in servers:
                if server.type != "stdio":
                    self._report(f'MCP server "{server.name}": only servers over stdio can be used, not {server.type}')
            if started := [_server(one) for one in servers if one.type == "stdio"]:
                self._servers = await self._start(started, stack)
            stack.enter_context(self._house.live.listen(self.session.id, self._hear))
            tasks.start_soon(self._answer_all)
            ready.set()
            await self._closing.wait()
            tasks.cancel_scope.cancel()

    async def _start(self, servers: Sequence[Server], life: AsyncExitStack) -> Connected | None:
        if self._house.servers is None:
            self._report("no MCP server is started: the composition has no row for planlog.features.mcp")
            return None
        connecting = self._house.servers.connect(servers, self.folder, self._tools, self._report)
        return await life.enter_async_context(connecting)

    async def close(self, kind: AbortKind) -> None:
        """Stops what runs and waits until all prompts are answered; then `live` ends."""
        try:
            await self.stop(kind)
            await self._idle()
        finally:
            self._closing.set()

    # Coming to the session

    def begin(self) -> None:
        """A new session: all that will happen is told."""
        self._follow_on(self._translate(), -1)
        self._offer_commands()

    async def resume(self) -> Translation:
        """Goes on from here without telling what was; `opened` tells what stands."""
        translation = self._translate()
        await self.session.refresh()
        first = self.session.state(NESTING)
        start = await self._turn_start() if first.open else self.session.head
        while start < self.session.head:
            for event in (page := await self.session.read(start)):
                translation.replay(event)
            start = page[-1].seq + 1
        head, title = -1, None
        states: dict[str, object] = {}
        while head != self.session.head:
            head = self.session.head
            states = {fold.key: await self.session.folded(fold) for fold in self._house.folds()}
            title = (await self.session.view(CONVERSATION)).title
        translation.begin_at(states, title)
        self._seen = max(self._seen, head - 1)
        self._follow_on(translation, head - 1)
        return translation

    def opened(self, translation: Translation) -> None:
        """What is told right after the answer to a resume."""
        self._tell(translation.standing())
        self._offer_commands()
        self._tell(translation.about())

    async def replay(self) -> None:
        """Tells the whole history anew, then what stands, and goes on from there."""
        shown = self._stop_following()
        fresh = self._translate()
        if shown:
            fresh.take_over(shown)
        round = self._round
        await self.session.refresh()
        start = 0
        while start < self.session.head:
            page = await self.session.read(start)
            await self._replay_page(fresh, page, round)
            start = page[-1].seq + 1
        if not self._house.agent.runs(self.session) and not await self._owner():
            await self._replay_page(fresh, await closed_in_memory(self.session), round, settles=False)
        self._tell(fresh.standing())
        self._offer_commands()
        self._tell(fresh.about())
        self._follow_on(fresh, start - 1)

    async def _replay_page(
        self, translation: Translation, page: Iterable[Event], round: int, *, settles: bool = True
    ) -> None:
        updates: list[Update] = []
        for event in page:
            updates += self._translated(translation, event, history=True)
            if settles and event.seq > self._seen:
                await self._tell_all(updates)
                updates = []
                self._settle(event, translation)
        await self._tell_all(updates)
        if round != self._round:
            raise RpcError(INTERNAL_ERROR, "the session was loaded again or closed meanwhile")

    async def _tell_all(self, updates: Iterable[Update]) -> None:
        for update in coalesced(updates):
            if self._connection.is_full:
                await self._connection.room()
            self._connection.update(self.session.id, update)

    def _translate(self) -> Translation:
        return Translation(self._house.renders, self._house.folds(), self._tools, self.folder, self._own)

    async def _turn_start(self) -> int:
        line = await self._house.sessions.store.last_of(self.session.id, ("turn/start",))
        return msgspec.json.decode(line, type=_Seq).seq if line else self.session.head

    async def _owner(self) -> bool:
        return await self._house.sessions.store.owner(self.session.id) is not None

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
            async with aclosing(self.session.follow(after)) as batches:
                async for batch in batches:
                    for event in batch:
                        if self._connection.is_full:
                            await self._connection.room()
                        if round != self._round:
                            return
                        self._tell(self._translated(translation, event))
                        if event.seq > self._seen:
                            self._settle(event, translation)
        except PlanlogError as error:
            for left in self._left:
                left.asked.fail(INTERNAL_ERROR, one_line(error))
            self._left.clear()
            self._changed()

    def _translated(self, translation: Translation, event: Event, *, history: bool = False) -> list[Update]:
        """One odd event of a foreign log must not hide all others."""
        try:
            return translation.replay(event) if history else translation.event(event)
        except Exception:
            trace()
            text = f"[event {event.seq} ({event.type}) cannot be shown]"
            return [ThoughtChunk(TextBlock(text), f"unshown-{event.seq}")]

    def _hear(self, what: LiveNews) -> None:
        # Where the client does not keep up, live news are left out: answers come from the log as well.
        if self._translation and not self._connection.is_full:
            self._tell(self._translation.live(what))

    def _tell(self, updates: Iterable[Update]) -> None:
        for update in updates:
            self._connection.update(self.session.id, update)

    def _say(self, text: str) -> None:
        self._tell([AgentChunk(TextBlock(piece), new_id()) for piece in pieces(text)])

    def _report(self, line: str) -> None:
        """Says it in the turn that runs, else in the next one: outside of turns clients lose what they are told."""
        self._reports.append(line)
        self._say_reports()

    def _say_reports(self) -> None:
        if any(left.heard and not left.asked.answered.is_set() for left in self._left):
            reports, self._reports = self._reports, []
            for line in reports:
                self._say(line)

    def _offer_commands(self) -> None:
        offered = tuple(
            CommandOffered(one.name, one.description, CommandInput(one.hint) if one.hint else None)
            for one in self._house.renders.commands()
        )
        self._tell([CommandsUpdate(offered)])

    def _settle(self, event: Event, translation: Translation) -> None:
        """What an event means beside what it tells, once, however often it is told."""
        self._seen = event.seq
        if event.type == USER_MESSAGE.name:
            said = USER_MESSAGE.read(event).id
            for left in self._left:
                left.heard = left.heard or left.message == said
            self._say_reports()
        elif event.type == TURN_END.name:
            for left in self._left:
                if left.heard:
                    answer_turn(left.asked, TURN_END.read(event).reason)
        self._permissions.event(event, translation.calls)
        self._changed()

    # Prompts

    async def prompt(self, asked: Asked, text: str, command: Command | None) -> None:
        """Answers `asked` when the prompt is answered, which may be much later."""
        left = Left(asked, command, text)
        self._left.append(left)
        asked.cancel = lambda: self._tasks.start_soon(self._take_back, [left], "user")
        try:
            if command is None:
                await self._leave(left)
        except BaseException:
            if left in self._left:
                self._left.remove(left)
            raise
        self._changed()
        await asked.answered.wait()

    async def _leave(self, left: Left) -> None:
        async with self._in_order:
            if left.stopped:
                left.asked.reply(Stopped("cancelled"))
                return
            agent = self._house.agent
            self.choices.model()
            if not self.folder.is_dir():
                raise RpcError(INTERNAL_ERROR, f"{self.folder}, where this session works, is gone")
            if not any(other.message for other in self._left) and not agent.runs(self.session):
                await self._refuse_busy()
            left.message = await agent.prompt(self.session, left.text, self.choices.policy)
            self._own.add(left.message)
            if left.stopped:
                await self._take_back([left], "user")

    async def _refuse_busy(self) -> None:
        owner = await self._house.sessions.store.owner(self.session.id)
        if owner is not None:
            text = f"process {owner.pid} on {owner.host} is running this session; prompt again when its turn is over"
            raise RpcError(INTERNAL_ERROR, text, {"pid": owner.pid, "host": owner.host})

    async def stop(self, kind: AbortKind = "user") -> None:
        """Ends the turn that runs and takes back what waits. A turn of another process is asked to end."""
        if self._left:
            await self._take_back(list(self._left), kind)
        elif kind == "user":
            await self._house.agent.cancel(self.session)

    async def _take_back(self, wanted: list[Left], kind: AbortKind) -> None:
        agent = self._house.agent
        for left in wanted:
            left.stopped = True
        if any(left.heard for left in wanted) or len(wanted) == len(self._left):
            agent.stop(self.session, kind)
        for left in wanted:
            if left.asked.answered.is_set() or left.heard:
                continue
            if not left.message:  # a command, or a prompt that is being left and will look again
                if left.command:
                    left.asked.reply(Stopped("cancelled"))
            elif await agent.withdraw(self.session, left.message):
                left.asked.reply(Stopped("cancelled"))
            else:
                # It was taken up a moment ago: its turn may have begun.
                left.heard = True
                agent.stop(self.session, kind)
        self._changed()

    async def _answer_all(self) -> None:
        while True:
            self._left = [left for left in self._left if not left.asked.answered.is_set()]
            first = self._left[0] if self._left else None
            if first and first.command:
                await self._obey(first, first.command)
            elif first and first.message:
                await self._run(first)
            else:
                await self._wait()

    async def _run(self, left: Left) -> None:
        session = self.session
        try:
            if self._servers:
                with anyio.move_on_after(SERVERS_SECONDS):
                    await self._servers.settled()
            reason = await self._house.agent.run(
                session,
                self.choices.model(),
                until=left.message,
                policy=self.choices.policy,
                cwd=self.folder,
                cancelled_by="disposed",
                tools=self._tools,
            )
        except Exception as error:
            if not isinstance(error, PlanlogError):
                trace()
            with suppress(PlanlogError):
                await self._house.agent.withdraw(session, left.message)
            left.asked.fail(INTERNAL_ERROR, one_line(error))
            return
        await self._shown(left)
        answer_turn(left.asked, reason)  # where no turn has: it was taken back, or heard before its id was known here

    async def _shown(self, left: Left) -> None:
        """Waits until all that is on the log now has been told, or the prompt is answered by it."""
        head = self.session.head
        while self._seen < head - 1 and not left.asked.answered.is_set():
            await self._wait()

    async def _obey(self, left: Left, command: Command) -> None:
        try:
            self._say(await command.run(self.session, left.text))
        except PlanlogError as error:
            self._say(one_line(error))
        await self._shown(left)
        left.asked.reply(Stopped("end_turn"))

    async def _idle(self) -> None:
        while any(not left.asked.answered.is_set() for left in self._left):
            await self._wait()

    async def _wait(self) -> None:
        await self._news.wait()

    def _changed(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()


def _server(server: McpServer) -> Server:
    env = {one.name: one.value for one in server.env or ()}
    return Server(server.name, server.command, tuple(server.args or ()), env)


class _Seq(msgspec.Struct):
    seq: int


def coalesced(updates: Iterable[Update]) -> Iterable[Update]:
    """Neighbouring chunks of one message as one, as far as they fit; everything stays in its order."""
    held: Update | None = None
    for update in updates:
        if joined := _joined(held, update):
            held = joined
        else:
            if held:
                yield held
            held = update
    if held:
        yield held


def _joined(one: Update | None, other: Update) -> Update | None:
    """Both as one chunk, None where they are none."""
    if not isinstance(one, AgentChunk | ThoughtChunk) or not isinstance(other, AgentChunk | ThoughtChunk):
        return None
    if (type(one), one.message_id) != (type(other), other.message_id):
        return None
    text = one.content.text + other.content.text
    return msgspec.structs.replace(one, content=TextBlock(text)) if len(pieces(text)) == 1 else None
