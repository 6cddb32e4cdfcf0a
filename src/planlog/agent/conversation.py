"""What the log says that the next request depends on, folded from it, and the request that follows.

Nothing else goes into a request, so the same log always gives the same bytes, and what a provider has cached stays
valid. The request is valid whatever the log went through: an answer that says nothing is left out, each call is
followed by exactly one result, in the order of the calls, and no two calls have the same id.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from planlog.agent.event import (
    APPROVAL_POLICY,
    ASSISTANT_MESSAGE,
    INBOX_SPLICED,
    REQUEST_CONTEXT,
    REQUEST_HEADER,
    SESSION_TITLE,
    TOOL_RESULT,
    USER_MESSAGE,
    RequestContext,
)
from planlog.agent.inbox import Inbox
from planlog.agent.surface import Node, Surface
from planlog.log.event import Event, Replace
from planlog.log.projection import Projection
from planlog.model.message import Block, Image, Message, Text, ToolCall, ToolResult, ToolSource
from planlog.model.model import Request
from planlog.tools.outcome import outcome_unknown


class Conversation(msgspec.Struct, frozen=True):
    """`header` is the JSON of the last `request/header`'s header; `title` and `policy` are the last ones said."""

    surface: Surface
    header: bytes | None = None
    context: RequestContext | None = None
    policy: str | None = None
    title: str | None = None
    inbox: Inbox = Inbox()

    def call_ids(self) -> set[str]:
        """The ids of all calls that the model sees."""
        blocks = (block for node in self.surface for block in node.message.content)
        return {block.id for block in blocks if isinstance(block, ToolCall)}


class Config(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Which model is asked, and by which subagent (its description), None for the session's own agent.

    `max_tokens` and `reasoning_effort` are what the request says of them, see `Request`.
    """

    provider: str
    model: str
    agent: str | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None


class Header(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands before the messages of a request; tools are sorted by name."""

    config: Config
    system: str = ""
    tools: list[dict[str, Any]] = []


class _RawHeader(msgspec.Struct):
    header: msgspec.Raw


_headers = msgspec.json.Decoder(_RawHeader)


def _message(read: Callable[[Event], Message]) -> Callable[[Conversation, Event], Conversation]:
    def apply(state: Conversation, event: Event) -> Conversation:
        node = Node(event.seq, read(event))
        if isinstance(event.surface_op, Replace):
            return msgspec.structs.replace(state, surface=state.surface.replaced(event.surface_op, node))
        return msgspec.structs.replace(state, surface=state.surface.appended(node))

    return apply


def _said(event: Event) -> Message:
    data = USER_MESSAGE.read(event)
    return Message(data.id, data.role, data.source, data.content)


def _field(name: str, read: Callable[[Event], Any]) -> Callable[[Conversation, Event], Conversation]:
    return lambda state, event: msgspec.structs.replace(state, **{name: read(event)})


def _spliced(state: Conversation, event: Event) -> Conversation:
    return msgspec.structs.replace(state, inbox=state.inbox.spliced(INBOX_SPLICED.read(event)))


_APPLY: dict[str, Callable[[Conversation, Event], Conversation]] = {
    USER_MESSAGE.name: _message(_said),
    ASSISTANT_MESSAGE.name: _message(lambda event: ASSISTANT_MESSAGE.read(event).message),
    TOOL_RESULT.name: _message(lambda event: TOOL_RESULT.read(event).message),
    REQUEST_HEADER.name: _field("header", lambda event: bytes(_headers.decode(event.data).header)),
    REQUEST_CONTEXT.name: _field("context", REQUEST_CONTEXT.read),
    APPROVAL_POLICY.name: _field("policy", lambda event: APPROVAL_POLICY.read(event).policy),
    SESSION_TITLE.name: _field("title", lambda event: SESSION_TITLE.read(event).title),
    INBOX_SPLICED.name: _spliced,
}


def _apply(state: Conversation, event: Event) -> Conversation:
    apply = _APPLY.get(event.type)
    return apply(state, event) if apply else state


CONVERSATION: Projection[Conversation] = Projection("conversation", Conversation(Surface()), _apply, types=_APPLY)


def request_of(conversation: Conversation) -> Request:
    """The request that the log asks for. The log must hold a header."""
    if conversation.header is None:
        raise LookupError("no request/header is on the log")
    header = msgspec.json.decode(conversation.header, type=Header)
    messages = valid_messages(node.message for node in conversation.surface)
    config = header.config
    return Request(
        header.system, list(messages), header.tools, config.agent, config.max_tokens, config.reasoning_effort
    )


def says_something(content: Iterable[Block]) -> bool:
    """Whether an answer is worth keeping: text that is not blank, or a call. Reasoning alone is not."""
    return any(
        isinstance(block, ToolCall | Image) or (isinstance(block, Text) and not block.text.isspace() and block.text)
        for block in content
    )


def valid_messages(surface: Iterable[Message]) -> Iterator[Message]:
    """The messages as every provider takes them; what is given stays as it is wherever it is valid already."""
    used: set[str] = set()
    answer: Message | None = None
    results: dict[str, list[Message]] = {}
    later: list[Message] = []
    for message in surface:
        if isinstance(message.source, ToolSource):
            results.setdefault(message.source.call_id, []).append(message)
        elif message.role == "assistant":
            yield from _exchange(answer, results, used)
            yield from later
            answer, results, later = message, {}, []
        else:
            later.append(message)
    yield from _exchange(answer, results, used)
    yield from later


def _exchange(answer: Message | None, results: dict[str, list[Message]], used: set[str]) -> Iterator[Message]:
    if answer is None or not says_something(answer.content):
        return
    content: list[Block] = []
    replies: list[Message] = []
    for block in answer.content:
        if isinstance(block, Text) and not block.text.strip():
            continue
        if isinstance(block, ToolCall):
            logged = results.get(block.id)
            result = logged.pop(0) if logged else _missing(block.id)
            fresh = _unused(block.id, used)
            used.add(fresh)
            if fresh != block.id:
                block, result = msgspec.structs.replace(block, id=fresh), _renamed(result, fresh)
            replies.append(result)
        content.append(block)
    yield answer if content == answer.content else msgspec.structs.replace(answer, content=content)
    yield from replies


def _unused(id: str, used: set[str]) -> str:
    fresh, number = id or "call", 1
    while fresh in used:
        number += 1
        fresh = f"{id or 'call'}-{number}"
    return fresh


def _missing(call: str) -> Message:
    """For a call whose result was never logged or is not on the surface any more."""
    content: list[Text | Image] = [Text(outcome_unknown().text)]
    return Message(f"missing-tool-result-{call}", "user", ToolSource(call), [ToolResult(call, content, True)])


def _renamed(result: Message, call: str) -> Message:
    content: list[Block] = [
        msgspec.structs.replace(block, tool_call_id=call) if isinstance(block, ToolResult) else block
        for block in result.content
    ]
    return msgspec.structs.replace(result, source=ToolSource(call), content=content)
