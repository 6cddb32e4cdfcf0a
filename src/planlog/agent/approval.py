"""Asks a person whether a call may run, on the log, so that any face in any process can answer."""

from collections.abc import Sequence

import msgspec

from planlog.agent.answer import Call
from planlog.agent.event import APPROVAL_ASKED, APPROVAL_DECIDED, ApprovalAsked, ApprovalDecided
from planlog.agent.inbox import read_wish
from planlog.agent.ledger import Ledger
from planlog.log.event import Event, Fact
from planlog.log.header import new_id
from planlog.log.projection import Projection
from planlog.log.session import Session
from planlog.log.store import Command
from planlog.tools.tool import Proposal


class Question(msgspec.Struct, frozen=True, rename="camel"):
    """A call that waits for its approval; `rule` is what may be allowed with it, see `Proposal`."""

    id: str
    tool_name: str
    call_id: str | None
    rule: str | None = None


Questions = tuple[Question, ...]


class Decision(msgspec.Struct, frozen=True):
    """What was answered, the fact that says so, and the commands that it takes up."""

    allowed: bool
    fact: Fact
    claims: tuple[str, ...]


def _apply(open_questions: Questions, event: Event) -> Questions:
    if event.type == "approval/asked":
        asked = APPROVAL_ASKED.read(event)
        return (*open_questions, Question(asked.id, asked.tool_name, asked.call_id, asked.rule))
    if event.type == "approval/decided":
        decided = APPROVAL_DECIDED.read(event).id
        return tuple(question for question in open_questions if question.id != decided)
    return () if open_questions else open_questions


APPROVALS: Projection[Questions] = Projection(
    "approvals", (), _apply, types=("approval/asked", "approval/decided", "turn/end")
)
"""The questions that wait for an answer; the end of a turn answers them all."""


async def ask(session: Session, ledger: Ledger, call: Call, proposal: Proposal) -> Decision:
    """Writes the question and waits for a person's answer; whoever calls commits the decision with what follows."""
    question, offer = new_id(), proposal.rule or None
    asked = ApprovalAsked(question, call.name, call.id, None, proposal.preview or None, offer)
    await ledger.commit(APPROVAL_ASKED.fact(asked))
    while True:
        news = session.news
        if decision := decide(question, offer, await session.commands()):
            return decision
        await session.changed(news)


def decide(question: str, offer: str | None, commands: Sequence[Command]) -> Decision | None:
    """The first answer to the question among the commands; None while there is none.

    `offer` is the rule that came with the question; an answer can take it or leave it, and no other.
    """
    answers = [command for command in commands if command.kind == "approve" and read_wish(command).id == question]
    if not answers:
        return None
    answer = read_wish(answers[0])
    allowed = answer.outcome == "allowed"
    rule = offer if allowed and answer.always else None
    decided = ApprovalDecided(question, "allowed" if allowed else "denied", rule)
    return Decision(allowed, APPROVAL_DECIDED.fact(decided), tuple(command.id for command in answers))
