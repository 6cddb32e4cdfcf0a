"""The events of a reply as they stand on the wire, as far as they are needed; other fields are not looked at."""

from typing import Any

import msgspec
from msgspec.structs import replace

from planlog.log.text import mend_escapes
from planlog.model.message import Usage
from planlog.model.refusals import malformed

BLOCKS = frozenset(("text", "thinking", "redacted_thinking", "tool_use"))
DELTAS = frozenset(("text_delta", "thinking_delta", "signature_delta", "input_json_delta"))
KNOWN = frozenset(
    (
        "message",
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "error",
    )
)
"""Others have to be expected and ignored (platform.claude.com/docs/en/build-with-claude/streaming)."""


class WireDetails(msgspec.Struct):
    """What of the output was thinking."""

    thinking_tokens: int | None = None


class WireUsage(msgspec.Struct):
    """Tokens so far; each event tells what it knows."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens_details: WireDetails | None = None

    def then(self, later: "WireUsage | None") -> "WireUsage":
        """What both tell, and the later one where they differ: counts are of the whole reply so far."""
        told = {name: getattr(later, name, None) for name in self.__struct_fields__}
        return replace(self, **{name: value for name, value in told.items() if value is not None})

    def counted(self) -> Usage | None:
        """See `Usage`; None where nothing was counted."""
        if self == WireUsage():
            return None
        details = self.output_tokens_details
        return Usage(
            self.input_tokens or 0,
            self.output_tokens or 0,
            self.cache_read_input_tokens or None,
            self.cache_creation_input_tokens or None,
            details.thinking_tokens or None if details else None,
        )


class WireMessage(msgspec.Struct):
    """The message that begins."""

    usage: WireUsage | None = None


class WireBlock(msgspec.Struct):
    """A block that begins; `input` is whole where a server does not stream it."""

    type: str
    id: str | None = None
    name: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    input: msgspec.Raw = msgspec.Raw()


class WireDelta(msgspec.Struct):
    """More of a block, or of the message."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: Any = None


class WireEvent(msgspec.Struct):
    """One event, whichever it is; or the whole message, of a server that does not stream."""

    type: str
    index: int = 0
    message: WireMessage | None = None
    content_block: WireBlock | None = None
    delta: WireDelta | None = None
    usage: WireUsage | None = None
    error: Any = None
    content: list[WireBlock] | None = None
    stop_reason: str | None = None
    stop_details: Any = None


_event = msgspec.json.Decoder(WireEvent)


def read_event(data: str) -> WireEvent | None:
    """The event; None for one of a kind that came after this was written. Raises `ModelError` for nonsense.

    Half a character is no reason to fail: some servers cut an emoji in two.
    """
    mended = mend_escapes(data.encode(errors="replace"))
    try:
        event = _event.decode(mended)
    except msgspec.ValidationError as error:
        if _is_unknown(mended):
            return None
        raise malformed(f"an event of another shape ({error})") from None
    except (msgspec.MsgspecError, RecursionError) as error:
        raise malformed(f"an event that is no JSON ({error})") from None
    return event if event.type in KNOWN else None


def _is_unknown(data: bytes) -> bool:
    """Whether the event, the block that it begins or the delta that it holds is of a kind that is not known here."""
    try:
        event = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return isinstance(event, dict) and (
        _is_other(event, KNOWN)
        or _is_other(event.get("content_block"), BLOCKS)
        or _is_other(event.get("delta"), DELTAS)
    )


def _is_other(value: Any, known: frozenset[str]) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind not in known
