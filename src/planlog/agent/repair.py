"""Closes a turn that was left open: by a process that died, by a cancel, or by a failure.

Closing adds facts and removes none: text that had been streamed becomes a message, each call gets the one result that
it lacks, the step ends, the turn ends. What differs between the three is only how the results are worded.
"""

from collections.abc import Callable, Iterable

import msgspec

from planlog.agent.answer import Answer, Call, Collector
from planlog.agent.conversation import CONVERSATION
from planlog.agent.event import (
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    STEP_END,
    TOOL_CALL,
    TOOL_RESULT,
    TURN_END,
    Aborted,
    AbortKind,
    AbortReason,
    EndReason,
    Failed,
    Failure,
    Interrupted,
    StepMark,
    TurnEnd,
)
from planlog.agent.facts import answer_facts, refused_call, result_fact
from planlog.agent.ledger import Placing
from planlog.agent.nesting import NESTING, Nesting
from planlog.log.event import Event, Fact
from planlog.log.header import new_id
from planlog.log.session import Session
from planlog.model.message import Block, ModelSource, ToolCall, ToolSource
from planlog.tools.outcome import (
    Outcome,
    aborted,
    aborted_before_dispatch,
    not_started,
    outcome_unknown,
    truncated_arguments,
)


class Manner(msgspec.Struct, frozen=True):
    """How a turn is closed: its reason, and the outcomes of calls that are `running` or still `waiting`.

    A repair speaks for somebody who is dead: it logs no `tool/call` for a call that was never started, and the ids of
    its results say what they are.
    """

    reason: EndReason
    running: Callable[[], Outcome]
    waiting: Callable[[], Outcome]
    repairs: bool = False


INTERRUPTED = Manner(Interrupted(), outcome_unknown, not_started, repairs=True)


def stopped(kind: AbortKind) -> Manner:
    """Somebody stopped the turn."""
    return Manner(Aborted(AbortReason(kind)), aborted, aborted_before_dispatch)


def failed(failure: Failure) -> Manner:
    """The model failed for good in mid-answer; its calls may be incomplete."""
    return Manner(Failed(failure), outcome_unknown, truncated_arguments)


def closing(
    nesting: Nesting, events: Iterable[Event], manner: Manner, source: ModelSource, raw: Iterable[Call] = ()
) -> list[Placing]:
    """What closes the open turn. `events` are those of the open step, from its `step/start` on.

    `source` is the model that was asked; `raw` are calls as it wrote them, where that is still known.
    """
    turn, step = nesting.turn, nesting.step
    if not turn:
        return []
    end = TURN_END.fact(TurnEnd(turn, manner.reason))
    if not step:
        return [end]
    left = _LeftOpen(raw)
    for event in events:
        left.read(event)
    facts = answer_facts(left.streamed(), source, turn, step, written=left.written, interrupted=True)
    for call in left.calls:
        if call.id in left.answered:
            continue
        left.answered.add(call.id)  # an answer that somebody else logged may hold an id twice
        if call.id in nesting.calls:
            facts.append(_result(call.id, manner.running(), turn, step, manner, nesting.calls[call.id]))
        elif manner.repairs:
            facts.append(_result(call.id, manner.waiting(), turn, step, manner, None))
        else:
            facts += refused_call(call, manner.waiting(), turn, step)
    return [*facts, STEP_END.fact(StepMark(turn, step)), end]


class _LeftOpen:
    """What the events of an open step hold that closing has to deal with."""

    def __init__(self, raw: Iterable[Call]) -> None:
        self._raw = {call.id: call for call in raw}
        self._heard: list[Event] = []
        self.calls: list[Call] = []
        self.answered: set[str] = set()

    @property
    def written(self) -> list[int]:
        """The seqs of streamed chunks that no message holds."""
        return [event.seq for event in self._heard]

    def read(self, event: Event) -> None:
        match event.type:
            case "assistant/chunk":
                self._heard.append(event)
            case "llm/retry":
                self._heard.clear()
            case "assistant/message":
                self._heard.clear()
                self._ask(ASSISTANT_MESSAGE.read(event).message.content)
            case "tool/call":
                logged = TOOL_CALL.read(event)
                if all(logged.call_id != call.id for call in self.calls):
                    self.calls.append(Call(logged.call_id, logged.name, logged.arguments))
            case "tool/result":
                source = TOOL_RESULT.read(event).message.source
                if isinstance(source, ToolSource):
                    self.answered.add(source.call_id)

    def streamed(self) -> Answer:
        """What was streamed and never became a message; its calls join `calls`."""
        collector = Collector(set(), new_id)
        for event in self._heard:
            collector.take(ASSISTANT_CHUNK.read(event).chunk)
        answer = collector.answer()
        if not answer.empty:
            self._ask(answer.content)
        return answer

    def _ask(self, content: Iterable[Block]) -> None:
        for block in content:
            if isinstance(block, ToolCall):
                self.calls.append(self._raw.get(block.id) or Call(block.id, block.name, block.arguments))


def _result(call: str, outcome: Outcome, turn: int, step: int, manner: Manner, called: int | None) -> Placing:
    cites = () if called is None else (called,)

    def place(seq: int) -> Fact:
        id = f"interrupted-tool-result-{call}-{seq}" if manner.repairs else None
        return result_fact(call, outcome, turn, step, cites=cites, id=id)

    return place


def place_all(facts: Iterable[Placing], head: int, time: int) -> list[Event]:
    """The events that `facts` become where the next seq is `head`."""
    return [(fact if isinstance(fact, Fact) else fact(seq)).placed(seq, time) for seq, fact in enumerate(facts, head)]


async def events_of_step(session: Session) -> list[Event]:
    """The events of the open step as committed; none where no step is open."""
    nesting = session.state(NESTING)
    if not nesting.step:
        return []
    return [event async for page in session.pages(nesting.step_seq) for event in page]


async def repair(session: Session) -> bool:
    """Closes the turn that a dead process left open, at the time of its last event; whether there was one.

    The caller holds the session's lease.
    """
    nesting = session.state(NESTING)
    if not nesting.open:
        return False
    facts = closing(nesting, await events_of_step(session), INTERRUPTED, await _asked(session))
    await session.append(*facts, time=await _last_time(session))
    return True


async def closed_in_memory(session: Session) -> list[Event]:
    """The events that a repair would add now, for somebody who may only read; none where no turn is open."""
    nesting = session.state(NESTING)
    if not nesting.open:
        return []
    facts = closing(nesting, await events_of_step(session), INTERRUPTED, await _asked(session))
    return place_all(facts, session.head, await _last_time(session))


async def _asked(session: Session) -> ModelSource:
    context = (await session.view(CONVERSATION)).context
    return ModelSource(context.provider, context.model) if context else ModelSource("unknown", "unknown")


async def _last_time(session: Session) -> int:
    last = await session.read(session.head - 1, limit=1)
    return last[0].time
