"""Decides what a turn does next, from what is known and nothing else; `loop.py` does it."""

import msgspec

from planlog.agent.answer import Answer
from planlog.agent.event import Completed, EndReason, Failed, Failure, MaxTokens
from planlog.agent.retry import FIRST_WAIT, Tries, Wait, after_empty, after_failure
from planlog.agent.streak import Streak


class Situation(msgspec.Struct, frozen=True):
    """Where a turn stands: in step `step`, the model has given `answer` (None: it has not been asked yet).

    `called` says that each call of the answer has its result; `steered`, that a message waits for the next step.
    """

    step: int = 1
    answer: Answer | None = None
    called: bool = False
    steered: bool = False
    tries: Tries = Tries()
    streak: Streak = Streak()


class Ask(msgspec.Struct, frozen=True):
    """Send the request that the log asks for."""


class RunCalls(msgspec.Struct, frozen=True):
    """Run the answer's calls."""


class RefuseCalls(msgspec.Struct, frozen=True):
    """Give the answer's calls results that say that they were cut off."""


class NextStep(msgspec.Struct, frozen=True):
    """End this step and begin another."""


class End(msgspec.Struct, frozen=True):
    """End the step and the turn."""

    reason: EndReason


Move = Ask | Wait | RunCalls | RefuseCalls | NextStep | End


def next_move(now: Situation, max_steps: int, spread: float = 0.0, first_wait: float = FIRST_WAIT) -> Move:
    """The one thing to do now. `spread` is the chance in a retry's delay, from 0 to 1; the first is `first_wait` s."""
    answer = now.answer
    if answer is None:
        return Ask()
    if answer.failure is not None:
        return _wait_or_end(after_failure(answer.failure, now.tries, spread, first_wait))
    cut = answer.finish == "max-tokens"
    if answer.empty:
        return End(MaxTokens()) if cut else _wait_or_end(after_empty(now.tries))
    if answer.calls and not now.called:
        return RefuseCalls() if cut else RunCalls()
    if fault := now.streak.fault():
        return End(Failed(fault))
    limited = now.step >= max_steps
    if answer.calls and limited:
        text = f"stopped after {now.step} steps, the most that one turn may have (setting max_steps)"
        return End(Failed(Failure(text, "STEP_LIMIT")))
    if answer.calls or (now.steered and not limited):
        return NextStep()
    # A steer that comes in the last step waits, and is the next turn's prompt.
    return End(MaxTokens() if cut else Completed())


def _wait_or_end(what: Wait | Failure) -> Move:
    return what if isinstance(what, Wait) else End(Failed(what))
