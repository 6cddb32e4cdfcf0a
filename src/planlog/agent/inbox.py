"""The inputs that wait for their turn or step: commands that somebody left, and the inbox that the log remembers.

A prompt waits in the command table. When it is taken up, one append claims the command, puts the message into the
log's inbox and takes it out again, so the log tells how it came. A log that came from elsewhere may hold messages in
its inbox that nobody has answered; they are older, so they go first.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from planlog.agent.event import INBOX_SPLICED, InboxSpliced, Policy
from planlog.kernel.errors import PlanlogError
from planlog.log.event import Fact
from planlog.log.header import new_id
from planlog.log.store import Command
from planlog.log.text import clean_text
from planlog.model.message import Message, Text, UserSource

Target = Literal["next-turn", "next-step"]
_FROM_STRICT = ("deny", "ask", "auto")


class Wish(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command's payload: `id` names a message or a question, `turn` the turn that a cancel means.

    `policy` is the one under which a prompt was left; `always` accepts the rule that came with a question.
    """

    id: str = ""
    text: str = ""
    turn: int = 0
    outcome: str = ""
    policy: Policy = "auto"
    always: bool = False


class EmptyPrompt(PlanlogError):
    """A prompt says nothing."""


class Inbox(msgspec.Struct, frozen=True):
    """Messages that wait on the log."""

    next_turn: tuple[Message, ...] = ()
    next_step: tuple[Message, ...] = ()

    def spliced(self, splice: InboxSpliced) -> "Inbox":
        """The inbox after one `agent/inbox/spliced`."""
        field = "next_turn" if splice.target == "next-turn" else "next_step"
        waiting: tuple[Message, ...] = getattr(self, field)
        end = splice.start + splice.removed_count
        changed = (*waiting[: splice.start], *splice.inserted, *waiting[end:])
        return msgspec.structs.replace(self, **{field: changed})

    def holds(self, message: str) -> bool:
        """Whether a message of that id waits here."""
        return any(one.id == message for one in (*self.next_turn, *self.next_step))


class Taken(msgspec.Struct, frozen=True):
    """What is taken up: facts that come before the turn or step starts, facts that follow, the messages, the claims.

    No call may be run under a laxer policy than `policy`.
    """

    before: tuple[Fact, ...] = ()
    after: tuple[Fact, ...] = ()
    messages: tuple[Message, ...] = ()
    claims: tuple[str, ...] = ()
    policy: Policy = "auto"


def stricter(one: Policy, other: Policy) -> Policy:
    """The policy of the two that lets less be done."""
    return one if _FROM_STRICT.index(one) < _FROM_STRICT.index(other) else other


def new_command(kind: str, wish: Wish, time: int, id: str | None = None) -> Command:
    """A command with the payload that `read_wish` understands; `time` in epoch milliseconds."""
    return Command(id or new_id(), kind, msgspec.json.encode(wish), time)


def read_wish(command: Command) -> Wish:
    """What the command asks for; an empty wish, which nothing answers to, where its payload cannot be read."""
    try:
        return msgspec.json.decode(command.payload, type=Wish)
    except (msgspec.MsgspecError, RecursionError):
        return Wish()


def clean_prompt(text: str) -> str:
    """The prompt as it is kept. Raises `EmptyPrompt` where there is nothing to read in it."""
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise EmptyPrompt("the prompt is empty; say what to do")
    return cleaned


def take_prompt(inbox: Inbox, commands: Sequence[Command]) -> Taken:
    """What an idle session does next: drops what was withdrawn and takes up the message that has waited longest.

    Without anything to answer there are no messages. Commands that were meant for a turn that is over are claimed, so
    that they are gone.
    """
    inbox, before, claims = _without_withdrawn(inbox, commands)
    claims += [command.id for command in commands if command.kind in ("cancel", "approve")]
    target: Target = "next-step" if inbox.next_step else "next-turn"
    waiting = inbox.next_step or inbox.next_turn
    policy: Policy = "auto"
    if not waiting:
        claims += [command.id for command in commands if _is_input(command) and _message(command) is None]
        command = next((command for command in commands if _is_input(command) and _message(command)), None)
        message = _message(command) if command else None
        if command is None or message is None:
            return Taken(tuple(before), claims=tuple(claims))
        before.append(INBOX_SPLICED.fact(InboxSpliced("next-turn", 0, [message])))
        claims.append(command.id)
        waiting = (message,)
        policy = read_wish(command).policy
    after = (_removal(target, 1),)
    return Taken(tuple(before), after, waiting[:1], tuple(claims), policy)


def take_steers(inbox: Inbox, commands: Sequence[Command]) -> Taken:
    """What joins the running turn at its next step: everything that was left for it and not withdrawn, oldest first."""
    inbox, before, claims = _without_withdrawn(inbox, commands)
    steers = [command for command in commands if command.kind == "steer"]
    claims += [command.id for command in steers]
    fresh = [message for message in map(_message, steers) if message]
    messages = (*inbox.next_step, *fresh)
    if fresh:
        before.append(INBOX_SPLICED.fact(InboxSpliced("next-step", len(inbox.next_step), fresh)))
    after = (_removal("next-step", len(messages)),) if messages else ()
    return Taken(tuple(before), after, messages, tuple(claims))


def withdrawal(inbox: Inbox, message: str) -> Fact | None:
    """The fact that takes a message out of the log's inbox unanswered; None where it does not wait there."""
    queues: tuple[tuple[Target, tuple[Message, ...]], ...] = (
        ("next-turn", inbox.next_turn),
        ("next-step", inbox.next_step),
    )
    for target, waiting in queues:
        for index, one in enumerate(waiting):
            if one.id == message:
                return INBOX_SPLICED.fact(InboxSpliced(target, index, [], 1, "canceled"))
    return None


def _without_withdrawn(inbox: Inbox, commands: Sequence[Command]) -> tuple[Inbox, list[Fact], list[str]]:
    """The inbox without what was withdrawn, the facts that say so, and the commands that are met by it."""
    facts: list[Fact] = []
    claims = [command for command in commands if command.kind == "withdraw"]
    for command in claims:
        if fact := withdrawal(inbox, read_wish(command).id):
            facts.append(fact)
            inbox = inbox.spliced(_value(fact))
    return inbox, facts, [command.id for command in claims]


def _removal(target: Target, count: int) -> Fact:
    return INBOX_SPLICED.fact(InboxSpliced(target, 0, [], count))


def _value(fact: Fact) -> InboxSpliced:
    assert isinstance(fact.value, InboxSpliced)
    return fact.value


def _is_input(command: Command) -> bool:
    return command.kind in ("prompt", "steer")


def _message(command: Command) -> Message | None:
    wish = read_wish(command)
    text = clean_text(wish.text)
    if not text.strip():
        return None
    return Message(wish.id or command.id, "user", UserSource(), [Text(text)])
