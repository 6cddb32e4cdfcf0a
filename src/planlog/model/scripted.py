"""The scripted model that ships: it says what a file says, reply by reply, as if it were streamed from afar.

A script is a JSON Lines file with one reply a line; blank lines do not count:

    {"text": "On it.", "tool_calls": [{"name": "todo_write", "arguments": {"todos": []}}]}
    {"text": "Done."}

`text`, `reasoning`  what the reply says and thinks.
`tool_calls`         calls, each with `name`, `arguments` (an object, or a string that is sent as it stands) and `id`?.
`finish`             "stop" (default), "length" (cut off by the length limit) or "error" (see below).
`error`              {"status"?, "message", "retry_after"? in seconds}: the failure after what the reply streams; status
                     408, 429 and 5xx may be retried.
`usage`              token counts as on the log: {"inputTokens", "outputTokens", …}.
`delay_ms`           how long the reply takes, spread evenly before its deltas.
`cut_after`          the stream breaks after so many characters of reasoning, text and arguments.
`agent`              the reply is for the subagent of that description, and invisible to others.

Replies are taken in order, across turns, from the top of the file; a request that is made again after a failure gets
the next reply.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from planlog.kernel.errors import ConfigError
from planlog.log.text import mend_escapes
from planlog.model.message import Reasoning, Text, ToolCall, Usage
from planlog.model.model import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ModelError,
    ReasoningDelta,
    Request,
    TextDelta,
    ToolCallDelta,
    UsageChunk,
)

PIECE = 12
"""Characters in one delta."""


Natural = Annotated[int, msgspec.Meta(ge=0)]


class ScriptedCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call of a reply."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None


class ScriptedError(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a reply fails."""

    message: str = "the scripted model failed"
    status: int | None = None
    retry_after: float | None = None


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a script; see the module's first paragraph."""

    text: str = ""
    reasoning: str = ""
    tool_calls: list[ScriptedCall] = []
    finish: Literal["stop", "length", "error"] = "stop"
    error: ScriptedError | None = None
    usage: Usage | None = None
    delay_ms: Natural = 0
    cut_after: Natural | None = None
    agent: str | None = None


class ScriptedModel:
    """Gives `replies` in order, to each agent its own. One instance serves one session."""

    provider = "script"
    context_window: int | None = None
    max_tokens: int | None = None
    effort: str | None = None

    def __init__(self, replies: list[Reply], name: str) -> None:
        self.name = name
        self._replies: dict[str | None, list[Reply]] = {}
        for reply in replies:
            self._replies.setdefault(reply.agent, []).append(reply)
        self._used: dict[str | None, int] = {}

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncGenerator[Chunk]]:
        """The next reply for the agent that asks. Raises `ModelError` when there is none."""
        number = self._used.get(request.agent, 0)
        replies = self._replies.get(request.agent, [])
        if number >= len(replies):
            whose = f' for the agent "{request.agent}"' if request.agent else ""
            text = f"the script {self.name} has no reply{whose} left, all {len(replies)} were used; add one to it"
            raise ModelError(text, code="SCRIPT_EXHAUSTED")
        self._used[request.agent] = number + 1
        chunks = _paced(replies[number], number)
        try:
            yield chunks
        finally:
            await chunks.aclose()


def open_script(path: Path) -> ScriptedModel:
    """A model that speaks the script at `path` from its top. Raises `ConfigError` that names the file and the line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    replies = [_reply(line, f"{path}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]
    if not replies:
        raise ConfigError(f'{path}: is empty; a script has one reply a line, as in {{"text": "Done."}}')
    return ScriptedModel(replies, path.name)


def _reply(line: bytes, where: str) -> Reply:
    try:
        return msgspec.json.decode(mend_escapes(line), type=Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{where}: is not a reply, which is one JSON object on one line: {error}") from error


async def _paced(reply: Reply, number: int) -> AsyncGenerator[Chunk]:
    import anyio

    chunks = list(_until_cut(reply, number))
    deltas = sum(_length(chunk) > 0 for chunk in chunks)
    pause = reply.delay_ms / 1000 / max(1, deltas)
    if not deltas:
        await anyio.sleep(pause)
    for chunk in chunks:
        if _length(chunk):
            await anyio.sleep(pause)
        yield chunk
    if reply.cut_after is not None:
        raise ModelError("the scripted stream was cut", code="STREAM_CUT", retryable=True)
    if reply.finish == "error" or reply.error is not None:
        error = reply.error or ScriptedError()
        status = error.status
        retryable = status is not None and (status in (408, 429) or status >= 500)
        raise ModelError(error.message, status=status, retryable=retryable, retry_after=error.retry_after)
    if reply.usage is not None:
        yield UsageChunk(reply.usage)
    kind = "max-tokens" if reply.finish == "length" else "tool-calls" if reply.tool_calls else "stop"
    yield Finish(FinishReason(kind))


def _until_cut(reply: Reply, number: int) -> Iterator[Chunk]:
    left = reply.cut_after
    for chunk in _chunks(reply, number):
        if left is not None:
            if left <= 0:
                return
            chunk, left = _shortened(chunk, left), left - _length(chunk)
        yield chunk


def _chunks(reply: Reply, number: int) -> Iterator[Chunk]:
    index = 0
    if reply.reasoning:
        yield BlockStart(index, "reasoning")
        yield from (ReasoningDelta(index, piece) for piece in _pieces(reply.reasoning))
        yield BlockEnd(index, Reasoning(reply.reasoning))
        index += 1
    if reply.text:
        yield BlockStart(index, "text")
        yield from (TextDelta(index, piece) for piece in _pieces(reply.text))
        yield BlockEnd(index, Text(reply.text))
        index += 1
    for place, call in enumerate(reply.tool_calls):
        id = f"call-{number + 1}-{place + 1}" if call.id is None else call.id
        raw = call.arguments
        arguments = raw if isinstance(raw, str) else msgspec.json.encode(raw).decode()
        yield BlockStart(index, "tool-call")
        yield ToolCallDelta(index, id, call.name)
        yield from (ToolCallDelta(index, id, None, piece) for piece in _pieces(arguments))
        yield BlockEnd(index, ToolCall(id, call.name, arguments))
        index += 1


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _length(chunk: Chunk) -> int:
    if isinstance(chunk, TextDelta | ReasoningDelta):
        return len(chunk.text)
    return len(chunk.arguments_delta) if isinstance(chunk, ToolCallDelta) else 0


def _shortened(chunk: Chunk, length: int) -> Chunk:
    if isinstance(chunk, TextDelta | ReasoningDelta):
        return type(chunk)(chunk.index, chunk.text[:length])
    if isinstance(chunk, ToolCallDelta):
        return ToolCallDelta(chunk.index, chunk.id, chunk.name, chunk.arguments_delta[:length])
    return chunk
