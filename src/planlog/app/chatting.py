"""A chat: keys and lines become prompts, answers are shown, and the session goes on until its person leaves."""

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from planlog.agent.agent import Agent
from planlog.agent.conversation import CONVERSATION
from planlog.agent.desk import Policy
from planlog.agent.rules import check_named
from planlog.agent.title import entitle
from planlog.app.arriving import look_around, work_folder
from planlog.app.chat_commands import NO_PLAN, NO_SESSION, help_lines, plan_lines
from planlog.app.chat_front import Front
from planlog.app.chat_moves import (
    NAMES,
    ChooseModel,
    Clear,
    Complete,
    Drop,
    Entitle,
    Help,
    Key,
    Leave,
    Move,
    Prompt,
    Renew,
    Say,
    ShowPlan,
    Situation,
    Stop,
    decide,
)
from planlog.app.failure import FAILED
from planlog.app.prompting import opened
from planlog.app.questions import Allowed, StdinAsker
from planlog.app.talking import Talk
from planlog.faces.stdio.endings import INTERRUPTED
from planlog.faces.stdio.outlet import ScreenGone
from planlog.kernel.errors import PlanlogError, one_line
from planlog.kernel.scope import Scope
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.text import clean_text
from planlog.tools.tool import Tools

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals

WARNED_SECONDS = 2.0


class ChatWish(Struct, frozen=True):
    """What stands on the command line; see `Wish`."""

    model: str | None
    resumes: bool
    session: str | None
    approve: Policy | None
    allow: tuple[str, ...] = ()


