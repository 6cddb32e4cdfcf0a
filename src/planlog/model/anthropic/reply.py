"""Reads a reply as it arrives: blocks begin, grow and end, and become chunks."""

from collections.abc import Callable, Mapping
from typing import Literal

from msgspec import json, to_builtins

from planlog.model.anthropic.kept import Kept, Redacted, Thinking, Thought
from planlog.model.anthropic.wire import WireBlock, WireDelta, WireEvent, WireUsage, read_event
from planlog.model.error_body import one_line_of
from planlog.model.message import Block, Reasoning, Text, ToolCall
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
from planlog.model.refusals import failed_in_stream, malformed, overflowed

Chunks = list[Chunk | Replay]

_BLOCKS: Mapping[str, Literal["text", "reasoning", "tool-call"]] = {
    "text": "text",
    "thinking": "reasoning",
    "tool_use": "tool-call",
}


class _Open:
    """A block that is still growing; `place` is its index among ours."""

    def __init__(self, place: int, begun: WireBlock) -> None:
        self.place = place
        self.begun = begun
        self.parts: list[str] = []
        self.signature = begun.signature or ""


class MessagesReply:
    """One reply. It is whole when the reason of its end has come. A block without its end ends with the reply, or where
    another begins in its place.

    Reasons are those of platform.claude.com/docs/en/build-with-claude/handling-stop-reasons. An answer that filled the
    window fails, for nothing can follow it; `pause_turn` comes only where the provider runs tools of its own.
    """

    def __init__(self, bound_to: str) -> None:
        """`bound_to` is the digest of the request."""
        self._bound_to = bound_to
        self._open: dict[int, _Open] = {}
        self._places = 0
        self._said = 0
        self._thoughts: list[Thought] = []
        self._usage = WireUsage()
        self._calls = False
        self._stop = ""
        self._ended = False

    def take(self, data: str) -> Chunks:
        """See `Decoder`."""
        # Some servers that also speak as OpenAI does end every stream as OpenAI would.
        event = None if self._ended or data.strip() in ("", "[DONE]") else read_event(data)
        out: Chunks = []
        if event is not None and (handle := _HANDLE.get(event.type)):
            handle(self, event, out)
        return out

    @property
    def is_whole(self) -> bool:
        """See `Decoder`."""
        return bool(self._stop)

    def end(self) -> Chunks:
        """See `Decoder`."""
        out: Chunks = []
        if not self._ended:
            if not self._stop:
                raise stream_cut()
            self._end(out)
        return out

    def _on_message(self, event: WireEvent, out: Chunks) -> None:
        if event.message:
            self._usage = self._usage.then(event.message.usage)

    def _on_whole_message(self, event: WireEvent, out: Chunks) -> None:
        for index, block in enumerate(event.content or ()):
            self._on_block(WireEvent(event.type, index, content_block=block), out)
            self._close(index, out)
        delta = WireDelta(stop_reason=event.stop_reason, stop_details=event.stop_details)
        self._on_message_delta(WireEvent(event.type, delta=delta, usage=event.usage), out)
        self._on_message_end(event, out)

    def _on_block(self, event: WireEvent, out: Chunks) -> None:
        begun = event.content_block
        if begun is None:
            raise malformed("a block that begins with nothing")
        self._close(event.index, out)
        if begun.type == "redacted_thinking" and begun.data:
            self._keep(Redacted(begun.data), out)
        kind = _BLOCKS.get(begun.type)
        if kind is None:  # of a tool of the provider's own, or of a time to come
            return
        block = self._open[event.index] = _Open(self._places, begun)
        self._places += 1
        out.append(BlockStart(block.place, kind))
        if begun.type == "tool_use":
            self._calls = True
            self._said += 1
            out.append(ToolCallDelta(block.place, begun.id or "", begun.name or ""))
        else:
            self._grow(block, begun.text or begun.thinking or "", out)

    def _on_delta(self, event: WireEvent, out: Chunks) -> None:
        block, delta = self._open.get(event.index), event.delta
        if block is None or delta is None:
            return
        if delta.type == "signature_delta":
            block.signature += delta.signature or ""
        self._grow(block, _more(block.begun.type, delta), out)

    def _grow(self, block: _Open, text: str, out: Chunks) -> None:
        if not text:
            return
        block.parts.append(text)
        if block.begun.type == "text":
            out.append(TextDelta(block.place, text))
        elif block.begun.type == "thinking":
            out.append(ReasoningDelta(block.place, text))
        else:
            out.append(ToolCallDelta(block.place, block.begun.id or "", None, text))

    def _on_block_end(self, event: WireEvent, out: Chunks) -> None:
        self._close(event.index, out)

    def _close(self, index: int, out: Chunks) -> None:
        block = self._open.pop(index, None)
        if block is None:
            return
        begun = block.begun
        if begun.type == "tool_use" and not block.parts and (whole_input := _object(bytes(begun.input))):
            self._grow(block, whole_input, out)
        text = "".join(block.parts)
        whole: Block
        if begun.type == "text":
            whole = Text(text)
            self._said += bool(text.strip())
        elif begun.type == "thinking":
            whole = Reasoning(text)
            # A NUL would be refused, and without it the signature does not hold.
            if block.signature and "\0" not in text:
                self._keep(Thinking(text, block.signature), out)
        else:
            whole = ToolCall(begun.id or "", begun.name or "", text)
        out.append(BlockEnd(block.place, whole))

    def _keep(self, block: Thinking | Redacted, out: Chunks) -> None:
        self._thoughts.append(Thought(self._said, block))
        out.append(Replay(to_builtins(Kept(self._bound_to, self._thoughts))))

    def _on_message_delta(self, event: WireEvent, out: Chunks) -> None:
        self._usage = self._usage.then(event.usage)
        delta = event.delta
        stop = delta.stop_reason if delta else None
        if delta and stop == "refusal":
            raise _refusal(delta)
        if stop == "model_context_window_exceeded":
            raise overflowed()
        self._stop = stop or self._stop

    def _on_message_end(self, event: WireEvent, out: Chunks) -> None:
        if not self._stop:
            raise malformed("an end of the answer without its reason")
        self._end(out)

    def _on_error(self, event: WireEvent, out: Chunks) -> None:
        raise failed_in_stream(event.error)

    def _end(self, out: Chunks) -> None:
        self._ended = True
        for index in list(self._open):
            self._close(index, out)
        if usage := self._usage.counted():
            out.append(UsageChunk(usage))
        kind = "max-tokens" if self._stop == "max_tokens" else "tool-calls" if self._calls else "stop"
        out.append(Finish(FinishReason(kind)))


