"""Whatever a provider does, the session stays usable: one clear line or a retry, and the next request is valid."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from planlog.agent.event import Completed, EndReason, Failed, MaxTokens
from planlog.model import remote
from tests.provider import Provider, Reply, error_reply
from tests.wire.house import WireHouse, events_of, wire_house
from tests.wire.says import DIALECTS, LENGTH, SETTINGS, WHO, Dialect, reply

CERTIFICATE = Path(__file__).with_name("self-signed.pem")
CALL = ("id_1", "bash", '{"command":"ls"}')


async def turns(
    dialect: Dialect, replies: Sequence[Reply], key: str = "sk-fake-0123456789abcdef", url: str = ""
) -> tuple[EndReason, list[dict[str, Any]], WireHouse]:
    """One turn against `replies`, and after it one that is answered well; the first one's end, the whole log."""
    address, variable = SETTINGS[dialect][1:]
    provider = Provider(replies)
    async with provider.serve():
        env = {variable: key, **({address: url.format(provider.url.removeprefix("http://"))} if url else {})}
        async with wire_house(provider, dialect, **env) as house:
            session = await house.session()
            end = await house.turn(session)
            said = await events_of(session)
        provider.queue(Reply(reply(dialect, "All is well.")))
        async with wire_house(provider, dialect) as second:
            second.sessions = house.sessions
            assert isinstance(await second.turn(session, "and now?"), Completed)
    assert key not in json.dumps(await events_of(session))
    return end, said, house


def kinds(events: Sequence[dict[str, Any]], type: str) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["type"] == type]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("status", "message", "code", "said"),
    [
        (400, "messages: odd", "BAD_REQUEST", "the provider does not take the request (400: messages: odd)"),
        (
            400,
            "This model's maximum context length is 8192 tokens.",
            "CONTEXT_OVERFLOW",
            (
                "the conversation is too long for the model; begin a new session, or choose another model "
                "(400: This model's maximum context length is 8192 tokens.)"
            ),
        ),
        (
            400,
            "prompt is too long: 210000 tokens > 200000 maximum",
            "CONTEXT_OVERFLOW",
            (
                "the conversation is too long for the model; begin a new session, or choose another model "
                "(400: prompt is too long: 210000 tokens > 200000 maximum)"
            ),
        ),
        (
            402,
            "Insufficient Balance",
            "NO_CREDIT",
            "the account has no credit left; add some, or choose another model with -m (402: Insufficient Balance)",
        ),
        (
            429,
            "You exceeded your current quota, please check your plan.",
            "NO_CREDIT",
            (
                "the account has no credit left; add some, or choose another model with -m "
                "(429: You exceeded your current quota, please check your plan.)"
            ),
        ),
        (
            404,
            "The model `gpt-fake` does not exist",
            "UNKNOWN_MODEL",
            "planlog models lists what there is; choose one with -m (404: The model `gpt-fake` does not exist)",
        ),
        (404, "", "NOT_FOUND", "check the model's name and the base URL (404)"),
        (
            413,
            "Request exceeds the maximum size",
            "BAD_REQUEST",
            "the provider does not take the request (413: Request exceeds the maximum size)",
        ),
    ],
)
async def test_what_will_not_change_is_said_once_and_not_tried_again(
    dialect: Dialect, status: int, message: str, code: str, said: str
) -> None:
    end, events, _ = await turns(dialect, [error_reply(status, message)])
    assert isinstance(end, Failed)
    assert (end.error.code, end.error.status, end.error.message) == (code, status, f"{WHO[dialect]}: {said}")
    assert len(kinds(events, "llm/retry")) == 0


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_key_that_is_refused_is_named_by_its_variable_and_never_shown(dialect: Dialect) -> None:
    key = "sk-secret-0123456789"
    variable = SETTINGS[dialect][2]
    for message in (f"Incorrect API key provided: {key}.", f"{'x' * 280}{key}"):
        end, _, _ = await turns(dialect, [error_reply(401, message, x_request_id="req_7")], key)
        assert isinstance(end, Failed)
        assert end.error.message.startswith(f"{WHO[dialect]} ({variable}): the provider refuses the key; set another")
        assert "secret" not in end.error.message
        assert end.error.request_id == "req_7"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_key_in_a_header_that_is_kept_is_cut_from_it(dialect: Dialect) -> None:
    key = "sk-secret-0123456789"
    end, _, _ = await turns(dialect, [error_reply(400, "odd", x_request_id=f"req {key}")], key)
    assert isinstance(end, Failed)
    assert end.error.request_id == "req [key]"


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("kind", ["text/event-stream; charset=iso-8859-1", "text/event-stream; charset=base64"])
async def test_a_stream_is_utf_8_whatever_its_header_says_and_may_begin_with_a_mark_of_it(
    dialect: Dialect, kind: str
) -> None:
    body = b"\xef\xbb\xbf" + _begun(dialect, reply(dialect, "<>", piece=9)).replace(b"<>", "grün €".encode())
    end, events, _ = await turns(dialect, [Reply(body, kind=kind, piece=1)])
    assert isinstance(end, Completed)
    [message] = kinds(events, "assistant/message")
    assert message["message"]["content"] == [{"type": "text", "text": "grün €"}]


