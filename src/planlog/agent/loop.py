"""Performs one turn: takes up an input, asks the model, runs its calls, until nothing is owed or somebody stops it.

What to do next is decided in `step.py`. Here it is done, and each thing in its order: what is acted on is committed
before, and facts of one decision share one append.
"""

import random
from collections.abc import Sequence
from dataclasses import replace as changed

import anyio
from msgspec.structs import replace

from planlog.agent.answer import Call
from planlog.agent.calls import Calls
from planlog.agent.conversation import CONVERSATION, request_of
from planlog.agent.desk import Desk
from planlog.agent.event import APPROVAL_POLICY, AbortKind, ApprovalPolicy, EndReason, Failed, Policy
from planlog.agent.facts import refused_call, retry_facts
from planlog.agent.header import header_facts, header_of
from planlog.agent.inbox import Taken, read_wish, stricter, take_prompt, take_steers
from planlog.agent.ledger import Ledger, Placing
from planlog.agent.marks import end_turn, open_step, open_turn
from planlog.agent.nesting import NESTING
from planlog.agent.repair import Manner, closing, events_of_step, failed, place_all, stopped
from planlog.agent.retry import Wait
from planlog.agent.step import Ask, End, NextStep, RefuseCalls, RunCalls, Situation, next_move
from planlog.agent.stream import Hearing
from planlog.agent.tasks import task_group
from planlog.log.event import Fact
from planlog.log.header import new_id
from planlog.log.store import ClaimGone
from planlog.model.message import ModelSource
from planlog.tools.outcome import Outcome, truncated_arguments

CLOSE_SECONDS = 5.0