def _refusal(delta: WireDelta) -> ModelError:
    """A conversation that keeps what was refused goes on being refused, whatever is said then
    (platform.claude.com/docs/en/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals)."""
    text = "the model refuses to answer this; ask another model with -m, or begin a new session"
    details = delta.stop_details
    why = details.get("explanation") if isinstance(details, dict) else None
    return ModelError(f"{text} ({one_line_of(why)})" if isinstance(why, str) and why else text, code="REFUSAL")


def _object(raw: bytes) -> str:
    """A call's input where it came at the beginning, perhaps as a string that holds it; "" where it is yet to come."""
    text = raw.decode().strip()
    if text.startswith('"'):
        text = str(json.decode(text))
    return text if text.startswith("{") and text != "{}" else ""


def _more(kind: str, delta: WireDelta) -> str:
    """What the delta adds to a block of that kind; those of a time to come add nothing."""
    match kind, delta.type:
        case "text", "text_delta":
            return delta.text or ""
        case "thinking", "thinking_delta":
            return delta.thinking or ""
        case "tool_use", "input_json_delta":
            return delta.partial_json or ""
    return ""


_HANDLE: Mapping[str, Callable[[MessagesReply, WireEvent, Chunks], None]] = {
    "message": MessagesReply._on_whole_message,
    "message_start": MessagesReply._on_message,
    "content_block_start": MessagesReply._on_block,
    "content_block_delta": MessagesReply._on_delta,
    "content_block_stop": MessagesReply._on_block_end,
    "message_delta": MessagesReply._on_message_delta,
    "message_stop": MessagesReply._on_message_end,
    "error": MessagesReply._on_error,
}
