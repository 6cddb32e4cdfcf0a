"""An agent answers the prompts of sessions, one turn each, in the order in which they came, from whatever process."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import anyio

from planlog.agent.conversation import CONVERSATION
from planlog.agent.desk import Desk
from planlog.agent.ending import Ending
from planlog.agent.event import Aborted, AbortKind, AbortReason, EndReason, Policy
from planlog.agent.inbox import Wish, clean_prompt, new_command, read_wish, withdrawal
from planlog.agent.live import Live
from planlog.agent.loop import Turn
from planlog.agent.nesting import NESTING
from planlog.agent.repair import repair
from planlog.agent.retry import FIRST_WAIT
from planlog.agent.rules import NO_RULES, Rules
from planlog.kernel.errors import ConfigError
from planlog.log.header import new_id
from planlog.log.session import Session
from planlog.log.store import SessionBusy
from planlog.model.model import Model
from planlog.tools.tool import Tools

BUSY_SECONDS = 0.1
"""How often somebody who waits for a session looks whether its owner has died, which nothing else tells."""


class Agent:
    """`max_steps` bounds each turn; `policy` says who approves calls that need it, unless a run says otherwise.

    `rules` spare questions, or answer them with no.

    `first_wait` is how many seconds lie before the first retry of a request that failed; the next ones double it.
    """

    def __init__(
        self,
        tools: Tools,
        live: Live,
        *,
        max_steps: int,
        policy: Policy,
        first_wait: float = FIRST_WAIT,
        rules: Rules = NO_RULES,
        clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        if max_steps < 1:
            raise ConfigError(f"max_steps must be at least 1, got {max_steps}")
        self._tools = tools
        self._live = live
        self._max_steps = max_steps
        self._policy: Policy = policy
        self._clock = clock
        self._first_wait = first_wait
        self._rules = rules
        self._turns: dict[str, Turn] = {}
        self._met: set[str] = set()
        self._left_at: dict[str, int] = {}

    # What anybody may wish, from any process: a command that whoever runs the session takes up

    async def prompt(self, session: Session, text: str, policy: Policy | None = None) -> str:
        """Leaves a prompt, durable on return, to be answered in a turn of its own; returns its message's id.

        Whoever runs that turn, it lets no more be done than `policy`, by default the agent's own. Raises `EmptyPrompt`
        for a blank text.
        """
        return await self._leave(session, "prompt", text, policy or self._policy)

    async def steer(self, session: Session, text: str) -> str:
        """Like `prompt`, but a turn that is running hears it at its next step."""
        return await self._leave(session, "steer", text, self._policy)

    async def withdraw(self, session: Session, message: str) -> bool:
        """Takes a prompt back before anybody has begun to answer it; False when it is too late.

        One that waits on the log while somebody else runs the session is taken out of it by them, at their next step.
        """
        self._left_at.pop(message, None)
        if await session.withdraw(message):
            return True
        await session.refresh()
        if not (await session.view(CONVERSATION)).inbox.holds(message):
            return False
        try:
            async with session.lease():
                fact = withdrawal((await session.view(CONVERSATION)).inbox, message)
                if fact is not None:
                    await session.append(fact)
                return fact is not None
        except SessionBusy:
            await session.send(new_command("withdraw", Wish(id=message), self._clock()))
            return True

    async def cancel(self, session: Session) -> None:
        """Asks whoever runs the session to end the turn that is open now; no later turn is meant."""
        await session.refresh()
        if turn := session.state(NESTING).turn:
            await session.send(new_command("cancel", Wish(turn=turn), self._clock()))

    async def answer(
        self, session: Session, question: str, outcome: Literal["allowed", "denied"], *, always: bool = False
    ) -> None:
        """Answers the approval question of that id; the first answer counts.

        `always` allows the rule that the question offers, too, for the rest of the session.
        """
        wish = Wish(id=question, outcome=outcome, always=always)
        await session.send(new_command("approve", wish, self._clock()))

    def stop(self, session: Session, kind: AbortKind) -> None:
        """Ends the turn that this process runs in the session, if any, and says why on the log.

        `run` then returns as after any other turn. It may be called from a signal's handler on the event loop.
        """
        if turn := self._turns.get(session.id):
            turn.stop(kind)

    def tighten(self, session: Session, policy: Policy) -> None:
        """Lets the turn that this process runs in the session, if any, do no more than `policy` from here on.

        A laxer policy counts from the next prompt on that is left with it.
        """
        if turn := self._turns.get(session.id):
            turn.tighten(policy)

    def runs(self, session: Session) -> bool:
        """Whether a turn of the session is being run by this process now."""
        return session.id in self._turns

    @property
    def policy(self) -> Policy:
        """Who approves calls where nobody says otherwise."""
        return self._policy

    @property
    def rules(self) -> Rules:
        """Those of the composition."""
        return self._rules

    # Work

    async def run(
        self,
        session: Session,
        model: Model,
        *,
        until: str,
        policy: Policy | None = None,
        cwd: Path | None = None,
        agent: str | None = None,
        cancelled_by: AbortKind = "user",
        tools: Tools | None = None,
    ) -> EndReason:
        """Works on the session until the message `until` is answered, here or elsewhere; how its turn ended.

        What others left before it is answered first. Where another process runs the session, this one waits, and goes
        on in its place if it dies. A message that was withdrawn counts as aborted. Cancelling the task closes the turn
        first (bounded, < 1 s unless a tool will not stop), with `cancelled_by` as the reason. Raises `StoreError` when
        the log cannot be written; the turn then stays open until the next run repairs it.
        """
        desk = Desk(
            session,
            model,
            tools or self._tools,
            self._live,
            policy or self._policy,
            self._max_steps,
            cwd or Path(session.cwd),
            agent,
            cancelled_by,
            self._first_wait,
            self._rules,
        )
        ending = Ending(session, until, self._left_at.pop(until, 0))
        while True:
            news = session.news
            await session.refresh()
            if (end := await ending.look()) is not None:
                return end
            try:
                async with session.lease():
                    await repair(session)
                    if (end := await ending.look()) is not None:
                        return end
                    if not await self._awaited(session, until):
                        return Aborted(AbortReason("user"))
                    await self._turn(desk)
            except SessionBusy:
                with anyio.move_on_after(BUSY_SECONDS):
                    await session.changed(news)

    async def _turn(self, desk: Desk) -> None:
        session = desk.session.id
        turn = self._turns[session] = Turn(desk, resumed=session not in self._met)
        self._met.add(session)
        try:
            await turn.run()
        finally:
            del self._turns[session]

    async def _awaited(self, session: Session, message: str) -> bool:
        if (await session.view(CONVERSATION)).inbox.holds(message):
            return True
        return any(message in (command.id, read_wish(command).id) for command in await session.commands())

    async def _leave(self, session: Session, kind: Literal["prompt", "steer"], text: str, policy: Policy) -> str:
        id = new_id()
        command = new_command(kind, Wish(id=id, text=clean_prompt(text), policy=policy), self._clock(), id)
        self._left_at[id] = session.head
        await session.send(command)
        return id
