"""Words the facts inside a step: answers, retries, calls and their results, as the log keeps them."""

from collections.abc import Sequence
from typing import Any

from planlog.agent.answer import Answer, Call
from planlog.agent.event import (
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    LLM_RETRY,
    LLM_RETRY_STARTED,
    TOOL_CALL,
    TOOL_RESULT,
    AssistantChunk,
    AssistantMessage,
    ResultError,
    Retry,
    RetryStarted,
    ToolCallLogged,
    ToolResultLogged,
)
from planlog.agent.ledger import Placing
from planlog.agent.retry import Wait
from planlog.log.event import Fact
from planlog.log.header import new_id
from planlog.model.message import Image, Message, ModelSource, Text, ToolResult, ToolSource
from planlog.model.model import Chunk
from planlog.tools.outcome import Outcome


def chunk_fact(turn: int, step: int, chunk: Chunk) -> Fact:
    """One piece of an answer."""
    return ASSISTANT_CHUNK.fact(AssistantChunk(turn, step, chunk))


def answer_facts(
    answer: Answer,
    source: ModelSource,
    turn: int,
    step: int,
    *,
    written: Sequence[int] = (),
    rest: Sequence[Chunk] = (),
    interrupted: bool = False,
) -> list[Placing]:
    """The chunks `rest`, and the message unless there is nothing in it; it cites them and the chunks at `written`."""
    chunks: list[Placing] = [chunk_fact(turn, step, chunk) for chunk in rest]
    if answer.empty:
        return chunks
    message = Message(new_id(), "assistant", source, list(answer.content))
    data = AssistantMessage(turn, step, message, answer.usage, True if interrupted else None)

    def cite(seq: int) -> Fact:
        sources = (*written, *range(seq - len(rest), seq))
        return ASSISTANT_MESSAGE.fact(data, surface_op="append", sources=sources)

    return [*chunks, cite]


def call_fact(call: Call, turn: int, step: int) -> Fact:
    """The call is about to run."""
    return TOOL_CALL.fact(ToolCallLogged(turn, step, call.id, call.name, call.arguments))


def result_fact(
    call: str, outcome: Outcome, turn: int, step: int, *, cites: Sequence[int], id: str | None = None
) -> Fact:
    """What came of the call `call`, whose `tool/call` has the seq `cites`."""
    text: list[Text | Image] = [Text(outcome.text or "(no output)")]
    block = ToolResult(call, text, outcome.is_error)
    message = Message(id or new_id(), "user", ToolSource(call), [block])
    error = ResultError(**outcome.error) if outcome.error else None
    meta: Any = outcome.meta
    data = ToolResultLogged(turn, step, message, error, meta)
    return TOOL_RESULT.fact(data, surface_op="append", sources=cites)


def retry_facts(wait: Wait, series: str, turn: int, step: int, provider: str) -> tuple[Fact, Fact]:
    """What is written before the wait, and what after it."""
    where, delay = (series, turn, step), round(wait.delay * 1000)
    failure, most = wait.failure, wait.max_retries
    retry = Retry(*where, provider, wait.mode, failure.code, wait.retry, delay, failure, most)
    return LLM_RETRY.fact(retry), LLM_RETRY_STARTED.fact(RetryStarted(*where, wait.retry))


def refused_call(call: Call, outcome: Outcome, turn: int, step: int) -> list[Placing]:
    """A call that is answered without being run: its `tool/call`, and right after it the result."""

    def result(seq: int) -> Fact:
        return result_fact(call.id, outcome, turn, step, cites=[seq - 1])

    return [call_fact(call, turn, step), result]
