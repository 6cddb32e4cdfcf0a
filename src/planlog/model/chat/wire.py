"""The parts of a streamed reply that matter, typed: what is not named here is not even read.

Every field may be missing or null, since vendors differ in which they send when.
"""

from typing import Any

import msgspec

from planlog.log.text import mend_escapes
from planlog.model.message import Usage
from planlog.model.refusals import failed_in_stream, malformed


class Function(msgspec.Struct, gc=False):
    """A piece of a call. `arguments` is text; some servers send the object that the text would hold."""

    name: str | None = None
    arguments: Any = None


class CallPiece(msgspec.Struct, gc=False):
    """A piece of the call at `index`; `extra_content` is what Google wants back with it."""

    index: int | None = None
    id: str | None = None
    function: Function | None = None
    extra_content: dict[str, Any] | None = None


class ContentPart(msgspec.Struct, gc=False):
    """Mistral's content comes in parts where its model thinks: `thinking` holds parts of text."""

    text: str | None = None
    thinking: "list[ContentPart] | str | None" = None


class Delta(msgspec.Struct, gc=False):
    """What is new in an answer, or all of it where nothing is streamed."""

    content: str | list[ContentPart] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[CallPiece] | None = None


class CountDetails(msgspec.Struct, gc=False):
    """Parts of a count."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


class Counts(msgspec.Struct, gc=False):
    """Tokens; the two cache fields at the top are DeepSeek's and Kimi's."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: CountDetails | None = None
    completion_tokens_details: CountDetails | None = None
    prompt_cache_hit_tokens: int | None = None
    cached_tokens: int | None = None

    def usage(self) -> Usage | None:
        """See `Usage`; xAI and Gemini count what thinking took in the total alone."""
        if self.prompt_tokens is None and self.completion_tokens is None:
            return None
        prompt, completion = self.prompt_tokens or 0, self.completion_tokens or 0
        asked, answered = self.prompt_tokens_details, self.completion_tokens_details
        read = asked.cached_tokens if asked else None
        if read is None:
            read = self.prompt_cache_hit_tokens if self.cached_tokens is None else self.cached_tokens
        write = asked.cache_write_tokens if asked else None
        return Usage(
            max(0, prompt - (read or 0) - (write or 0)),
            max(0, completion, (self.total_tokens or 0) - prompt),
            read or None,
            write or None,
            answered.reasoning_tokens or None if answered else None,
        )


def usage_of(counts: Any) -> Usage | None:
    """What the provider counted; None where it is no count, for which no answer is thrown away."""
    try:
        return msgspec.convert(counts, Counts, strict=False).usage()
    except msgspec.ValidationError:
        return None


class Choice(msgspec.Struct, gc=False):
    """One of several answers; `message` instead of `delta` where nothing is streamed. Kimi counts in here."""

    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    usage: Any = None


class Part(msgspec.Struct, gc=False):
    """The data of one event. In vLLM's errors `object` is "error", and what others say in `error` stands beside it."""

    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    object: str | None = None
    message: Any = None
    code: Any = None


_part = msgspec.json.Decoder(Part)


def read_part(data: str) -> Part:
    """Raises `ModelError` for an error that the data tells of, and for data that is no part of a reply."""
    try:
        part = _part.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        part = _mended(data, error)
    if part.error:
        raise failed_in_stream(part.error)
    if part.object == "error":
        raise failed_in_stream({"message": part.message, "code": part.code})
    return part


def _mended(data: str, error: Exception) -> Part:
    """Half a character does no harm, and an error in a list is Google's way to send one; the rest is nonsense."""
    try:
        value = msgspec.json.decode(mend_escapes(data.encode(errors="replace")))
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        return msgspec.convert(value, Part)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise malformed(f"something that is no part of an answer ({error})") from None