class Chat:
    """`model` and `approve` are what stands after -m and --approve. What is done runs in `tasks`."""

    def __init__(
        self,
        program: "TerminalProgram",
        scope: Scope,
        signals: "Signals",
        front: Front,
        tasks: TaskGroup,
        wish: ChatWish,
    ) -> None:
        self.model = opened(scope, wish.model)
        rules = scope.get(Agent).rules
        check_named((*rules.allow, *rules.deny, *wish.allow), scope.get(Tools))
        self.talk: Talk | None = None
        self.left = anyio.Event()
        """Set when the person has left."""
        self.code = 0
        """For a shell; of a prompt that could not even be left, or of the turn that leaving ended."""
        self._program = program
        self._scope = scope
        self._signals = signals
        self._front = front
        self._tasks = tasks
        self._wish = wish
        self._model_text = wish.model
        self._talking = anyio.CancelScope()
        self._warned_at = -WARNED_SECONDS
        self._leaving = False
        self._sending = self._stops = 0
        self._in_order = anyio.Lock()

    @property
    def model_name(self) -> str:
        """As after -m."""
        return f"{self.model.provider}:{self.model.name}"

    @property
    def busy(self) -> bool:
        """Whether a turn runs, or something waits for one."""
        return self._sending > 0 or bool(self.talk and self.talk.busy)

    @property
    def stopping(self) -> bool:
        """Whether that is being ended."""
        return self._leaving or self._stops > 0

    # Deciding

    def key(self, key: Key) -> None:
        """A key was pressed. What cannot wait is done before this returns."""
        talk = self.talk
        warned = time.monotonic() - self._warned_at < WARNED_SECONDS
        move = decide(key, Situation(self._front.text, self.busy, self.stopping, warned))
        self._warned_at = -WARNED_SECONDS
        if isinstance(move, Leave) and move.at_once:
            self._signals.leave(INTERRUPTED)
        self._leaving = self._leaving or isinstance(move, Leave)
        if isinstance(move, Stop | Leave) and talk and talk.busy:
            talk.end_turn()
        if key == "enter" or isinstance(move, Clear | Prompt):
            self._front.take()
        if isinstance(move, Complete):
            self._front.complete(NAMES)
        elif move is not None:
            self._sending += isinstance(move, Prompt)
            self._stops += isinstance(move, Stop)
            self._tasks.start_soon(self._do_later, move)
        self._front.changed()

    async def line(self, text: str) -> None:
        """A line was given: does what it means, and waits until it is answered."""
        move = decide("enter", Situation(text))
        if move is not None:
            await self.do(move)
        if self.talk:
            await self.talk.idle()

    # Doing

    async def _do_later(self, move: Move) -> None:
        await self.do(move)
        self._sending -= isinstance(move, Prompt)
        self._stops -= isinstance(move, Stop)
        self._front.changed()

    async def do(self, move: Move) -> None:
        """One thing after the other: what is taken back has been left before."""
        try:
            async with self._in_order:
                await self._do(move)
        except PlanlogError as error:
            self._program.fail(one_line(error))
            if isinstance(move, Prompt):
                self.code = FAILED
                self._front.put_back(move.text)
        self._front.changed()

    async def _do(self, move: Move) -> None:
        session = self.talk.session if self.talk else None
        match move:
            case Prompt(text, steers):
                await self._prompt(text, steers)
            case Drop():
                if not (self.talk and await self.talk.drop()):
                    self._say("nothing waits")
            case Stop():
                if self.talk:
                    await self.talk.stop()
            case Leave():
                await self._leave()
            case Say(text, warns):
                self._warned_at = time.monotonic() if warns else -WARNED_SECONDS
                self._say(text)
            case Help():
                self._program.console.note_lines(help_lines())
            case ShowPlan():
                lines = await plan_lines(self._scope, session) if session else []
                self._program.console.out.lines(lines or NO_PLAN)
            case ChooseModel(name):
                self._choose(name)
            case Renew():
                self._renew()
            case Entitle(title):
                self._say(f"this session is called {await entitle(session, title)}" if session else NO_SESSION)
            case Clear() | Complete() | None:
                pass

    async def _prompt(self, text: str, steers: bool) -> None:
        if self.talk is None:
            sessions = self._scope.get(Sessions)
            await self.go_on_in(await sessions.create(self._program.folder))
        if self.talk:
            await self.talk.prompt(text, steers=steers and self.talk.busy)
        self._signals.may_leave = False
        self.code = 0

    async def begin(self) -> None:
        """Goes on in the session that was asked for; where none was, the first prompt begins one."""
        if not self._wish.resumes:
            self._say("a new session begins with the first prompt; /help tells what can be typed")
        else:
            session = await self._program.find_session(self._scope, self._wish.session)
            await self.go_on_in(session)
            title = (await session.view(CONVERSATION)).title
            self._say(f"session {session.id} · {title or 'no title'} · planlog show {session.id} prints it")

    async def go_on_in(self, session: Session) -> None:
        """Shows `session` from here on, and prompts it."""
        program, front = self._program, self._front
        folder = work_folder(session, program.folder if program.has_folder else None)
        front.asker = front.asker or StdinAsker(program.console)
        front.asker.allowed = Allowed(self._wish.allow, folder)
        after, skips = await look_around(program.console, self._scope.get(Sessions).store, session)
        self.talk = Talk(
            program, self._scope, session, front, model=self.model, approve=self._wish.approve, folder=folder
        )
        self._talking = anyio.CancelScope()
        self._tasks.start_soon(self._talk, self.talk, self._talking, after, skips)

    async def _talk(self, talk: Talk, scope: anyio.CancelScope, after: int, skips: bool) -> None:
        with scope:
            await talk.run(after, skips)

    async def _leave(self) -> None:
        self._leaving = True
        if self.talk and self.talk.busy:
            await self.talk.stop(leaves=True)
            self.code = self.talk.code
        self.left.set()

    def goodbye(self) -> None:
        """Says how to go on in the session."""
        if self.talk:
            session = self.talk.session.id
            with suppress(ScreenGone):
                self._say(f"session {session} · planlog chat --resume {session} goes on")

    def _say(self, text: str) -> None:
        self._program.console.note(text)

    def _choose(self, name: str) -> None:
        if name:
            name = clean_text(name)
            self.model, self._model_text = opened(self._scope, name), name
            if self.talk:
                self.talk.model = self.model
        self._say(f"{self.model_name} answers{' from now on' if name else ''}")

    def _renew(self) -> None:
        self.goodbye()
        self._talking.cancel()
        self.talk = None
        # A script begins at its top in each session.
        self.model = opened(self._scope, self._model_text)
        self._say("the next prompt begins a new session")
