"""What providers say when they fail, and what a person is told; how each dialect's replies fail is told beside it."""

import json
from typing import Any

import pytest

from planlog.model.refusals import failed_in_stream, refused


def error(body: Any, status: int = 400, **headers: str) -> Any:
    return refused(
        status, {name.replace("_", "-"): value for name, value in headers.items()}, json.dumps(body).encode()
    )


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "m"}},
        {"type": "error", "error": {"type": "some_error", "message": "m"}},
        [{"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT"}}],
        {"error": "m"},
        {"detail": "m"},
        {"object": "error", "message": "m"},
    ],
)
def test_the_words_of_a_refusal_are_found_in_whatever_form_it_comes(body: Any) -> None:
    assert str(error(body)) == "the provider does not take the request (400: m)"


@pytest.mark.parametrize("body", [b"", b"<html>nginx", b"[]", b"7", b"null", b"{", b"[" * 100_000])
def test_what_says_nothing_is_told_by_its_status(body: bytes) -> None:
    told = refused(500, {}, body)
    assert (str(told).startswith("the provider has a fault of its own (500"), told.retryable) == (True, True)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("API key not valid. Please pass a valid API key.", "AUTHENTICATION"),
        ("Incorrect API key provided: xa***.", "AUTHENTICATION"),
        ("prompt is too long: 210000 tokens > 200000 maximum", "CONTEXT_OVERFLOW"),
        ("Your credit balance is too low to access the API", "NO_CREDIT"),
        ("model 'x' not found, try pulling it first", "UNKNOWN_MODEL"),
        ("temperature is odd", "BAD_REQUEST"),
    ],
)
def test_a_bad_request_means_what_its_words_say(message: str, code: str) -> None:
    assert error({"error": {"message": message}}).code == code


@pytest.mark.parametrize(
    ("sent", "code", "retryable"),
    [
        ({"code": "context_length_exceeded", "type": "invalid_request_error"}, "CONTEXT_OVERFLOW", False),
        ({"code": "insufficient_quota", "type": "insufficient_quota"}, "NO_CREDIT", False),
        ({"code": "invalid_api_key"}, "AUTHENTICATION", False),
        ({"code": "odd", "type": "overloaded_error"}, "OVERLOADED", True),
        ({"code": 429, "type": "invalid_request_error"}, "RATE_LIMITED", True),
        ({"code": 7}, "UNAVAILABLE", True),
    ],
)
def test_an_error_in_a_stream_is_tried_again_only_where_it_may_pass(
    sent: dict[str, Any], code: str, retryable: bool
) -> None:
    told = failed_in_stream({"message": "m", **sent})
    assert (told.code, told.retryable) == (code, retryable)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "2"}, 2.0),
        ({"retry_after": "2", "retry_after_ms": "250"}, 0.25),
        ({"retry_after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry_after": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, None),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "nan"}, None),
        ({"retry_after": "inf"}, None),
        ({"retry_after": "1e308"}, 1e9),
        ({"retry_after": "soon"}, None),
        ({}, None),
    ],
)
def test_when_to_come_back_is_seconds_or_a_date_and_never_nonsense(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert error({}, 429, **headers).retry_after == seconds
