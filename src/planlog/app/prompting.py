"""Runs one prompt to the end of its turn and shows what happens, whoever runs the session."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import anyio
import click
from msgspec import Struct

from planlog.agent.agent import Agent
from planlog.agent.desk import Policy
from planlog.agent.event import EndReason
from planlog.agent.live import Live
from planlog.agent.rules import check_named
from planlog.app.arriving import look_around, work_folder
from planlog.app.following import Ears, Follower, JsonLines, Viewer, after_turn_end, ticking
from planlog.app.questions import Allowed, Questions, StdinAsker
from planlog.faces.stdio import StdioRenders
from planlog.faces.stdio.endings import INTERRUPTED, ending
from planlog.faces.stdio.outlet import ScreenGone
from planlog.faces.stdio.transcript import Transcript
from planlog.kernel.errors import ConfigError, PlanlogError, first_leaf
from planlog.kernel.scope import NotRunning, Scope
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store import StoreLocked
from planlog.log.text import clean_text
from planlog.model.model import Model
from planlog.model.models import Models
from planlog.tools.tool import Tools

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals


class Wish(Struct, frozen=True):
    """What a person asked for: a prompt, who answers it, where, and how that is shown.

    `model` is what stands after -m, None where nothing does, or a model that is open already.

    `allow` are rules for calls that need no question.

    `session` is the beginning of an id, None the newest session of the folder; both only count where `resumes`.
    """

    prompt: str
    model: "str | Model | None"
    resumes: bool = False
    session: str | None = None
    approve: Policy | None = None
    allow: tuple[str, ...] = ()
    quiet: bool = False
    as_json: bool = False


def read_prompt(prompt: str | None, session: str | None = None) -> str:
    """The prompt as given, or from stdin: for "-", and where none is given and stdin is no terminal.

    `session` is the word after --resume, which may have been meant to be the prompt.
    """
    is_given = prompt is not None
    if sys.stdin and (prompt == "-" or (prompt is None and not sys.stdin.isatty())):
        prompt = sys.stdin.buffer.read().decode(errors="replace").rstrip("\n")
    elif prompt == "-":
        raise ConfigError("there is no stdin to read the prompt from")
    if session and not is_given and not (prompt or "").strip():
        raise ConfigError(
            f'"{session}" was taken as the session and the prompt is missing; '
            "--continue PROMPT goes on in the newest session"
        )
    if prompt is None:
        raise click.UsageError('Missing PROMPT, or "-" to read it from stdin.', click.get_current_context())
    if not prompt.strip():
        raise ConfigError("the prompt is empty; say what to do, as PROMPT or on stdin")
    return clean_text(prompt)


async def answer_wish(program: "TerminalProgram", scope: Scope, signals: "Signals", wish: Wish) -> int:
    """Runs or follows the session until the prompt was answered; the exit code says how its turn ended."""
    sessions = scope.get(Sessions)
    signals.may_leave = True
    model = opened(scope, wish.model)
    rules = scope.get(Agent).rules
    check_named((*rules.allow, *rules.deny, *wish.allow), scope.get(Tools))
    if wish.resumes:
        session = await program.find_session(scope, wish.session)
    else:
        session = await sessions.create(program.folder)
    try:
        reason = await _answer(program, scope, signals, wish, session, model)
    finally:
        if not wish.resumes and not wish.quiet:
            with suppress(ScreenGone):
                program.console.note(f"session {session.id} · planlog run --resume {session.id} PROMPT goes on")
    text, exit_code = ending(reason)
    if text:
        program.fail(text)
    return exit_code


def opened(scope: Scope, model: "str | Model | None") -> Model:
    """The model that was asked for. Raises `ConfigError`."""
    if model is not None and not isinstance(model, str):
        return model
    try:
        models = scope.get(Models)
    except NotRunning as error:
        text = 'no model can be opened: the composition has no row with use = "planlog.model"'
        raise ConfigError(text) from error
    return models.open(model)


async def _answer(
    program: "TerminalProgram", scope: Scope, signals: "Signals", wish: Wish, session: Session, model: Model
) -> EndReason:
    agent, store, console = scope.get(Agent), scope.get(Sessions).store, program.console
    folder = work_folder(session, program.folder if program.has_folder or not wish.resumes else None)
    after, skips = await look_around(console, store, session)
    message = await agent.prompt(session, wish.prompt, wish.approve)
    signals.may_leave = False
    viewer: Viewer
    if wish.as_json:
        viewer = JsonLines(console)
    else:
        viewer = Transcript(console, scope.get(StdioRenders), lambda reason: None, own=[message], quiet=wish.quiet)
    reason: EndReason | None = None
    locked = False
    try:
        async with anyio.create_task_group() as tasks:
            show = after_turn_end(viewer.event) if skips and not wish.as_json else viewer.event
            asker = StdinAsker(console, Allowed(wish.allow, folder))
            questions = Questions(console, agent, scope.get(Tools), session, tasks, asker)
            follower = Follower(console, session, [show, questions.event], after)
            ears = Ears(console, viewer)
            tasks.start_soon(follower.follow)
            tasks.start_soon(ears.deafened)
            if isinstance(viewer, Transcript):
                tasks.start_soon(ticking, console, viewer)
            for outlet in console.outlets:
                tasks.start_soon(outlet.broken)

            async def stop() -> None:
                if agent.runs(session):
                    agent.stop(session, "user")
                    # Where that was somebody else's turn, the own one shall not follow; where it had just ended, the
                    # own one may have begun.
                    if not await agent.withdraw(session, message):
                        agent.stop(session, "user")
                else:
                    signals.end(INTERRUPTED)

            signals.interrupt = lambda: tasks.start_soon(stop)
            with scope.get(Live).listen(session.id, ears.hear):
                reason = await agent.run(
                    session, model, until=message, policy=wish.approve, cwd=folder, cancelled_by="disposed"
                )
            await follower.shown(session.head)
            tasks.cancel_scope.cancel()
    except BaseException as error:
        locked = isinstance(first_leaf(error), StoreLocked)
        raise
    finally:
        signals.interrupt = None
        # Whoever comes next must not be surprised by a prompt that nobody waits for any more. But to take it back out
        # of a database that was locked for so long would take as long again.
        if reason is None and not locked:
            with anyio.CancelScope(shield=True), suppress(PlanlogError):
                await agent.withdraw(session, message)
        viewer.finish()
    return cast(EndReason, reason)
