"""The events of a conversation: turns, steps, messages, calls, inbox, approvals; field by field as in dsh v0."""

from collections.abc import AsyncGenerator
from typing import Any, Literal

import msgspec

from planlog.agent.nesting import NESTING
from planlog.log.vocabulary import EventType, Vocabulary
from planlog.model.message import Block as ContentBlock
from planlog.model.message import Message, Source, Usage
from planlog.model.model import Chunk

FEATURE = "agent"


class TurnStart(msgspec.Struct, frozen=True, gc=False):
    """Turn `turn` begins; turns count from 1."""

    turn: int


class Completed(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="completed"):
    """Nothing is owed any more."""


AbortKind = Literal["user", "parent", "hook", "disposed"]


class AbortReason(msgspec.Struct, frozen=True, gc=False):
    """Who stopped the turn: a person, the agent that started this one, a hook, or the program that is ending."""

    kind: AbortKind


class Aborted(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="aborted"):
    """Somebody stopped the turn."""

    reason: AbortReason


class Blocked(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="blocked"):
    """A hook refused the prompt."""


class Failure(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What went wrong, in one line; `code` is the provider's, or ours (STEP_LIMIT, REFUSAL, …)."""

    message: str
    code: str
    status: int | None = None
    request_id: str | None = None


class Failed(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="error"):
    """The turn could not go on."""

    error: Failure


class MaxTokens(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="max-tokens"):
    """The model's answer was cut off by its length limit."""


class Interrupted(msgspec.Struct, frozen=True, gc=False, tag_field="kind", tag="interrupted"):
    """The process died in mid-turn; a repair wrote this."""


EndReason = Completed | Aborted | Blocked | Failed | MaxTokens | Interrupted


class TurnEnd(msgspec.Struct, frozen=True, gc=False):
    """Turn `turn` is over."""

    turn: int
    reason: EndReason


class StepMark(msgspec.Struct, frozen=True, gc=False):
    """Step `step` of turn `turn` begins or ends; steps count from 1 in each turn."""

    turn: int
    step: int


class UserMessage(msgspec.Struct, frozen=True, gc=False):
    """A message that was not said by the model: the message itself is the data."""

    id: str
    role: Literal["user"]
    source: Source
    content: list[ContentBlock]


class AssistantChunk(msgspec.Struct, frozen=True, gc=False):
    """A piece of an answer, written while it streamed."""

    turn: int
    step: int
    chunk: Chunk


class AssistantMessage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """An answer. `interrupted` says that it was cut, by a cancel or by the death of its process."""

    turn: int
    step: int
    message: Message
    usage: Usage | None = None
    interrupted: Literal[True] | None = None


class ToolCallLogged(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A call is about to run. `arguments` is the raw text that the model wrote, JSON or not."""

    turn: int
    step: int
    call_id: str
    name: str
    arguments: str


class ResultError(msgspec.Struct, frozen=True, gc=False):
    """The registry's word for what went wrong, beside the text that the model reads."""

    name: str
    code: str


class ToolResultLogged(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """What came of a call."""

    turn: int
    step: int
    message: Message
    error: ResultError | None = None
    meta: Any = None


class RequestHeader(msgspec.Struct, frozen=True, gc=False):
    """What stands before the messages of a request: written before a request, only when it differs from the last."""

    header: Any
    reason: Literal["initial", "resume", "change"]


class RequestContext(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Which model answers from here on; written only when it differs."""

    provider: str
    model: str
    context_window: int | None = None


class InboxSpliced(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The inbox `target` lost `removed_count` messages at `start` and got `inserted` there."""

    target: Literal["next-turn", "next-step"]
    start: int
    inserted: list[Message]
    removed_count: int = 0
    outcome: Literal["canceled"] | None = None


class SessionTitle(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """What the session is called from here on, made from the messages `message_seqs`."""

    title: str
    message_seqs: list[int]
    source: Any


class ApprovalAsked(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Somebody has to say whether a call may run.

    Ours are `preview`, a text that says all that the call does, and `rule`, what may be allowed together with it for
    the rest of the session.
    """

    id: str
    tool_name: str
    call_id: str | None = None
    reason: str | None = None
    preview: str | None = None
    rule: str | None = None


class ApprovalDecided(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The answer to the question `id`. `rule` is ours: the calls that need no more questions in this session."""

    id: str
    outcome: str
    rule: str | None = None


Policy = Literal["ask", "auto", "deny"]
"""Who says whether a call that needs approval may run: a person, always yes, always no."""


class ApprovalPolicy(msgspec.Struct, frozen=True, gc=False):
    """Who answers from here on: `ask` a person, `auto` (yes to all), `deny` (no to all)."""

    policy: str


class Retry(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """A request failed and will be made again after `delay_ms`; what it had streamed in this step is void.

    `retry` counts from 1 within the series `retry_id`; `mode` says what the delay follows, `policy_key` the limit.
    """

    retry_id: str
    turn: int
    step: int
    provider: str
    mode: str
    policy_key: str
    retry: int
    delay_ms: int
    failure: Failure
    max_retries: int | None = None


class RetryStarted(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """The wait is over: the request is made again."""

    retry_id: str
    turn: int
    step: int
    retry: int


TURN_START = EventType("turn/start", TurnStart, feature=FEATURE)
TURN_END = EventType("turn/end", TurnEnd, feature=FEATURE)
STEP_START = EventType("step/start", StepMark, feature=FEATURE)
STEP_END = EventType("step/end", StepMark, feature=FEATURE)
USER_MESSAGE = EventType("user/message", UserMessage, feature=FEATURE)
ASSISTANT_CHUNK = EventType("assistant/chunk", AssistantChunk, feature=FEATURE, in_turn=True)
ASSISTANT_MESSAGE = EventType("assistant/message", AssistantMessage, feature=FEATURE, in_turn=True)
TOOL_CALL = EventType("tool/call", ToolCallLogged, feature=FEATURE, in_turn=True)
TOOL_RESULT = EventType("tool/result", ToolResultLogged, feature=FEATURE, in_turn=True)
REQUEST_HEADER = EventType("request/header", RequestHeader, feature=FEATURE, in_turn=True)
REQUEST_CONTEXT = EventType("request/context", RequestContext, feature=FEATURE, in_turn=True)
INBOX_SPLICED = EventType("agent/inbox/spliced", InboxSpliced, feature=FEATURE)
SESSION_TITLE = EventType("session/title", SessionTitle, feature=FEATURE)
APPROVAL_ASKED = EventType("approval/asked", ApprovalAsked, feature=FEATURE)
APPROVAL_DECIDED = EventType("approval/decided", ApprovalDecided, feature=FEATURE)
APPROVAL_POLICY = EventType("approval/policy", ApprovalPolicy, feature=FEATURE)
LLM_RETRY = EventType("llm/retry", Retry, feature=FEATURE, in_turn=True)
LLM_RETRY_STARTED = EventType("llm/retry-started", RetryStarted, feature=FEATURE, in_turn=True)

TYPES: tuple[EventType[Any], ...] = (
    TURN_START,
    TURN_END,
    STEP_START,
    STEP_END,
    USER_MESSAGE,
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    TOOL_CALL,
    TOOL_RESULT,
    REQUEST_HEADER,
    REQUEST_CONTEXT,
    INBOX_SPLICED,
    SESSION_TITLE,
    APPROVAL_ASKED,
    APPROVAL_DECIDED,
    APPROVAL_POLICY,
    LLM_RETRY,
    LLM_RETRY_STARTED,
)


async def plugin(words: Vocabulary) -> AsyncGenerator[None]:
    """Teaches the conversation's events and the rule of their order."""
    with words.learn(*TYPES, rules=(NESTING,)):
        yield
