"""The plan as real dialects write it, from a provider on this machine: by `planlog run`, and in a chat."""

from collections.abc import Iterator

import pytest
from tests.acceptance.asking import check, env, keyless, kinds, model
from tests.acceptance.conftest import House as Machine
from tests.acceptance.terminal import Terminal
from tests.provider import Provider, Reply, error_reply
from tests.wire.says import DIALECTS, Dialect, reply

LIST = ("call_1", "todo_write", '{"todos":[{"content":"look around","status":"in_progress"}]}')
SHELL = ("call_2", "bash", '{"command":"echo seen"}')


@pytest.fixture(params=DIALECTS)
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider([error_reply(500, "nobody said what to answer")]).in_thread() as provider:
        yield provider


def test_a_real_model_writes_the_plan_runs_a_command_and_answers(
    machine: Machine, dialect: Dialect, provider: Provider
) -> None:
    calls = reply(dialect, "First the plan.", [LIST, SHELL])
    provider.queue(Reply(calls, piece=1), Reply(reply(dialect, "I looked around.")))
    run = ("run", *model(dialect), "--approve", "auto", "look around")
    done = machine.planlog(*run, **env(dialect, provider))
    assert (done.returncode, done.stdout.splitlines()[:3]) == (0, ["First the plan.", "[todos]", "  [~] look around"])
    assert done.stdout.endswith("I looked around.\n")
    check(dialect, provider.asked)
    events = machine.events()
    written = [
        e["type"] for e in events if e["type"] in ("assistant/message", "tool/call", "todo/write", "tool/result")
    ]
    assert written == [
        "assistant/message", "tool/call", "todo/write", "tool/result", "tool/call", "tool/result", "assistant/message",
    ]  # fmt: skip
    assert len(kinds(events, "todo/write")) == 1
    keyless(machine, done.stdout, done.stderr)


def test_a_chat_plans_over_two_turns_and_says_what_failed(
    machine: Machine, dialect: Dialect, provider: Provider
) -> None:
    provider.queue(
        Reply(reply(dialect, "First the plan.", [LIST])),
        Reply(reply(dialect, "That was one.")),
        error_reply(400, "no more"),
        Reply(reply(dialect, "That was two.")),
    )
    machine.env |= env(dialect, provider)
    terminal = Terminal(machine, "chat", *model(dialect))
    terminal.type("begin\r")
    terminal.expect("[~] look around", "That was one.")
    terminal.type("and then?\r")
    terminal.expect("the provider does not take the request (400: no more)")
    terminal.type("once more\r")
    terminal.expect("That was two.")
    terminal.type("\x04")
    assert terminal.finish() == 0
    check(dialect, provider.asked)
    reasons = [end["reason"]["kind"] for end in kinds(machine.events(), "turn/end")]
    assert reasons == ["completed", "error", "completed"]
    keyless(machine, terminal.screen)
