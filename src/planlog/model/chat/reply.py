"""Reads a reply as it arrives: pieces of text, thinking and calls become chunks.

A call stays open until its arguments are whole or the reply is: a server may send pieces of two calls in turns. What
an index says is not to be relied on either: Ollama and Gemini send several whole calls with the index 0, or with none.
"""

from typing import Literal

import msgspec

from planlog.model.chat.blocks import GrowingCall, GrowingText, argument_text
from planlog.model.chat.details import Detail, merged, words
from planlog.model.chat.kept import Kept, ReasoningName, is_keepable
from planlog.model.chat.wire import CallPiece, Choice, ContentPart, Delta, read_part, usage_of
from planlog.model.message import Reasoning, Text, ToolCall, Usage
from planlog.model.model import (
    BlockEnd,
    BlockStart,
    Chunk,
    Finish,
    FinishReason,
    ModelError,
    ReasoningDelta,
    Replay,
    TextDelta,
    ToolCallDelta,
    UsageChunk,
    stream_cut,
)
from planlog.model.refusals import failed_in_stream

DONE = "[DONE]"
_FAILED = {"error": 500, "abort": 500, "insufficient_system_resource": 503}
"""Finish reasons of a provider that could not go on, with the status that says as much: the first is OpenRouter's and
Mistral's, then SGLang's and DeepSeek's."""

Chunks = list[Chunk | Replay]


