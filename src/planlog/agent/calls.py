"""Runs the calls of one answer: logged in the order in which the model made them, answered as each is done.

A barrier runs alone: it waits for the calls before it, and those after it wait. Calls of tools that are safe to run
concurrently run side by side, at most `POOL` at a time.
"""

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import anyio
from anyio.abc import TaskGroup
from msgspec.structs import replace

from planlog.agent.answer import Call
from planlog.agent.approval import ask
from planlog.agent.desk import Desk
from planlog.agent.event import Policy
from planlog.agent.facts import call_fact, refused_call, result_fact
from planlog.agent.ledger import Ledger
from planlog.agent.live import LiveProgress
from planlog.agent.rules import GRANTED, Verdict, named, verdict
from planlog.agent.tasks import task_group
from planlog.tools.call import propose, run_call
from planlog.tools.outcome import Outcome, denied, other_tool
from planlog.tools.schema import Violations, check_arguments
from planlog.tools.thread import Stopped, in_thread
from planlog.tools.tool import Execution, Proposal, Tool

POOL = 10


class Calls:
    """The calls of step `step`. `outcomes` has what is done, by call id; `policy` may become stricter meanwhile."""

    def __init__(
        self, desk: Desk, ledger: Ledger, policy: Callable[[], Policy], turn: int, step: int, calls: Sequence[Call]
    ) -> None:
        self._desk = desk
        self._policy = policy
        self._ledger = ledger
        self._turn = turn
        self._step = step
        self._calls = calls
        self._running = 0
        self._done = anyio.Event()
        self._judged: dict[tuple[str, tuple[str, ...], Policy], Verdict] = {}
        self._tools: dict[str, Tool[Any, Any] | None] = {}  # by call id: what was judged is what may run
        self._approvals: dict[str, Proposal] = {}
        self.outcomes: dict[str, Outcome] = {}

    async def run(self) -> None:
        """Runs them all. What the last one came to is in the ledger, to be committed with what follows from it."""
        waiting = deque(self._calls)
        async with task_group() as tasks:
            while waiting:
                granted = await self._desk.session.view(GRANTED)
                kinds = [await self._kind(call, granted) for call in islice(waiting, POOL)]
                # From here to the wait nothing may be awaited: a call that ends meanwhile would be waited for.
                batch = startable(kinds, self._running, POOL - self._running)
                if batch:
                    await self._start([waiting.popleft() for _ in range(batch)], granted, tasks)
                else:
                    await self._done.wait()

    async def _kind(self, call: Call, granted: tuple[str, ...]) -> tuple[bool, bool]:
        tool = self._tool(call)
        return tool is None or tool.concurrency_safe, await self._verdict(call, granted) != "run"

    def _tool(self, call: Call) -> Tool[Any, Any] | None:
        if call.id not in self._tools:
            self._tools[call.id] = self._desk.tools.get(call.name)
        return self._tools[call.id]

    async def _verdict(self, call: Call, granted: tuple[str, ...]) -> Verdict:
        """Worked out once: the arguments may be long."""
        key = (call.id, granted, self._policy())
        if key not in self._judged:
            self._judged[key] = await self._judge(call, granted)
        return self._judged[key]

    async def _judge(self, call: Call, granted: tuple[str, ...]) -> Verdict:
        desk, tool, policy = self._desk, self._tool(call), self._policy()
        params = check_arguments(tool.params, call.arguments) if tool else None
        # Nobody is asked about a call that cannot run: the registry says what is wrong with it.
        if tool is None or isinstance(params, Violations):
            return "run"

        def judged(stopped: Stopped) -> Verdict:
            return verdict(tool, params, desk.cwd, policy, desk.rules, granted)

        rules = (*desk.rules.allow, *desk.rules.deny, *granted)
        looks = tool.covered is not None and any(named(rule) == tool.name for rule in rules)
        # What a pattern covers may be a question to a disk, or a long text.
        return await in_thread(judged) if looks else judged(lambda: False)

    async def _start(self, calls: Sequence[Call], granted: tuple[str, ...], tasks: TaskGroup) -> None:
        safe, gated = await self._kind(calls[0], granted)
        if not gated:
            seqs = await self._log(calls)
        elif (seqs := await self._approved(calls[0], granted)) is None:
            return
        for call, seq in zip(calls, seqs, strict=True):
            self._running += 1
            if safe:
                tasks.start_soon(self._perform, call, seq)
            else:
                await self._perform(call, seq)
                # It may have made another file of the path that a later call names.
                self._judged.clear()

    async def _approved(self, call: Call, granted: tuple[str, ...]) -> list[int] | None:
        """Logs a call that may run; one that may not gets its result and None is returned."""
        judged = await self._verdict(call, granted)
        if judged != "ask":
            self._refuse(call, denied(judged))
            return None
        proposal = await propose(self._desk.tools, call.name, call.arguments, self._execution(call))
        if isinstance(proposal, Outcome):
            self._refuse(call, proposal)
            return None
        if proposal.rule and await self._judge(call, (proposal.rule,)) != "run":
            # A rule that would not have spared this question must not be offered with it.
            proposal = replace(proposal, rule="")
        decision = await ask(self._desk.session, self._ledger, call, proposal)
        self._ledger.add(decision.fact)
        if decision.allowed:
            self._approvals[call.id] = proposal
            return await self._log([call], decision.claims)
        self._refuse(call, denied("it was not approved"))
        await self._ledger.commit(claims=decision.claims)
        return None

    def _refuse(self, call: Call, outcome: Outcome) -> None:
        self.outcomes[call.id] = outcome
        self._ledger.add(*refused_call(call, outcome, self._turn, self._step))

    async def _log(self, calls: Sequence[Call], claims: Sequence[str] = ()) -> list[int]:
        facts = [call_fact(call, self._turn, self._step) for call in calls]
        events = await self._ledger.commit(*facts, claims=claims)
        return [event.seq for event in events[-len(facts) :]]

    def _execution(self, call: Call) -> Execution:
        desk = self._desk

        def hear(text: str) -> None:
            desk.live.say(desk.session.id, LiveProgress(call.id, text))

        return Execution(call.id, desk.session, desk.cwd, hear, self._approvals.get(call.id))

    async def _perform(self, call: Call, seq: int) -> None:
        tool = self._desk.tools.get(call.name)
        if tool is None or tool is self._tool(call):
            outcome = await run_call(self._desk.tools, call.name, call.arguments, self._execution(call))
        else:  # nobody has judged the one that is there now
            outcome = other_tool(call.name)
        self.outcomes[call.id] = outcome
        self._ledger.add(result_fact(call.id, outcome, self._turn, self._step, cites=[seq]))
        self._running -= 1
        if self._running:
            await self._ledger.commit()  # otherwise what comes next takes the result along at once
        done, self._done = self._done, anyio.Event()
        done.set()


def startable(kinds: Sequence[tuple[bool, bool]], running: int, room: int) -> int:
    """How many of the waiting calls, from the first on, may be logged and started together now.

    Each is (safe to run concurrently, needs a question first); `running` calls are under way, `room` more may be.
    """
    safe, asks = kinds[0]
    if not safe:
        return 0 if running else 1
    if asks or not room:
        return min(1, room)
    together = 0
    while together < min(room, len(kinds)) and kinds[together] == (True, False):
        together += 1
    return together
