"""Runs one prompt to the end of its turn and shows what happens, whoever runs the session."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import click
from msgspec import Struct

from planlog.agent.agent import Agent
from planlog.agent.desk import Policy
from planlog.agent.event import TURN_END, TURN_START, EndReason
from planlog.agent.live import Live, LiveNews
from planlog.agent.nesting import NESTING
from planlog.app.following import Follower, JsonLines, Viewer
from planlog.app.questions import Questions
from planlog.faces.stdio import StdioRenders
from planlog.faces.stdio.endings import INTERRUPTED, ending
from planlog.faces.stdio.screen import ScreenGone
from planlog.faces.stdio.transcript import Transcript
from planlog.kernel.errors import ConfigError, PlanlogError
from planlog.kernel.scope import Scope
from planlog.log.event import Event, read_line
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store import Store
from planlog.log.text import clean_text
from planlog.model.model import Model

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals


class Wish(Struct, frozen=True):
    """What a person asked for: a prompt, who answers it, where, and how that is shown.

    `session` is the beginning of an id, None the newest session of the folder; both only count where `resumes`.
    """

    prompt: str
    model: Model
    resumes: bool = False
    session: str | None = None
    approve: Policy | None = None
    quiet: bool = False
    as_json: bool = False


def read_prompt(prompt: str | None) -> str:
    """The prompt as given, or from stdin: for "-", and where none is given and stdin is no terminal."""
    if sys.stdin and (prompt == "-" or (prompt is None and not sys.stdin.isatty())):
        prompt = sys.stdin.buffer.read().decode(errors="replace").rstrip("\n")
    elif prompt == "-":
        raise ConfigError("there is no stdin to read the prompt from")
    if prompt is None:
        raise click.UsageError('Missing PROMPT, or "-" to read it from stdin.', click.get_current_context())
    if not prompt.strip():
        raise ConfigError("the prompt is empty")
    return clean_text(prompt)


async def answer_wish(program: "TerminalProgram", scope: Scope, signals: "Signals", wish: Wish) -> int:
    """Runs or follows the session until the prompt was answered; the exit code says how its turn ended."""
    sessions = scope.get(Sessions)
    if wish.resumes:
        session = await program.find_session(scope, wish.session)
    else:
        session = await sessions.create(program.folder)
    try:
        reason = await _answer(program, scope, signals, wish, session)
    finally:
        if not wish.resumes and not wish.quiet:
            with suppress(ScreenGone):
                program.console.note(f"session {session.id} · planlog run --resume {session.id} PROMPT goes on")
    text, exit_code = ending(reason)
    if text:
        program.fail(text)
    return exit_code


async def _answer(
    program: "TerminalProgram", scope: Scope, signals: "Signals", wish: Wish, session: Session
) -> EndReason:
    agent, store, console = scope.get(Agent), scope.get(Sessions).store, program.console
    after = session.head - 1
    owner = await store.owner(session.id)
    if owner is not None:
        console.note(f"process {owner.pid} on {owner.host} is running this session; your prompt comes next")
        after = await _before_turn(store, session)
    message = await agent.prompt(session, wish.prompt)
    viewer: Viewer
    if wish.as_json:
        viewer = JsonLines(console)
    else:
        viewer = Transcript(console, scope.get(StdioRenders), lambda reason: None, own=[message], quiet=wish.quiet)
    reason: EndReason | None = None
    try:
        async with anyio.create_task_group() as tasks:
            questions = Questions(console, agent, store, session, tasks)
            show = viewer.event
            if owner is None and session.state(NESTING).open and not wish.as_json:
                turn = session.state(NESTING).turn
                console.note(f"turn {turn} was interrupted when its process died; it is closed first")
                show = _after_turn_end(viewer.event)
            follower = Follower(session, [show, questions.event], after)
            ears = _Ears(viewer)
            tasks.start_soon(follower.follow)
            tasks.start_soon(ears.deafened)

            async def stop() -> None:
                running = await store.owner(session.id)
                if running is not None and running.pid == os.getpid() and session.state(NESTING).open:
                    agent.stop(session, "user")
                else:
                    signals.end(INTERRUPTED)

            signals.interrupt = lambda: tasks.start_soon(stop)
            with scope.get(Live).listen(session.id, ears.hear):
                reason = await agent.run(
                    session,
                    wish.model,
                    until=message,
                    policy=wish.approve,
                    cwd=_folder(program, wish, session),
                    cancelled_by="disposed",
                )
            await follower.shown(session.head)
            tasks.cancel_scope.cancel()
    finally:
        signals.interrupt = None
        if reason is None:
            # Whoever comes next must not be surprised by a prompt that nobody waits for any more.
            with anyio.CancelScope(shield=True), suppress(PlanlogError):
                await agent.withdraw(session, message)
        viewer.finish()
    return cast(EndReason, reason)


class _Ears:
    """Shows what is live. It is said in the middle of the agent's work, which a broken screen must not reach."""

    def __init__(self, viewer: Viewer) -> None:
        self._viewer = viewer
        self._failure: Exception | None = None
        self._deaf = anyio.Event()

    def hear(self, what: LiveNews) -> None:
        """Shows `what`, until showing fails."""
        if self._failure is None:
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


def _after_turn_end(show: Callable[[Event], None]) -> Callable[[Event], None]:
    """`show` for what follows the end of a turn whose beginning was never shown."""
    ended = False

    def show_later(event: Event) -> None:
        nonlocal ended
        if ended:
            show(event)
        ended = ended or event.type == TURN_END.name

    return show_later


async def _before_turn(store: Store, session: Session) -> int:
    """The seq before the last turn's first event, so that all of what runs now is seen."""
    line = await store.last_of(session.id, (TURN_START.name,))
    return read_line(line).seq - 1 if line else -1


def _folder(program: "TerminalProgram", wish: Wish, session: Session) -> Path:
    folder = Path(session.cwd) if wish.resumes and not program.has_folder else program.folder
    if not folder.is_dir():
        raise ConfigError(f"{folder}, where session {session.id} works, is gone; name another folder with -C")
    return folder
