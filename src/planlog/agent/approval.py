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


class Question(msgspec.Struct, frozen=True, rename="camel"):
    """A call that waits for its approval."""

    id: str
    tool_name: str
    call_id: str | None


Questions = tuple[Question, ...]


class Decision(msgspec.Struct, frozen=True):
    """What was answered, the fact that says so, and the commands that it takes up."""

    allowed: bool
    fact: Fact
    claims: tuple[str, ...]


def _apply(open_questions: Questions, event: Event) -> Questions:
    if event.type == "approval/asked":
        asked = APPROVAL_ASKED.read(event)
        return (*open_questions, Question(asked.id, asked.tool_name, asked.call_id))
    if event.type == "approval/decided":
        decided = APPROVAL_DECIDED.read(event).id
        return tuple(question for question in open_questions if question.id != decided)
    return () if open_questions else open_questions


APPROVALS: Projection[Questions] = Projection(
    "approvals", (), _apply, types=("approval/asked", "approval/decided", "turn/end")
)
"""The questions that wait for an answer; the end of a turn answers them all."""


async def ask(session: Session, ledger: Ledger, call: Call) -> Decision:
    """Writes the question and waits for a person's answer; whoever calls commits the decision with what follows."""
    question = new_id()
    await ledger.commit(APPROVAL_ASKED.fact(ApprovalAsked(question, call.name, call.id)))
    while True:
        news = session.news
        if decision := decide(question, await session.commands()):
            return decision
        await session.changed(news)


def decide(question: str, commands: Sequence[Command]) -> Decision | None:
    """The first answer to the question among the commands; None while there is none."""
    answers = [command for command in commands if command.kind == "approve" and read_wish(command).id == question]
    if not answers:
        return None
    outcome = "allowed" if read_wish(answers[0]).outcome == "allowed" else "denied"
    fact = APPROVAL_DECIDED.fact(ApprovalDecided(question, outcome))
    return Decision(outcome == "allowed", fact, tuple(command.id for command in answers))
