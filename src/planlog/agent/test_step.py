"""What a turn does next, as a table."""

import pytest

from planlog.agent.answer import Answer, Call
from planlog.agent.event import Completed, Failed, Failure, MaxTokens
from planlog.agent.retry import EMPTY, Tries, Wait
from planlog.agent.step import Ask, End, Move, NextStep, RefuseCalls, RunCalls, Situation, next_move
from planlog.agent.streak import REPEATED, Streak
from planlog.model.message import Reasoning, Text, ToolCall
from planlog.model.model import FinishKind, ModelError

LIMIT = 3
ONE = ToolCall("a", "say", "{}")
STEPS = End(Failed(Failure("stopped after 3 steps, the most that one turn may have (setting max_steps)", "STEP_LIMIT")))


def said(text: str, finish: FinishKind = "stop") -> Answer:
    return Answer((Text(text),), finish=finish)


def called(finish: FinishKind = "tool-calls") -> Answer:
    return Answer((ONE,), (Call("a", "say", ""),), finish)


def broken(status: int, retryable: bool = True, retry_after: float | None = None) -> Answer:
    return Answer(failure=ModelError("busy", status=status, retryable=retryable, retry_after=retry_after))


def circling() -> Streak:
    streak = Streak()
    for _ in range(5):
        streak = streak.after("say", "{}", "Error: no", True)
    return streak


def wait(retry: int, most: int, delay: float, mode: str, tries: Tries, failure: Failure | None = None) -> Wait:
    return Wait(retry, most, delay, mode, failure or Failure("busy", "MODEL_ERROR", 503), tries)


def ended(message: str, status: int) -> End:
    return End(Failed(Failure(message, "MODEL_ERROR", status)))


TABLE: list[tuple[str, Situation, Move]] = [
    ("a step begins", Situation(), Ask()),
    ("words alone", Situation(answer=said("Hi.")), End(Completed())),
    ("words alone, a steer waits", Situation(answer=said("Hi."), steered=True), NextStep()),
    ("words that were cut", Situation(answer=said("Hi", "max-tokens")), End(MaxTokens())),
    ("words that were cut, a steer waits", Situation(answer=said("Hi", "max-tokens"), steered=True), NextStep()),
    ("calls", Situation(answer=called()), RunCalls()),
    ("calls although it says stop", Situation(answer=called("stop")), RunCalls()),
    ("calls that were cut", Situation(answer=called("max-tokens")), RefuseCalls()),
    ("calls that were cut and refused", Situation(answer=called("max-tokens"), called=True), NextStep()),
    ("calls with results", Situation(answer=called(), called=True), NextStep()),
    ("calls with results in the last step", Situation(step=LIMIT, answer=called(), called=True), STEPS),
    ("words in the last step", Situation(step=LIMIT, answer=said("Hi.")), End(Completed())),
    ("a steer in the last step", Situation(step=LIMIT, answer=said("Hi."), steered=True), End(Completed())),
    (
        "a steer in the last step, words that were cut",
        Situation(step=LIMIT, answer=said("Hi", "max-tokens"), steered=True),
        End(MaxTokens()),
    ),
    (
        "circles",
        Situation(answer=called(), called=True, streak=circling()),
        End(Failed(Failure("stopped: the same call of say failed 5 times in a row: no", REPEATED))),
    ),
    (
        "nothing",
        Situation(answer=Answer(finish="stop")),
        wait(1, 2, 0.0, "immediate", Tries(0, 1, 0.0), EMPTY),
    ),
    (
        "blanks, again",
        Situation(answer=said(" \n"), tries=Tries(0, 1, 0.0)),
        wait(2, 2, 0.0, "immediate", Tries(0, 2, 0.0), EMPTY),
    ),
    (
        "thinking only, for the third time",
        Situation(answer=Answer((Reasoning("hm"),), finish="stop"), tries=Tries(0, 2, 0.0)),
        End(Failed(EMPTY)),
    ),
    ("thinking that was cut", Situation(answer=Answer((Reasoning("hm"),), finish="max-tokens")), End(MaxTokens())),
    ("a failure", Situation(answer=broken(503)), wait(1, 4, 1.0, "backoff", Tries(1, 0, 1.0))),
    (
        "the third failure",
        Situation(answer=broken(503), tries=Tries(2, 0, 3.0)),
        wait(3, 4, 4.0, "backoff", Tries(3, 0, 7.0)),
    ),
    (
        "a failure with a wish",
        Situation(answer=broken(503, retry_after=20)),
        wait(1, 4, 20.0, "retry-after", Tries(1, 0, 20.0)),
    ),
    (
        "a wish that is too long",
        Situation(answer=broken(503, retry_after=50), tries=Tries(1, 0, 11.0)),
        ended("busy (it asks to wait 50 s after 11 s of waiting, longer than planlog waits; try again later)", 503),
    ),
    (
        "the fifth failure",
        Situation(answer=broken(503), tries=Tries(4, 0, 15.0)),
        ended("busy (gave up after 5 tries)", 503),
    ),
    ("a refusal", Situation(answer=broken(401, retryable=False)), ended("busy", 401)),
]


@pytest.mark.parametrize("situation, move", [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_comes_next(situation: Situation, move: Move) -> None:
    assert next_move(situation, LIMIT) == move


def test_what_succeeds_is_no_circle_however_often_it_is_done() -> None:
    streak = Streak()
    for _ in range(199):
        streak = streak.after("todo_write", "{}", "fine", False)
        assert streak.fault() is None


def test_two_failing_calls_in_turns_are_a_circle_as_well() -> None:
    streak = Streak()
    for count in range(20):
        assert streak.fault() is None
        streak = streak.after("say", str(count % 2), "Error: no", True)
    fault = streak.fault()
    assert fault is not None
    assert fault.message == "stopped: 20 calls in a row failed, the last one of say"
