"""Words the facts with which turns and steps begin and end."""

from collections.abc import Iterable

from planlog.agent.conversation import Conversation
from planlog.agent.event import (
    APPROVAL_POLICY,
    STEP_END,
    STEP_START,
    TURN_END,
    TURN_START,
    USER_MESSAGE,
    ApprovalPolicy,
    EndReason,
    Policy,
    StepMark,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from planlog.agent.inbox import Taken
from planlog.agent.ledger import Placing
from planlog.agent.title import title_fact, title_of
from planlog.log.event import Fact
from planlog.model.message import Message


def open_turn(
    conversation: Conversation, taken: Taken, turn: int, policy: Policy, header: Iterable[Fact]
) -> list[Placing]:
    """Turn `turn` and its first step begin with what was taken up; `header` comes last, before the request.

    Where nothing was taken up there is no turn, only what was withdrawn.
    """
    if not taken.messages:
        return [*taken.before]
    facts: list[Placing] = []
    if conversation.policy != policy:
        facts.append(APPROVAL_POLICY.fact(ApprovalPolicy(policy)))
    facts += [*taken.before, TURN_START.fact(TurnStart(turn)), *taken.after]
    facts += [STEP_START.fact(StepMark(turn, 1)), *map(_said, taken.messages)]
    title = title_of(taken.messages[-1].content)
    if conversation.title is None and title:
        facts.append(lambda seq: title_fact(title, seq - 1))
    return [*facts, *header]


def open_step(taken: Taken, turn: int, step: int, header: Iterable[Fact]) -> list[Placing]:
    """Step `step` begins where the one before it ends; what was taken up joins it."""
    ends, begins = STEP_END.fact(StepMark(turn, step - 1)), STEP_START.fact(StepMark(turn, step))
    return [ends, begins, *taken.before, *taken.after, *map(_said, taken.messages), *header]


def end_turn(turn: int, step: int, reason: EndReason) -> list[Placing]:
    """The step and the turn are over."""
    return [STEP_END.fact(StepMark(turn, step)), TURN_END.fact(TurnEnd(turn, reason))]


def _said(message: Message) -> Fact:
    data = UserMessage(message.id, "user", message.source, message.content)
    return USER_MESSAGE.fact(data, surface_op="append")
