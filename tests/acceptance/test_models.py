"""The real program and real dialects: a provider on this machine answers, dies, hangs and refuses."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.asking import KEY, check, env, keyless, kinds, model
from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal
from tests.provider import Provider, Reply, error_reply
from tests.wire.says import DIALECTS, SETTINGS, WHO, Dialect, reply

SHELL = ("call_2", "bash", '{"command":"env | grep -c SECRET; echo seen"}')


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider([error_reply(500, "nobody said what to answer")]).in_thread() as provider:
        yield provider


def test_a_real_model_runs_a_command_and_answers(house: House, dialect: Dialect, provider: Provider) -> None:
    calls = reply(dialect, "First a look.", [SHELL])
    provider.queue(Reply(calls, piece=1), Reply(reply(dialect, "I looked around.")))
    run = ("run", *model(dialect), "--approve", "auto", "look around")
    done = house.planlog(*run, **env(dialect, provider))
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "First a look.")
    assert done.stdout.endswith("I looked around.\n")
    check(dialect, provider.asked)
    events = house.events()
    written = [e["type"] for e in events if e["type"] in ("assistant/message", "tool/call", "tool/result")]
    assert written == [
        "assistant/message", "tool/call", "tool/result", "assistant/message",
    ]  # fmt: skip
    assert kinds(events, "request/context")[0]["provider"] == WHO[dialect]
    keyless(house, done.stdout, done.stderr, json.dumps(events))


def test_json_prints_the_log_and_nothing_else(house: House, dialect: Dialect, provider: Provider) -> None:
    provider.queue(Reply(reply(dialect, "Hello.")))
    done = house.planlog("run", *model(dialect), "--json", "hi", **env(dialect, provider))
    assert [json.loads(line) for line in done.stdout.splitlines()] == house.events()


def test_a_kill_in_mid_stream_leaves_what_was_streamed_and_resume_goes_on(
    house: House, dialect: Dialect, provider: Provider
) -> None:
    whole = reply(dialect, "It begins well and then", [SHELL])
    middle = whole.rindex({"chat": b'"arguments"', "messages": b'"partial_json"'}[dialect])
    provider.queue(Reply(whole[:middle], hangs=True), Reply(reply(dialect, "It goes on.")))
    house.env |= env(dialect, provider)
    running = house.start("run", *model(dialect), "--json", "begin")
    assert running.stdout is not None
    for line in running.stdout:
        chunk = json.loads(line)["data"].get("chunk", {})
        if chunk.get("type") == "tool-call-delta":
            break
    cmdline = Path(f"/proc/{running.pid}/cmdline").read_bytes()
    running.send_signal(signal.SIGKILL)
    running.wait()
    done = house.planlog("run", *model(dialect), "--resume", house.json("sessions")[0]["id"], "go on")
    assert (done.returncode, done.stdout) == (0, "It goes on.\n")
    events = house.events()
    first = kinds(events, "assistant/message")[0]
    assert first["interrupted"] is True
    assert first["message"]["content"][0] == {"type": "text", "text": "It begins well and then"}
    assert kinds(events, "tool/call") == []
    assert [end["reason"]["kind"] for end in kinds(events, "turn/end")] == ["interrupted", "completed"]
    check(dialect, provider.asked)
    keyless(house, done.stdout, done.stderr, cmdline.decode())


def test_a_key_that_is_refused_ends_the_turn_with_one_line(house: House, dialect: Dialect, provider: Provider) -> None:
    provider.queue(error_reply(401, f"invalid key {KEY}"), Reply(reply(dialect, "Welcome.")))
    done = house.planlog("run", *model(dialect), "hi", **env(dialect, provider), PLANLOG_DEBUG="1")
    variable = SETTINGS[dialect][2]
    said = f"planlog: {WHO[dialect]} ({variable}): the provider refuses the key; set another (401: invalid key [key])"
    assert done.returncode == 1
    assert said in done.stderr.splitlines()
    assert "retrying" not in done.stderr
    keyless(house, done.stdout, done.stderr)
    again = house.planlog("run", *model(dialect), "--continue", "again", **env(dialect, provider))
    assert (again.returncode, again.stdout) == (0, "Welcome.\n")
    check(dialect, provider.asked)


def test_a_wait_is_shown_and_as_long_as_the_provider_wants(house: House, dialect: Dialect, provider: Provider) -> None:
    provider.queue(error_reply(429, "slow down", retry_after="2"), Reply(reply(dialect, "Now.")))
    done = house.planlog("run", *model(dialect), "hi", **env(dialect, provider))
    assert (done.returncode, done.stdout) == (0, "Now.\n")
    assert "too many requests for now (429: slow down); retrying in 2.0 s" in done.stderr
    retried, started = (e["time"] for e in house.events() if e["type"] in ("llm/retry", "llm/retry-started"))
    assert started - retried >= 2000


def test_ctrl_c_stops_a_stream_that_hangs(house: House, dialect: Dialect, provider: Provider) -> None:
    whole = reply(dialect, "It begins.", piece=99)
    provider.queue(Reply(whole[: whole.index(b"\n\n", whole.index(b"It begins.")) + 2], hangs=True))
    house.env |= env(dialect, provider)
    terminal = Terminal(house, "run", *model(dialect), "begin")
    terminal.wait_for("It begins")
    terminal.type("\x03")
    assert terminal.finish() == 130
    assert kinds(house.events(), "turn/end")[0]["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}


def test_a_chat_works_over_two_turns_and_says_what_failed(house: House, dialect: Dialect, provider: Provider) -> None:
    provider.queue(
        Reply(reply(dialect, "First a look.", [SHELL])),
        Reply(reply(dialect, "That was one.")),
        error_reply(400, "no more"),
        Reply(reply(dialect, "That was two.")),
    )
    house.env |= env(dialect, provider)
    terminal = Terminal(house, "chat", *model(dialect), "--approve", "auto")
    terminal.type("begin\r")
    terminal.expect("First a look.", "That was one.")
    terminal.type("and then?\r")
    terminal.expect("the provider does not take the request (400: no more)")
    terminal.type("once more\r")
    terminal.expect("That was two.")
    terminal.type("\x04")
    assert terminal.finish() == 0
    check(dialect, provider.asked)
    reasons = [end["reason"]["kind"] for end in kinds(house.events(), "turn/end")]
    assert reasons == ["completed", "error", "completed"]
    keyless(house, terminal.screen)


@pytest.mark.parametrize("arguments", [("run", "-m", "openai:gpt", "hi"), ("models", "openai")])
def test_a_host_whose_name_nobody_tells_keeps_no_program_from_ending(house: House, arguments: tuple[str, ...]) -> None:
    (house.folder / "sitecustomize.py").write_text(
        "import os, socket, threading\n"
        "def look_up(*_, **__):\n"
        "    open('asked', 'w').close()\n"
        "    threading.Event().wait()\n"
        "socket.getaddrinfo = look_up\n"
    )
    os.mkfifo(house.folder / "asked")
    house.env |= {"OPENAI_BASE_URL": "http://host.invalid/v1", "OPENAI_API_KEY": KEY, "PYTHONPATH": str(house.folder)}
    running = house.start(*arguments)
    (house.folder / "asked").open().close()  # it is looked for
    running.send_signal(signal.SIGTERM)
    assert running.wait(10) == 128 + signal.SIGTERM


@pytest.mark.parametrize(
    ("arguments", "extra", "said"),
    [
        ((), {}, "no model is chosen and no key is set; set one of ANTHROPIC_API_KEY"),
        (("-m", "openai:gpt"), {}, "openai needs a key: set OPENAI_API_KEY"),
        (("-m", "openai:gpt"), {"OPENAI_API_KEY": "a\nb"}, "OPENAI_API_KEY holds a character that no key has"),
        (("-m", "openai:gpt"), {"OPENAI_BASE_URL": "localhost:1"}, "OPENAI_BASE_URL is no address; it has to look"),
        (("-m", "gpt"), {}, '"gpt" names no model; a model is provider:model'),
    ],
)
def test_who_begins_without_a_model_is_told_in_one_line_what_to_do(
    house: House, arguments: tuple[str, ...], extra: dict[str, str], said: str
) -> None:
    done = house.planlog("run", *arguments, "hi", **extra)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(f"planlog: {said}")
    assert house.json("sessions") == []


def test_the_models_of_a_provider_are_listed_as_they_stand_after_m(
    house: House, dialect: Dialect, provider: Provider
) -> None:
    names = {"data": [{"id": "zeta", "object": "model"}, {"id": "models/alpha"}, {"id": ""}]}
    provider.queue(Reply(json.dumps(names).encode(), kind="application/json"))
    who = WHO[dialect]
    done = house.planlog("models", who, **env(dialect, provider))
    assert (done.returncode, done.stdout.split()) == (0, [f"{who}:alpha", f"{who}:zeta"])
    assert KEY in "".join(provider.asked[0].headers.values())
    listed = json.loads(house.planlog("models", who, "--json", **env(dialect, provider)).stdout)
    assert listed[0]["models"] == [f"{who}:alpha", f"{who}:zeta"]
    provider.queue(error_reply(401, f"no {KEY}"))
    done = house.planlog("models", who, **env(dialect, provider))
    assert (done.returncode, KEY in done.stdout + done.stderr) == (1, False)
    assert done.stdout.startswith(f"{who} ({SETTINGS[dialect][2]}): the provider refuses the key")


def test_without_any_key_models_says_which_to_set(house: House) -> None:
    done = house.planlog("models", OLLAMA_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "anthropic: set ANTHROPIC_API_KEY\n" in done.stdout
    assert "\nollama: cannot reach 127.0.0.1:9 " in done.stdout


def test_the_core_runs_without_the_http_library(house: House) -> None:
    blocked = house.folder / "blocked"
    blocked.mkdir()
    (blocked / "httpx2.py").write_text("raise ImportError('somebody wants HTTP')")
    script = house.script({"text": "Hi."})
    done = house.planlog("run", "-m", script, "hi", PYTHONPATH=str(blocked))
    assert (done.returncode, done.stdout) == (0, "Hi.\n")
    assert house.planlog("--help", PYTHONPATH=str(blocked)).returncode == 0
    wanted = house.planlog("run", "-m", "ollama:m", "hi", PYTHONPATH=str(blocked))
    assert (wanted.returncode, "somebody wants HTTP" in wanted.stderr) == (1, True)
