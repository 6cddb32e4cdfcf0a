"""Collects the chunks of one answer into content blocks, and the chunks themselves into fewer and larger ones."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from planlog.agent.conversation import says_something
from planlog.log.text import clean_text, mend_escapes
from planlog.model.message import Block, Reasoning, Text, ToolCall, Usage
from planlog.model.model import (
    BlockEnd,
    BlockStart,
    Chunk,
    FinishKind,
    ModelError,
    ReasoningDelta,
    Replay,
    TextDelta,
    ToolCallDelta,
    UsageChunk,
)

BLOCK_SIZE = 256
"""What a block counts for beside its text: a million empty calls are no small answer."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


class Call(msgspec.Struct, frozen=True):
    """A call as the model made it: `arguments` is its raw text, JSON or not."""

    id: str
    name: str
    arguments: str


class Answer(msgspec.Struct, frozen=True):
    """What a request came to. `failure` is why it ended early; `finish` is None then.

    `replay_state` is what the provider wants back with it, see `Replay`.
    """

    content: tuple[Block, ...] = ()
    calls: tuple[Call, ...] = ()
    finish: FinishKind | None = None
    usage: Usage | None = None
    failure: ModelError | None = None
    replay_state: Any = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it that may be kept as a message."""
        return not says_something(self.content)


class _Open:
    """A block that is still growing."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.parts: list[str] = []
        self.id = ""
        self.name = ""
        self.whole: Block | None = None


class Collector:
    """Takes chunks as they come; `chars` counts text and reasoning so far, `size` is about what all of it takes.

    Each call gets an id that no other call of the conversation has: its own, or one of `fresh` where that is empty or
    in `used`. Text is cleaned here, where it enters.
    """

    def __init__(self, used: set[str], fresh: Callable[[], str]) -> None:
        self.chars = 0
        self.size = 0
        self.finish: FinishKind | None = None
        self.usage: Usage | None = None
        self.replay_state: Any = None
        self._used = used
        self._fresh = fresh
        self._blocks: dict[int, _Open] = {}

    def keep(self, replay: Replay) -> None:
        """What the provider wants back."""
        self.replay_state = replay.state

    def take(self, chunk: Chunk) -> Chunk:
        """The chunk as it is kept and shown."""
        if isinstance(chunk, TextDelta | ReasoningDelta):
            return self._text(chunk)
        if isinstance(chunk, ToolCallDelta):
            return self._call(chunk)
        if isinstance(chunk, BlockStart):
            self._opened(chunk.index, chunk.block_type)
        elif isinstance(chunk, BlockEnd):
            return self._end(chunk)
        elif isinstance(chunk, UsageChunk):
            self.usage = chunk.usage
        else:
            self.finish = chunk.reason.kind
        return chunk

    def answer(self, failure: ModelError | None = None) -> Answer:
        """What has been collected."""
        content: list[Block] = []
        calls: list[Call] = []
        for index in sorted(self._blocks):
            block = self._block(self._blocks[index])
            if isinstance(block, ToolCall):
                calls.append(Call(block.id, block.name, block.arguments))
                block = ToolCall(block.id, sendable_name(block.name), json_object(block.arguments))
            if block is not None:
                content.append(block)
        return Answer(
            tuple(content), tuple(calls), None if failure else self.finish, self.usage, failure, self.replay_state
        )

    def _text(self, chunk: TextDelta | ReasoningDelta) -> Chunk:
        text = chunk.text
        cleaned = clean_text(text)
        if cleaned is not text:
            chunk = type(chunk)(chunk.index, cleaned)
        block = self._opened(chunk.index, "text" if isinstance(chunk, TextDelta) else "reasoning")
        block.parts.append(cleaned)
        self.chars += len(cleaned)
        self.size += len(cleaned)
        return chunk

    def _call(self, chunk: ToolCallDelta) -> Chunk:
        block = self._opened(chunk.index, "tool-call")
        if not block.id:
            block.id = self._unused(chunk.id)
            self.size += len(block.id)
        arguments = clean_text(chunk.arguments_delta)
        name = None if chunk.name is None else clean_text(chunk.name)
        block.name = block.name or name or ""
        block.parts.append(arguments)
        self.size += len(arguments) + len(name or "")
        return ToolCallDelta(chunk.index, block.id, name, arguments)

    def _end(self, chunk: BlockEnd) -> Chunk:
        block = self._opened(chunk.index, "")
        whole = chunk.block
        if isinstance(whole, ToolCall):
            block.id = block.id or self._unused(whole.id)
            whole = ToolCall(block.id, clean_text(whole.name), clean_text(whole.arguments))
        elif isinstance(whole, Text):
            whole = Text(clean_text(whole.text))
        elif isinstance(whole, Reasoning):
            whole = Reasoning(clean_text(whole.text))
        block.whole = whole
        return chunk if whole == chunk.block else BlockEnd(chunk.index, whole)

    def _opened(self, index: int, kind: str) -> _Open:
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Open(kind)
            self.size += BLOCK_SIZE
        return block

    def _unused(self, id: str) -> str:
        id = clean_text(id)
        while not id or id in self._used:
            id = self._fresh()
        self._used.add(id)
        return id

    @staticmethod
    def _block(block: _Open) -> Block | None:
        text = "".join(block.parts)
        whole = block.whole
        if whole is None:
            if block.kind == "tool-call":
                # A call that was cut off before its name says nothing at all.
                return ToolCall(block.id, block.name, text) if block.name else None
            whole = Text(text) if block.kind == "text" else Reasoning(text)
        return None if whole in (Text(""), Reasoning("")) else whole


