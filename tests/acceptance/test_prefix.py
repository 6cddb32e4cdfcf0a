"""What a provider has cached stays valid: each request begins with the bytes of the one before it."""

import json
import signal
from collections.abc import Sequence
from itertools import pairwise

import pytest

from tests.acceptance.asking import check, env, kinds, model
from tests.acceptance.conftest import House
from tests.provider import Provider, Reply, error_reply
from tests.wire.says import DIALECTS, LENGTH, Dialect, reply

CLOSING = len(b"]}")
"""The end of a request's list of messages, where the next request goes on."""


def shared(bodies: Sequence[bytes]) -> list[float]:
    """For each request but the first, how much of the one before it, up to its closing, it begins with."""
    return [_common(one[:-CLOSING], other) / (len(one) - CLOSING) for one, other in pairwise(bodies)]


def _common(one: bytes, other: bytes) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_prefix_stays_byte_for_byte_over_thirty_steps(house: House, dialect: Dialect) -> None:
    number = 0

    def call(command: str, text: str = "") -> Reply:
        nonlocal number
        number += 1
        thinking = "Whät now?" if number % 3 else ""
        made = [(f"call_{number}", "bash", json.dumps({"command": command}))]
        return Reply(reply(dialect, text, made, thinking=thinking))

    def listed(status: str, finish: str = "") -> Reply:
        nonlocal number
        number += 1
        todos = {"todos": [{"content": 'wörk\n"hard" \u2028', "status": status}]}
        return Reply(reply(dialect, "", [(f"call_{number}", "todo_write", json.dumps(todos))], finish))

    endless = "I begin to say something that nobody hears the end of."
    whole = reply(dialect, endless, [("c", "bash", '{"command":"x"}')], thinking="First I think.")
    # Who has said something when they are stopped has an answer of their own. Where nothing was said, the next prompt
    # joins the last one, and the closing of that message is not shared either.
    middle = whole.index(b"omething")
    cut = Reply(whole, cut_after=middle)
    turns: list[tuple[list[Reply], int | None]] = [
        ([listed("in_progress"), *(call(f"echo {n}", "é") for n in range(8)), Reply(reply(dialect, "One."))], None),
        ([call("exit 3"), listed("nonsense"), error_reply(500), call("true"), Reply(reply(dialect, "Two."))], None),
        ([cut, call("true"), listed("completed", LENGTH[dialect]), Reply(reply(dialect, "Three."))], None),
        ([call("echo before"), call("touch here; sleep 60")], signal.SIGINT),
        ([call("true"), Reply(reply(dialect, "Four."))], None),
        ([call("true"), call("touch here; sleep 60")], signal.SIGKILL),
        ([listed("pending"), *(call("true") for _ in range(5)), Reply(reply(dialect, "Five."))], None),
        ([Reply(whole[:middle], hangs=True)], signal.SIGINT),
        ([call("true"), Reply(reply(dialect, "Six."))], None),
    ]
    with Provider().in_thread() as provider:
        for index, (replies, kill) in enumerate(turns):
            provider.queue(*replies)
            asked = len(provider.asked)
            go_on = ["--continue"] if index else []
            command = ["run", *model(dialect), "--approve", "auto", "--json", *go_on, f"turn {index}"]
            if kill is None:
                done = house.planlog(*command, **env(dialect, provider))
                assert done.returncode == 0, done
                continue
            running = house.start(*command, env={**house.env, **env(dialect, provider)})
            provider.wait(asked + len(replies))
            if replies[-1].hangs:
                assert running.stdout
                while b'"text-delta"' not in running.stdout.readline():
                    assert running.poll() is None
            else:
                marker = house.folder / "here"
                while not marker.exists():
                    assert running.poll() is None
                marker.unlink()
            running.send_signal(kill)
            running.communicate(timeout=20)
        check(dialect, provider.asked)
        bodies = [asked.body for asked in provider.asked]
    steps = len(kinds(house.events(), "step/start"))
    ratios = shared(bodies)
    print(f"{dialect}: {steps} steps, {len(bodies)} requests, shared bytes {min(ratios):.4f} to {max(ratios):.4f}")
    assert steps >= 30
    assert min(ratios) == 1.0
    replayed = {"chat": b'"reasoning_content":"Wh', "messages": b'"signature":"signed:'}[dialect]
    assert bodies[-1].count(replayed) >= 10
    ends = [end["reason"]["kind"] for end in kinds(house.events(), "turn/end")]
    assert ends == ["completed"] * 3 + ["aborted", "completed", "interrupted", "completed", "aborted", "completed"]


def test_the_measure_sees_a_change() -> None:
    one = b'{"a":[1]}'
    assert shared([one, one, b'{"a":[1,2]}', b'{"b":[1,2,3]}']) == [1.0, 1.0, 2 / 9]