class ChatReply:
    """One reply. It is whole when a finish reason or `[DONE]` has come; either may be missing."""

    def __init__(self) -> None:
        self._blocks = 0
        self._said: GrowingText | None = None
        self._calls: list[GrowingCall] = []
        self._by_index: dict[int, GrowingCall] = {}
        self._usage: Usage | None = None
        self._finish = ""
        self._ended = False
        self._reasoning: ReasoningName | None = None
        self._details: list[Detail] = []
        self._changed = False

    def take(self, data: str) -> Chunks:
        """See `Decoder`. What comes after the finish reason counts too: the usage does, and Gemini's last words."""
        if self._ended or not data or data.isspace():
            return []
        out: Chunks = []
        if data.strip() == DONE:
            self._end(out)
            return out
        part = read_part(data)
        if part.usage:
            self._usage = usage_of(part.usage) or self._usage
        for choice in part.choices or ():
            if not choice.index:
                self._take_choice(choice, out)
        return out

    @property
    def is_whole(self) -> bool:
        """See `Decoder`."""
        return bool(self._finish)

    def end(self) -> Chunks:
        """See `Decoder`."""
        out: Chunks = []
        if not self._ended:
            if not self._finish:
                raise stream_cut()
            self._end(out)
        return out

    def _take_choice(self, choice: Choice, out: Chunks) -> None:
        if choice.usage:
            self._usage = usage_of(choice.usage) or self._usage
        if choice.delta:
            self._take_delta(choice.delta, False, out)
        if choice.message:
            self._take_delta(choice.message, True, out)
            self._finish = self._finish or "stop"
        if choice.finish_reason:
            self._take_finish(choice.finish_reason)

    def _take_finish(self, reason: str) -> None:
        if reason == "content_filter":
            text = "the provider's content filter stopped the answer; ask in other words, or another model with -m"
            raise ModelError(text, code="REFUSAL")
        if reason in _FAILED:
            raise failed_in_stream({"code": _FAILED[reason], "message": f"it ended the answer with {reason}"})
        if self._finish != "length":
            self._finish = reason

    def _take_delta(self, delta: Delta, whole: bool, out: Chunks) -> None:
        if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
            self._take_reasoning(delta, out)
        content = delta.content
        if content:
            if isinstance(content, str):
                self._say("text", content, out)
            else:
                self._take_parts(content, out)
        if delta.refusal:
            self._say("text", delta.refusal, out)
        if delta.tool_calls:
            for place, piece in enumerate(delta.tool_calls):
                self._take_piece(piece, whole or (piece.index is None and place > 0), out)
        self._keep(out)

    def _take_reasoning(self, delta: Delta, out: Chunks) -> None:
        # The same words may come under two names at once, and in the details a third time.
        text = delta.reasoning_content or delta.reasoning
        if text:
            self._came_as("reasoning_content" if delta.reasoning_content else "reasoning")
        details = delta.reasoning_details
        if details:
            self._details += details
            self._changed = True
            text = text or "".join(map(words, details))
        self._say("reasoning", text or "", out)

    def _came_as(self, name: ReasoningName) -> None:
        if self._reasoning is None:
            self._reasoning = name
            self._changed = True

    def _take_parts(self, parts: list[ContentPart], out: Chunks) -> None:
        for part in parts:
            if part.thinking:
                self._came_as("content")
                inner = part.thinking
                text = inner if isinstance(inner, str) else "".join(one.text or "" for one in inner)
                self._say("reasoning", text, out)
            self._say("text", part.text or "", out)

    def _say(self, kind: Literal["text", "reasoning"], text: str, out: Chunks) -> None:
        if not text:
            return
        said = self._said
        if said is None or said.kind != kind:
            self._close(out)
            said = self._said = GrowingText(kind, self._new_block())
            out.append(BlockStart(said.index, kind))
        said.parts.append(text)
        out.append(TextDelta(said.index, text) if kind == "text" else ReasoningDelta(said.index, text))

    def _take_piece(self, piece: CallPiece, new: bool, out: Chunks) -> None:
        function = piece.function
        name = (function.name if function else None) or ""
        arguments = argument_text(function.arguments if function else None)
        id = piece.id or ""
        call = self._called(piece.index)
        if call is None or new or call.is_left_by(id, name, arguments):
            call = GrowingCall()
            self._calls.append(call)
        if piece.index is not None:
            self._by_index[piece.index] = call
        call.id = call.id or id
        if piece.extra_content:
            call.extra = piece.extra_content
            self._changed = True
        if call.closed:
            return
        if arguments:
            call.parts.append(arguments)
        if call.block is not None:
            if arguments:
                out.append(ToolCallDelta(call.block, call.id, None, arguments))
        elif name:
            self._close(out)
            call.name, call.block = name, self._new_block()
            self._changed |= call.extra is not None
            out.append(BlockStart(call.block, "tool-call"))
            out.append(ToolCallDelta(call.block, call.id, name, "".join(call.parts)))

    def _called(self, index: int | None) -> GrowingCall | None:
        if index is None:
            return self._calls[-1] if self._calls else None
        return self._by_index.get(index)

    def _new_block(self) -> int:
        self._blocks += 1
        return self._blocks - 1

    def _close(self, out: Chunks, last: bool = False) -> None:
        """Ends the blocks that nothing can be added to; all of them if nothing more comes."""
        said, self._said = self._said, None
        if said is not None:
            text = "".join(said.parts)
            out.append(BlockEnd(said.index, Text(text) if said.kind == "text" else Reasoning(text)))
        for call in self._calls:
            if call.block is not None and not call.closed and (last or call.is_whole()):
                call.closed = True
                out.append(BlockEnd(call.block, ToolCall(call.id, call.name, "".join(call.parts))))

    def _keep(self, out: Chunks) -> None:
        """Says what the provider wants back, as soon as it is known: an answer may be cancelled before its end."""
        if not self._changed or (self._said is not None and self._said.kind == "reasoning"):
            return  # while the model thinks, the details grow
        self._changed = False
        called = [call.extra for call in self._calls if call.block is not None]
        extras = [extra if is_keepable(extra) else None for extra in called]
        details = merged(self._details)
        kept = Kept(self._reasoning, details if is_keepable(details) else [], extras if any(extras) else [])
        out.append(Replay(msgspec.to_builtins(kept)))

    def _end(self, out: Chunks) -> None:
        self._ended = True
        self._close(out, last=True)
        self._keep(out)
        if self._usage is not None:
            out.append(UsageChunk(self._usage))
        called = any(call.block is not None for call in self._calls)
        kind = "max-tokens" if self._finish == "length" else "tool-calls" if called else "stop"
        out.append(Finish(FinishReason(kind)))
