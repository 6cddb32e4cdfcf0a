"""The prompts of one session: each is left on the log at once, run in its order, and answered when it is answered.

A prompt is answered at the moment at which the end of its turn is told, so that nothing of a turn can come after its
answer, and nothing of the next turn before it.
"""

import anyio
import msgspec
from anyio.abc import TaskGroup

from planlog.agent.event import TURN_END, USER_MESSAGE, AbortKind
from planlog.faces.acp.choices import Choices
from planlog.faces.acp.codec import INTERNAL_ERROR
from planlog.faces.acp.endings import answer_turn
from planlog.faces.acp.following import Following
from planlog.faces.acp.house import House
from planlog.faces.acp.messages import Stopped
from planlog.faces.acp.opening import OpenSession, is_folder
from planlog.faces.acp.registry import Command
from planlog.faces.acp.requests import Asked, RpcError
from planlog.faces.acp.tracing import trace
from planlog.faces.acp.wording import fenced
from planlog.kernel.errors import PlanlogError, one_line
from planlog.log.event import Event
from planlog.tools.servers import Connected

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


class Turns:
    """`tasks` hold what is taken back while it is asked for; `following` tells what happens."""

    def __init__(
        self, house: House, here: OpenSession, choices: Choices, following: Following, tasks: TaskGroup
    ) -> None:
        self.servers: Connected | None = None
        """Servers that the first prompt waits for, a short time."""
        self._agent = house.agent
        self._house = house
        self._session = here.session
        self._folder = here.folder
        self._telling = here.telling
        self._here = here
        self._choices = choices
        self._following = following
        self._tasks = tasks
        self._left: list[Left] = []
        self._unwanted: set[str] = set()  # messages on the log whose prompts have failed: nobody may answer them
        self._reports: list[str] = []
        self._news = anyio.Event()
        self._in_order = anyio.Lock()

    async def prompt(self, asked: Asked, text: str, command: Command | None) -> None:
        """Answers `asked` when the prompt is answered, which may be much later."""
        self._following.go_on()
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
            agent = self._agent
            self._choices.model()
            if not is_folder(self._folder):
                raise RpcError(INTERNAL_ERROR, f"{self._folder}, where this session works, is gone")
            if not any(other.message for other in self._left) and not agent.runs(self._session):
                await self._house.refuse_running(self._session.id, "prompt again")
            left.message = await agent.prompt(self._session, left.text, self._choices.policy)
            self._here.own.add(left.message)
            if left.stopped:
                await self._take_back([left], "user")

    async def stop(self, kind: AbortKind = "user") -> None:
        """Ends the turn that runs and takes back what waits. A turn of another process is asked to end."""
        if self._left:
            await self._take_back(list(self._left), kind)
        elif kind == "user":
            await self._agent.cancel(self._session)

    async def _take_back(self, wanted: list[Left], kind: AbortKind) -> None:
        agent = self._agent
        for left in wanted:
            left.stopped = True
        if any(left.heard for left in wanted) or len(wanted) == len(self._left):
            agent.stop(self._session, kind)
        for left in wanted:
            if left.asked.answered.is_set() or left.heard:
                continue
            if not left.message:  # a command, or a prompt that is being left and will look again
                if left.command:
                    left.asked.reply(Stopped("cancelled"))
                continue
            try:
                withdrawn = await agent.withdraw(self._session, left.message)
            except PlanlogError as error:
                self._unwanted.add(left.message)
                left.asked.fail(INTERNAL_ERROR, one_line(error))
                continue
            if withdrawn:
                left.asked.reply(Stopped("cancelled"))
            else:
                # It was taken up a moment ago: its turn may have begun.
                left.heard = True
                agent.stop(self._session, kind)
        self._changed()

    async def answer_all(self) -> None:
        """Runs what was asked for, one after the other, for ever."""
        while True:
            await self._withdraw_unwanted()
            self._left = [left for left in self._left if not left.asked.answered.is_set()]
            first = self._left[0] if self._left else None
            if first and first.command:
                await self._obey(first, first.command)
            elif first and first.message:
                await self._run(first)
            else:
                await self._wait()

    async def _withdraw_unwanted(self) -> None:
        for message in list(self._unwanted):
            try:
                await self._agent.withdraw(self._session, message)
                self._unwanted.discard(message)
            except PlanlogError:  # where nothing can be written no turn runs either; the next look tries again
                return

    async def _run(self, left: Left) -> None:
        session = self._session
        try:
            if servers := self.servers:
                await self._await_servers(servers, left)
            reason = await self._agent.run(
                session,
                self._choices.model(),
                until=left.message,
                policy=self._choices.policy,
                cwd=self._folder,
                cancelled_by="disposed",
                tools=self._here.tools,
            )
        except Exception as error:
            if not isinstance(error, PlanlogError):
                trace()
            self._unwanted.add(left.message)
            left.asked.fail(INTERNAL_ERROR, one_line(error))
            return
        await self._shown(left)
        answer_turn(left.asked, reason)  # where no turn has: it was taken back, or heard before its id was known here

    async def _await_servers(self, servers: Connected, left: Left) -> None:
        with anyio.move_on_after(SERVERS_SECONDS) as patience:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, left.asked.answered, patience)
                await servers.settled()
                tasks.cancel_scope.cancel()
        if not left.asked.answered.is_set():
            self.servers = None

    async def _shown(self, left: Left) -> None:
        """Waits until all that is on the log now has been told, as far as it is, or the prompt is answered by it."""
        head = self._session.head
        while self._following.tells and self._following.seen < head - 1 and not left.asked.answered.is_set():
            await self._wait()

    async def _obey(self, left: Left, command: Command) -> None:
        try:
            self._telling.say(await command.run(self._session, left.text))
        except PlanlogError as error:
            self._telling.say(one_line(error))
        except Exception as error:
            trace()
            self._telling.say(f"/{command.name} failed: {type(error).__name__}")
        await self._shown(left)
        left.asked.reply(Stopped("end_turn"))

    def event(self, event: Event) -> None:
        """Takes notice of an event right after it was told: the end of a turn answers the prompts that it heard."""
        if event.type == USER_MESSAGE.name:
            said = USER_MESSAGE.read(event).id
            for left in self._left:
                left.heard = left.heard or left.message == said
            self._say_reports()
        elif event.type == TURN_END.name:
            for left in self._left:
                if left.heard:
                    answer_turn(left.asked, TURN_END.read(event).reason)
        self._changed()

    def fail(self, why: str) -> None:
        """All prompts fail: what becomes of them cannot be told."""
        for left in self._left:
            if left.message and not left.heard:
                self._unwanted.add(left.message)
            left.asked.fail(INTERNAL_ERROR, why)
        self._left.clear()
        self._changed()

    def unshown(self) -> None:
        """Nothing is told any more, which somebody may be waiting for."""
        self._changed()

    def report(self, line: str) -> None:
        """Says it in the turn that runs, else in the next one: outside of turns clients lose what they are told."""
        if line not in self._reports:
            self._reports.append(line)
        self._say_reports()

    def _say_reports(self) -> None:
        if any(left.heard and not left.asked.answered.is_set() for left in self._left):
            reports, self._reports = self._reports, []
            if reports:  # what servers say is nothing to be obeyed as Markdown
                self._telling.say(fenced("\n".join(reports)) + "\n\n")

    async def idle(self) -> None:
        """Waits until all prompts are answered."""
        while any(not left.asked.answered.is_set() for left in self._left):
            await self._wait()

    async def _wait(self) -> None:
        await self._news.wait()

    def _changed(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
