"""What a provider says when it fails, as one line that tells a person what to do, and whether to ask again."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planlog.model.error_body import of_object, one_line_of, words_of
from planlog.model.model import ModelError

if TYPE_CHECKING:
    from planlog.model.providers import Address

_TELLING = 12
"""Characters of a key's beginning that give it away; a shorter one ("none", "EMPTY") is no secret."""
LONGEST_WISH = 1e9
"""Seconds that a provider may ask to wait; there are numbers of 300 digits."""

_OVERFLOW = re.compile(
    r"context[_ ]length|context[_ ]window|maximum context|prompt is too long|too many (input )?tokens"
    r"|exceeds? the (maximum|limit).{0,40}tokens|input (is )?too long|token (count|limit).{0,60}exceed"
    r"|reduce the length|exceed_context_size|larger than the (maximum )?context",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](quota|balance|credits?)|exceeded your current quota|credit balance is too low|billing|payment",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[_ ]key not valid|(incorrect|invalid)[_ ]api[_ ]key", re.IGNORECASE)
"""How Google and xAI refuse a key, with the status of a bad request."""
_NO_MODEL = re.compile(
    r"model.{0,80}(not found|not exist|not_found)|(unknown|invalid) model|no such model", re.IGNORECASE
)

_HINTS = {
    "AUTHENTICATION": "the provider refuses the key; set another",
    "FORBIDDEN": "the key may not do this",
    "NO_CREDIT": "the account has no credit left; add some, or choose another model with -m",
    "UNKNOWN_MODEL": "planlog models lists what there is; choose one with -m",
    "NOT_FOUND": "check the model's name and the base URL",
    "CONTEXT_OVERFLOW": "the conversation is too long for the model; begin a new session, or choose another model",
    "RATE_LIMITED": "too many requests for now",
    "OVERLOADED": "the provider has too much to do",
    "UNAVAILABLE": "the provider has a fault of its own",
    "BAD_REQUEST": "the provider does not take the request",
    "REDIRECTED": "check the base URL",
}


def refused(status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """The error of a response that is not 200; `headers` by lower-case name, `body` as far as it was read."""
    said, codes = words_of(body)
    kind = _kind(status, f"{' '.join(codes)} {said}")
    request_id = headers.get("x-request-id") or headers.get("request-id")
    return _error(kind, said, status, _wish(headers), request_id)


def failed_in_stream(error: Any) -> ModelError:
    """The error object that a provider sent in the middle of a reply, whatever its shape."""
    said, codes = of_object(error)
    number = error.get("code") if isinstance(error, dict) else None
    status = next((_STATUS_OF[code] for code in codes if code in _STATUS_OF), 500)
    if isinstance(number, int) and 400 <= number < 600:
        status = number
    return _error(_kind(status, f"{' '.join(codes)} {said}"), said, status, None, None)


def malformed(what: str) -> ModelError:
    """A reply that follows no rule; the next one may."""
    return ModelError(f"the provider sent {one_line_of(what)}", code="MALFORMED_REPLY", retryable=True)


def overflowed() -> ModelError:
    """An answer that ended because the model's window was full."""
    return ModelError(_HINTS["CONTEXT_OVERFLOW"], code="CONTEXT_OVERFLOW")


def of_provider(error: ModelError, address: "Address") -> ModelError:
    """The error with the name of who failed, and of the variable whose key was refused; the key itself is in none."""
    who = address.provider.name
    if error.code in ("AUTHENTICATION", "FORBIDDEN") and address.variable:
        who = f"{who} ({address.variable})"
    return ModelError(
        f"{who}: {_without_key(str(error), address.key)}",
        code=error.code,
        status=error.status,
        retryable=error.retryable,
        retry_after=error.retry_after,
        request_id=_without_key(one_line_of(error.request_id), address.key) if error.request_id else None,
    )


def _without_key(text: str, key: str) -> str:
    """`text` without the key, also where it was cut in the middle of it."""
    start = key[:_TELLING]
    while len(start) == _TELLING and (at := text.find(start)) >= 0:
        end = next((n for n, (one, other) in enumerate(zip(text[at:], key, strict=False)) if one != other), len(key))
        text = f"{text[:at]}[key]{text[at + end :]}"
    return text


_STATUS_OF = {
    "authentication_error": 401,
    "invalid_api_key": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_request_error": 400,
    "billing_error": 402,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}


def _kind(status: int, said: str) -> str:
    if status in (400, 413, 422) and _OVERFLOW.search(said):
        return "CONTEXT_OVERFLOW"
    if status in (400, 402, 403, 429) and (status == 402 or _NO_MONEY.search(said)):
        return "NO_CREDIT"
    if status == 400 and _NO_KEY.search(said):
        return "AUTHENTICATION"
    if status in (400, 404) and _NO_MODEL.search(said):
        return "UNKNOWN_MODEL"
    if status >= 500:
        return "OVERLOADED" if status in (503, 529) else "UNAVAILABLE"
    named = {401: "AUTHENTICATION", 403: "FORBIDDEN", 404: "NOT_FOUND", 405: "NOT_FOUND", 408: "UNAVAILABLE"}
    if 300 <= status < 400:
        return "REDIRECTED"
    return named.get(status, "RATE_LIMITED" if status == 429 else "BAD_REQUEST")


def _error(kind: str, said: str, status: int, retry_after: float | None, request_id: str | None) -> ModelError:
    hint = _HINTS[kind]
    text = f"{hint} ({status}: {said})" if said else f"{hint} ({status})"
    retryable = kind in ("RATE_LIMITED", "OVERLOADED", "UNAVAILABLE")
    return ModelError(
        text, code=kind, status=status, retryable=retryable, retry_after=retry_after, request_id=request_id
    )


def _wish(headers: Mapping[str, str]) -> float | None:
    """When the provider wants to be asked again, in seconds from now."""
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    return _seconds(headers.get("retry-after", "")) if milliseconds is None else milliseconds / 1000


def _seconds(text: str) -> float | None:
    """`Retry-After`, which is seconds or a date."""
    try:
        seconds = float(text)
        return min(seconds, LONGEST_WISH) if 0 <= seconds < float("inf") else None
    except ValueError:
        pass
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None