def sendable_name(name: str) -> str:
    """A tool's name that any provider takes back, also where the model made one up."""
    return _NOT_IN_NAMES.sub("_", name.strip())[:64] or "unknown"


def json_object(raw: str) -> str:
    """Argument text that any provider takes back, and that means what `check_arguments` understands by `raw`.

    That is `raw` where it is a JSON object, the object where it is a string that holds one, else `{}`.
    """
    text, value = _read(raw)
    if isinstance(value, str):
        text, value = _read(value)
    if not isinstance(value, dict):
        return "{}"
    return msgspec.json.encode(_without_nul(value)).decode() if "\\u0000" in text else text


def _read(raw: str) -> tuple[str, Any]:
    """The text with its escapes mended, and what it says; None where that is no JSON."""
    mended = mend_escapes(raw.encode())
    try:
        return mended.decode(), msgspec.json.decode(mended)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return "", None


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {clean_text(key): _without_nul(child) for key, child in value.items()}
    return [_without_nul(child) for child in value] if isinstance(value, list) else value


class Buffer:
    """Chunks that wait to be written; neighbouring deltas of one block become one. `size` is about their bytes."""

    def __init__(self) -> None:
        self.size = 0
        self._chunks: list[Chunk] = []
        self._run: TextDelta | ReasoningDelta | ToolCallDelta | None = None
        self._parts: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._chunks) or self._run is not None

    def add(self, chunk: Chunk) -> None:
        """Puts `chunk` behind the others."""
        if isinstance(chunk, TextDelta | ReasoningDelta | ToolCallDelta):
            text = chunk.arguments_delta if isinstance(chunk, ToolCallDelta) else chunk.text
            if self._run is None or type(self._run) is not type(chunk) or self._run.index != chunk.index:
                self._seal()
                self._run = chunk
            self._parts.append(text)
            self.size += len(text) if text.isascii() else len(text.encode())
        else:
            self._seal()
            self._chunks.append(chunk)
            self.size += 1

    def drain(self) -> list[Chunk]:
        """All of them, in order; none are left."""
        self._seal()
        chunks, self._chunks, self.size = self._chunks, [], 0
        return chunks

    def _seal(self) -> None:
        run, text = self._run, "".join(self._parts)
        if isinstance(run, ToolCallDelta):
            self._chunks.append(ToolCallDelta(run.index, run.id, run.name, text))
        elif run is not None:
            self._chunks.append(type(run)(run.index, text))
        self._run = None
        self._parts.clear()