def _begun(dialect: Dialect, body: bytes) -> bytes:
    """The reply from its first event on that says something."""
    return body[body.index(b"\n\n") + 2 :] if dialect == "chat" else body


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_may_pass_is_tried_again_and_shown(dialect: Dialect) -> None:
    replies = [error_reply(500), error_reply(529, "Overloaded"), Reply(reply(dialect, "Here I am."))]
    end, events, _ = await turns(dialect, replies)
    assert isinstance(end, Completed)
    failures = [retry["failure"]["message"] for retry in kinds(events, "llm/retry")]
    assert failures == [
        f"{WHO[dialect]}: the provider has a fault of its own (500)",
        f"{WHO[dialect]}: the provider has too much to do (529: Overloaded)",
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_wish_to_wait_is_granted_up_to_a_minute(dialect: Dialect) -> None:
    short = [error_reply(429, "Slow down", retry_after="0.05"), Reply(reply(dialect, "Here."))]
    end, events, _ = await turns(dialect, short)
    assert isinstance(end, Completed)
    [retry] = kinds(events, "llm/retry")
    assert (retry["mode"], retry["delayMs"]) == ("retry-after", 50)
    end, events, _ = await turns(dialect, [error_reply(429, "Slow down", retry_after="3600")])
    assert isinstance(end, Failed)
    assert end.error.message == (
        f"{WHO[dialect]}: too many requests for now (429: Slow down) "
        "(it asks to wait 3600 s, longer than planlog waits; try again later)"
    )
    assert kinds(events, "llm/retry") == []


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (error_reply(503), "OVERLOADED"),
        (Reply(raw=b""), "STREAM_CUT"),
        (Reply(raw=b"SSH-2.0-OpenSSH_9\r\n"), "STREAM_CUT"),
        (Reply(raw=b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\n"), "STREAM_CUT"),
        (Reply(b""), "STREAM_CUT"),
        (Reply(b": nothing\n\n: at all\n\n"), "STREAM_CUT"),
        (Reply(b"data: {nope\n\n"), "MALFORMED_REPLY"),
        (Reply(b'data: {"choices":7,"type":7}\n\n'), "MALFORMED_REPLY"),
        (Reply(b"data: \xff\xfe\n\n"), "MALFORMED_REPLY"),
        (Reply(b'data: {"error":{"message":"Overloaded","type":"overloaded_error"},"type":"error"}\n\n'), "OVERLOADED"),
        (Reply(b"data: " + b"x" * ((1 << 24) + 2) + b"\n\n"), "MALFORMED_REPLY"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_what_never_gets_better_ends_the_turn_after_five_tries(dialect: Dialect, bad: Reply, code: str) -> None:
    end, events, _ = await turns(dialect, [bad])
    assert isinstance(end, Failed)
    assert end.error.code == code
    assert end.error.message.startswith(f"{WHO[dialect]}: ")
    assert end.error.message.endswith("(gave up after 5 tries)")
    assert len(kinds(events, "llm/retry")) == 4


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("bad", "code", "said"),
    [
        (
            Reply(b"<!doctype html><p>Welcome", kind="text/html"),
            "NO_STREAM",
            "the provider answers with text/html instead of a stream; check the base URL",
        ),
        (
            Reply(b'{"detail": "Not here"}', kind="application/json"),
            "NO_STREAM",
            'the provider answers with {"detail": "Not here"}; check the base URL',
        ),
        (
            Reply(b"", 302, headers={"location": "https://elsewhere/"}),
            "REDIRECTED",
            "check the base URL (302)",
        ),
        (Reply(b"<html>nginx</html>", 401, "text/html", hangs=True), "AUTHENTICATION", None),
        (Reply(b"<html>" * 999, 401, "text/html", then_again=True), "AUTHENTICATION", None),
    ],
    ids=["a page", "words in JSON", "a redirect", "an error that falls silent", "an error that has no end"],
)
async def test_what_is_no_provider_is_told_at_once(dialect: Dialect, bad: Reply, code: str, said: str | None) -> None:
    end, events, _ = await turns(dialect, [bad])
    assert isinstance(end, Failed)
    assert end.error.code == code
    assert said is None or end.error.message == f"{WHO[dialect]}: {said}"
    assert kinds(events, "llm/retry") == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_server_that_is_not_there_or_not_safe_is_told_at_once(dialect: Dialect) -> None:
    end, _, _ = await turns(dialect, [Reply()], url="http://127.0.0.1:9")
    assert isinstance(end, Failed)
    assert end.error.code == "NO_CONNECTION"
    assert end.error.message.startswith(f"{WHO[dialect]}: cannot reach 127.0.0.1:9 (")
    assert end.error.message.endswith("; is the server running?")
    end, _, _ = await turns(dialect, [Reply()], url="https://{}")
    assert isinstance(end, Failed)
    assert end.error.code == "TLS_FAILED"
    assert "no safe connection to 127.0.0.1:" in end.error.message


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_certificate_that_nobody_signed_is_not_trusted_and_no_key_is_sent(dialect: Dialect) -> None:
    provider = Provider([Reply(reply(dialect, "Give me your key."))], CERTIFICATE)
    async with provider.serve(), wire_house(provider, dialect) as house:
        session = await house.session()
        end = await house.turn(session)
    assert isinstance(end, Failed)
    assert end.error.code == "TLS_FAILED"
    assert "the system's certificates" in end.error.message
    assert provider.asked == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_whole_answer_does_not_wait_for_counts_that_never_come(
    dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "LAST_WORDS_SECONDS", 0.05)
    whole = reply(dialect, "That is all.")
    reason = {"chat": b'"finish_reason": "stop"', "messages": b'"stop_reason": "end_turn"'}[dialect]
    told = whole[: whole.index(b"\n\n", whole.index(reason)) + 2]
    for never in (Reply(told, hangs=True), Reply(told, goes_on=b'data: {"type":"ping"}\n\n')):
        end, events, _ = await turns(dialect, [never])
        assert isinstance(end, Completed)
        [message] = kinds(events, "assistant/message")
        assert message["message"]["content"] == [{"type": "text", "text": "That is all."}]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_empty_reply_is_asked_for_three_times(dialect: Dialect) -> None:
    for body in (reply(dialect), reply(dialect, " \n")):
        end, events, _ = await turns(dialect, [Reply(body)])
        assert isinstance(end, Failed)
        assert end.error.code == "EMPTY_REPLY"
        assert len(kinds(events, "llm/retry")) == 2
        assert kinds(events, "assistant/message") == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_without_end_is_ended_and_what_came_is_kept(dialect: Dialect) -> None:
    whole = reply(dialect, "x" * 500_000, piece=500_000)
    starts, _, _ = whole.partition(b"x" * 500_000)
    delta = whole[starts.rindex(b"data:") : whole.index(b"\n\n", len(starts)) + 2]
    assert delta.count(b"data:") == 1
    head = Reply(whole[: starts.rindex(b"data:")] + delta * 12, hangs=True)
    end, events, _ = await turns(dialect, [head])
    assert isinstance(end, Failed)
    assert (end.error.code, len(kinds(events, "llm/retry"))) == ("ENDLESS_ANSWER", 0)
    [message] = kinds(events, "assistant/message")
    assert message["interrupted"] is True


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("ids", [("x", "x"), ("", ""), ("functions.bash:0", "functions.bash:1"), ("y" * 99, "z" * 99)])
async def test_ids_of_calls_may_be_anything(dialect: Dialect, ids: tuple[str, str]) -> None:
    calls = [(id, "bash", json.dumps({"command": f"{n}"})) for n, id in enumerate(ids)]
    end, events, house = await turns(dialect, [Reply(reply(dialect, "", calls)), Reply(reply(dialect, "Done."))])
    assert isinstance(end, Completed)
    assert house.done == ['{"command":"0"}', '{"command":"1"}']
    logged = [call["callId"] for call in kinds(events, "tool/call")]
    assert len(set(logged)) == 2
    assert [result["message"]["source"]["callId"] for result in kinds(events, "tool/result")] == logged


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("arguments", ["", "{}", '{"command": "a⏎b\n"}', '{"command":"a"', "[]", "nonsense", "null"])
async def test_arguments_that_do_not_fit_are_told_to_the_model_and_the_turn_goes_on(
    dialect: Dialect, arguments: str
) -> None:
    replies = [Reply(reply(dialect, "", [("id_1", "bash", arguments)], piece=1)), Reply(reply(dialect, "Sorry."))]
    end, events, house = await turns(dialect, replies)
    assert isinstance(end, Completed)
    assert house.done == []
    [result] = kinds(events, "tool/result")
    assert result["error"]["code"] == "INVALID_ARGS"
    [called] = kinds(events, "tool/call")
    assert called["arguments"] == arguments


@pytest.mark.parametrize("odd", ["-0.0", '"\\u0000"', '{"\\u0000":1}', "[" * 900 + "]" * 900])
async def test_what_a_provider_wants_back_and_no_log_can_keep_is_left_out(odd: str) -> None:
    extra = f'"reasoning_details":[{{"x":{odd}}}],"tool_calls":[{{"index":0,"extra_content":{{"x":{odd}}},'
    body = reply("chat", "", [CALL]).replace(b'"tool_calls": [{"index": 0,', extra.encode(), 1)
    end, events, house = await turns("chat", [Reply(body), Reply(reply("chat", "Done."))])
    assert (type(end), house.done) == (Completed, ['{"command":"ls"}'])
    assert kinds(events, "assistant/message")[0]["message"]["source"]["replayState"] == {}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_call_that_the_length_limit_cut_is_never_run(dialect: Dialect) -> None:
    cut = reply(dialect, "I list.", [("id_1", "bash", '{"command":"rm -rf /tmp/x')], finish=LENGTH[dialect])
    end, _, house = await turns(dialect, [Reply(cut), Reply(reply(dialect, "Shorter."))])
    assert isinstance(end, Completed)
    assert house.done == []
    end, _, _ = await turns(dialect, [Reply(reply(dialect, "I talk and", finish=LENGTH[dialect]))])
    assert isinstance(end, MaxTokens)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_finish_that_nobody_knows_is_an_end(dialect: Dialect) -> None:
    end, _, house = await turns(dialect, [Reply(reply(dialect, "Hm.", finish="fulfilled"))])
    assert isinstance(end, Completed)
    called = Reply(reply(dialect, "", [CALL], finish="fulfilled"))
    end, _, house = await turns(dialect, [called, Reply(reply(dialect, "Done."))])
    assert (type(end), house.done) == (Completed, ['{"command":"ls"}'])


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_comes_after_the_end_of_an_answer_takes_nothing_from_it(dialect: Dialect) -> None:
    for more in (b"data: {nope\n\n", b"data: " + b"x" * ((1 << 24) + 2) + b"\n\n"):
        end, events, _ = await turns(dialect, [Reply(reply(dialect, "Hi.") + more)])
        assert (type(end), kinds(events, "llm/retry")) == (Completed, [])


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_usage_is_on_the_log_with_what_the_cache_gave(dialect: Dialect) -> None:
    _, events, _ = await turns(dialect, [Reply(reply(dialect, "Hi."))])
    [message] = kinds(events, "assistant/message")
    expected = {
        "chat": {"inputTokens": 90, "outputTokens": 12},
        "messages": {"inputTokens": 10, "outputTokens": 12, "cacheReadTokens": 80, "cacheWriteTokens": 5},
    }
    assert message["usage"] == expected[dialect]
