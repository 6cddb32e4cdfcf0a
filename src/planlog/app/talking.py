"""One session as a chat works in it: prompts are left, answered in order, shown as it happens, and taken back."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec

from planlog.agent.agent import Agent
from planlog.agent.desk import Policy
from planlog.agent.event import USER_MESSAGE, EndReason
from planlog.agent.live import Live
from planlog.app.chat_front import Front
from planlog.app.following import Ears, Follower, after_turn_end, ticking
from planlog.app.questions import Questions
from planlog.faces.stdio import StdioRenders
from planlog.faces.stdio.endings import ending
from planlog.faces.stdio.transcript import Transcript
from planlog.kernel.errors import PlanlogError, one_line
from planlog.kernel.scope import Scope
from planlog.log.event import Event
from planlog.log.session import Session
from planlog.model.model import Model
from planlog.tools.tool import Tools

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram


PARTING = 1.0
"""Seconds in which prompts are taken back at the end; a database that is locked is not waited for any longer."""


class Left(msgspec.Struct):
    """A prompt that this chat has left; `heard`: a turn has taken it up."""

    id: str
    text: str
    heard: bool = False


class Talk:
    """`model` is the one that answers what follows, in `folder`."""

    def __init__(
        self,
        program: "TerminalProgram",
        scope: Scope,
        session: Session,
        front: Front,
        *,
        model: Model,
        approve: Policy | None,
        folder: Path,
    ) -> None:
        self.session = session
        self.model = model
        self.folder = folder
        self.code = 0
        """How the last turn ended, for a shell."""
        self.stopping = False
        self._program = program
        self._scope = scope
        self._agent = scope.get(Agent)
        self._approve: Policy | None = approve
        self._front = front
        self._left: list[Left] = []
        self._answering = False
        self._news = anyio.Event()
        self._own: set[str] = set()
        self._transcript = Transcript(program.console, scope.get(StdioRenders), self._ended, own=self._own)

    @property
    def waiting(self) -> list[str]:
        """What no turn has heard yet, oldest first."""
        return [left.text for left in self._left if not left.heard]

    @property
    def busy(self) -> bool:
        """Whether a turn runs, here or elsewhere, or something waits for one."""
        return bool(self._left) or self._transcript.open_turn > 0

    async def run(self, after: int, skips: bool) -> None:
        """Shows what is committed after the seq `after` and answers what is left, until it is cancelled.

        `skips`: the log is in the middle of a dead turn then, of which nothing is shown.
        """
        show, transcript = self._program.console, self._transcript
        async with anyio.create_task_group() as tasks:
            tools = self._scope.get(Tools)
            questions = Questions(show, self._agent, tools, self.session, tasks, self._front.asker)
            shown = after_turn_end(transcript.event) if skips else transcript.event
            follower = Follower(show, self.session, [shown, questions.event, self._event], after)
            ears = Ears(show, transcript)
            tasks.start_soon(follower.follow)
            tasks.start_soon(ears.deafened)
            tasks.start_soon(ticking, show, transcript)
            with self._scope.get(Live).listen(self.session.id, ears.hear):
                try:
                    await self._answer_all(follower)
                finally:
                    transcript.finish()
                    # Whoever comes next must not be surprised by a prompt that nobody waits for any more.
                    with anyio.move_on_after(PARTING, shield=True), suppress(PlanlogError):
                        for left in [left for left in self._left if not left.heard]:
                            await self._agent.withdraw(self.session, left.id)

    async def prompt(self, text: str, *, steers: bool) -> None:
        """Leaves a prompt. Raises a `StoreError`, or `EmptyPrompt`."""
        if steers:
            message = await self._agent.steer(self.session, text)
        else:
            message = await self._agent.prompt(self.session, text, self._approve)
        if not self._front.repeats:
            self._own.add(message)
        self._left.append(Left(message, text))
        self._tell()

    async def idle(self) -> None:
        """Waits until all that was left is answered or taken back."""
        while self._left:
            await self._news.wait()

    def end_turn(self) -> None:
        """Ends the turn that this process runs, at once; `stop` is to follow."""
        self.stopping = True
        self._agent.stop(self.session, "user")

    async def stop(self, *, leaves: bool = False) -> None:
        """Puts back what no turn has heard and waits for the turn of this process to end.

        A turn that another process runs is asked to end where nothing of this chat waited for that; whoever `leaves`
        lets it go on.
        """
        self.end_turn()
        try:
            waited = [left for left in self._left if not left.heard]
            for left in waited:
                if not await self._put_back(left):
                    # It was heard a moment ago: its turn may have begun.
                    left.heard = True
                    self._agent.stop(self.session, "user")
            if self._agent.runs(self.session):
                while self._answering:
                    await self._news.wait()
                self._left = [left for left in self._left if not left.heard]
            elif not waited and not leaves:
                await self._agent.cancel(self.session)
        finally:
            self.stopping = False
            self._tell()

    async def drop(self) -> bool:
        """Puts back what was left last; False where nothing waits."""
        for left in reversed(self._left):
            if not left.heard and await self._put_back(left):
                return True
        return False

    async def _put_back(self, left: Left) -> bool:
        if not await self._agent.withdraw(self.session, left.id):
            return False
        if left in self._left:
            self._left.remove(left)
        self._front.put_back(left.text)
        self._tell()
        return True

    async def _answer_all(self, follower: Follower) -> None:
        while True:
            while self.stopping or not self._left:
                await self._news.wait()
            first, self._answering = self._left[0], True
            try:
                await self._agent.run(
                    self.session,
                    self.model,
                    until=first.id,
                    policy=self._approve,
                    cwd=self.folder,
                    cancelled_by="disposed",
                )
            except PlanlogError as error:
                self._program.fail(one_line(error))
                self.code = 1
                await self._give_up(first)
            await follower.shown(self.session.head)
            # What the same turn heard is answered with it.
            self._left = [left for left in self._left if not left.heard and left is not first]
            self._answering = False
            self._tell()

    def _event(self, event: Event) -> None:
        if event.type == USER_MESSAGE.name:
            said = USER_MESSAGE.read(event).id
            for left in self._left:
                left.heard = left.heard or left.id == said
        self._front.changed()

    def _ended(self, reason: EndReason) -> None:
        text, self.code = ending(reason)
        if text:
            self._program.fail(text)

    async def _give_up(self, left: Left) -> None:
        """Puts it back, as far as that can be done now."""
        if not left.heard:
            with suppress(PlanlogError):
                await self._put_back(left)

    def _tell(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()
        self._front.changed()