class Turn:
    """One turn of a session whose lease is held and whose last turn is closed."""

    def __init__(self, desk: Desk, *, resumed: bool) -> None:
        """`resumed` says that this process has sent no request in this session before."""
        self._desk = desk
        self._session = desk.session
        self._ledger = Ledger(desk.session)
        self._turn = desk.session.state(NESTING).turns + 1
        self._now = Situation()
        self._resumed = resumed
        self._hearing: Hearing | None = None
        self._chars = 0
        self._retry_id = ""
        self._scope = anyio.CancelScope()
        self._stopped: AbortKind | None = None

    def stop(self, kind: AbortKind) -> None:
        """Ends the turn as soon as it can be ended, and says who wanted it."""
        self._stopped = self._stopped or kind
        self._scope.cancel()

    def tighten(self, policy: Policy) -> None:
        """From the next call on no more may be done than `policy` lets; a laxer one changes nothing."""
        policy = stricter(self._desk.policy, policy)
        if policy != self._desk.policy:
            self._desk = changed(self._desk, policy=policy)
            self._ledger.add(APPROVAL_POLICY.fact(ApprovalPolicy(policy)))

    async def run(self) -> EndReason | None:
        """How the turn ended; None, and no turn, where nothing waits for an answer."""
        if not await self._begin():
            return None
        end: EndReason | None = None
        async with task_group() as tasks:
            tasks.start_soon(self._heed_cancels)
            with self._scope:
                try:
                    end = await self._go_on()
                except anyio.get_cancelled_exc_class():
                    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                        end = await self._close(stopped(self._stopped or self._desk.cancelled_by))
                    raise
            tasks.cancel_scope.cancel()
        return end

    async def _go_on(self) -> EndReason:
        while True:
            match next_move(self._now, self._desk.max_steps, random.random(), self._desk.first_wait):
                case Ask():
                    await self._ask()
                case Wait() as wait:
                    await self._wait(wait)
                case RunCalls():
                    await self._run_calls(self._calls())
                case RefuseCalls():
                    self._refuse_calls(self._calls())
                case NextStep():
                    await self._next_step()
                case End(reason):
                    return await self._end(reason)

    # Beginning

    async def _begin(self) -> bool:
        """Takes up what has waited longest, and commits all that the first request needs."""
        while True:
            conversation = await self._session.view(CONVERSATION)
            commands = await self._session.commands()
            taken = take_prompt(conversation.inbox, commands)
            # A prompt that was left by somebody careful is not to be run carelessly by whoever comes along.
            policy = stricter(self._desk.policy, taken.policy)
            facts = open_turn(conversation, taken, self._turn, policy, await self._header())
            if not facts:
                # Nothing is said, so no append can claim what nobody can answer.
                for command in taken.claims:
                    await self._session.withdraw(command)
                return False
            if await self._claim(facts, taken.claims):
                self._desk = changed(self._desk, policy=policy)
                self._resumed = False
                return bool(taken.messages)

    async def _claim(self, facts: Sequence[Placing], claims: Sequence[str]) -> bool:
        """Commits; False where one of the commands was withdrawn a moment ago, so that all has to be decided again."""
        try:
            await self._ledger.commit(*facts, claims=claims)
        except ClaimGone:
            return False
        return True

    async def _header(self) -> list[Fact]:
        desk = self._desk
        conversation = await self._session.view(CONVERSATION)
        header = header_of(desk.model, desk.tools.definitions(), desk.cwd, desk.agent)
        return header_facts(conversation, header, desk.model, resumed=self._resumed)

    # Asking

    async def _ask(self) -> None:
        conversation = await self._session.view(CONVERSATION)
        self._hearing = Hearing(
            self._session,
            self._ledger,
            self._desk.live,
            self._turn,
            self._now.step,
            conversation.call_ids(),
            self._chars,
        )
        answer = await self._hearing.listen(self._desk.model, request_of(conversation))
        self._chars = self._hearing.chars
        if answer.failure is None and not answer.empty:
            self._keep()
        self._now = replace(self._now, answer=answer)
        await self._look_for_steers()

    def _keep(self, *, interrupted: bool = False) -> None:
        """Puts what was heard into the ledger, once."""
        if self._hearing is not None:
            self._ledger.add(*self._hearing.keep(interrupted=interrupted))
            self._hearing = None

    async def _wait(self, wait: Wait) -> None:
        if wait.retry == 1:
            self._retry_id = new_id()
        failure, again = retry_facts(wait, self._retry_id, self._turn, self._now.step, self._desk.model.provider)
        self._ledger.add(*(self._hearing.void() if self._hearing else []), failure)
        self._hearing = None
        await self._ledger.commit()
        if wait.delay:
            await anyio.sleep(wait.delay)
        await self._ledger.commit(again)
        self._now = replace(self._now, answer=None, tries=wait.tries)

    # Calling

    def _calls(self) -> tuple[Call, ...]:
        return self._now.answer.calls if self._now.answer else ()

    async def _run_calls(self, calls: Sequence[Call]) -> None:
        running = Calls(self._desk, self._ledger, lambda: self._desk.policy, self._turn, self._now.step, calls)
        await running.run()
        self._called(calls, [running.outcomes[call.id] for call in calls])
        await self._look_for_steers()

    def _refuse_calls(self, calls: Sequence[Call]) -> None:
        outcome = truncated_arguments()
        for call in calls:
            self._ledger.add(*refused_call(call, outcome, self._turn, self._now.step))
        self._called(calls, [outcome] * len(calls))

    def _called(self, calls: Sequence[Call], outcomes: Sequence[Outcome]) -> None:
        streak = self._now.streak
        for call, outcome in zip(calls, outcomes, strict=True):
            streak = streak.after(call.name, call.arguments, outcome.text, outcome.is_error)
        self._now = replace(self._now, called=True, streak=streak)

    # Stepping and ending

    async def _look_for_steers(self) -> None:
        steered = bool((await self._steers()).messages)
        self._now = replace(self._now, steered=steered)

    async def _steers(self) -> Taken:
        conversation = await self._session.view(CONVERSATION)
        return take_steers(conversation.inbox, await self._session.commands())

    async def _next_step(self) -> None:
        while True:
            taken = await self._steers()
            if not taken.messages and not self._calls():
                # What the turn was to go on for has been withdrawn: nothing is left to be answered.
                self._now = replace(self._now, steered=False)
                return
            step = self._now.step + 1
            if await self._claim(open_step(taken, self._turn, step, await self._header()), taken.claims):
                self._now = Situation(step=step, streak=self._now.streak)
                self._chars = 0
                return

    async def _end(self, reason: EndReason) -> EndReason:
        answer = self._now.answer
        if isinstance(reason, Failed) and answer is not None and answer.failure is not None:
            await self._close(failed(reason.error))
            return reason
        self._keep()
        await self._finish(end_turn(self._turn, self._now.step, reason))
        return reason

    async def _close(self, manner: Manner) -> EndReason:
        """Ends the turn in mid-step, with whatever is open in it."""
        raw = self._hearing.answer.calls if self._hearing else self._calls()
        self._keep(interrupted=True)
        nesting = self._session.state(NESTING)
        if not nesting.open:
            return manner.reason
        events = [*await events_of_step(self._session), *place_all(self._ledger.pending, self._session.head, 0)]
        source = ModelSource(self._desk.model.provider, self._desk.model.name)
        await self._finish(closing(nesting, events, manner, source, raw))
        return manner.reason

    async def _finish(self, facts: Sequence[Placing]) -> None:
        """Commits the end of the turn, and drops the commands that were meant for it."""
        while True:
            meant = [c.id for c in await self._session.commands() if c.kind in ("cancel", "approve")]
            if await self._claim(facts, meant):
                return

    async def _heed_cancels(self) -> None:
        while True:
            news = self._session.news
            for command in await self._session.commands():
                if command.kind == "cancel" and read_wish(command).turn == self._turn:
                    self.stop("user")
                    return
            await self._session.changed(news)
