"""Decides whether a request that failed is made again, and after how long."""

import msgspec

from planlog.agent.event import Failure
from planlog.model.model import ModelError

MAX_TRIES = 5
"""Requests for one answer, the first one included."""
MAX_EMPTY_RETRIES = 2
FIRST_WAIT = 1.0
"""Seconds before the first retry of a request that failed; the next ones double it."""
MAX_WAIT = 60.0
"""Seconds that one answer may be waited for in all, between its requests."""
EMPTY = Failure("the model gave an empty reply", "EMPTY_REPLY")


class Tries(msgspec.Struct, frozen=True):
    """What one answer has cost so far; `waited` is in seconds."""

    retries: int = 0
    empties: int = 0
    waited: float = 0.0


class Wait(msgspec.Struct, frozen=True):
    """Ask again after `delay` seconds, as number `retry` of at most `max_retries`."""

    retry: int
    max_retries: int
    delay: float
    mode: str
    failure: Failure
    tries: Tries


def describe(error: ModelError) -> Failure:
    """The error as the log keeps it."""
    return Failure(str(error), error.code, error.status, error.request_id)


def after_failure(error: ModelError, tries: Tries, spread: float, first_wait: float = FIRST_WAIT) -> Wait | Failure:
    """A wait that doubles from `first_wait` s and is as long as the provider wishes, or the failure that ends the turn.

    `spread`, from 0 to 1, keeps many who failed together from coming back together.
    """
    failure = describe(error)
    if not error.retryable:
        return failure
    retry = tries.retries + 1
    if retry >= MAX_TRIES:
        return msgspec.structs.replace(failure, message=f"{failure.message} (gave up after {MAX_TRIES} tries)")
    backoff = first_wait * 2.0**tries.retries * (1 + spread / 4)
    wish = error.retry_after or 0.0
    delay = max(backoff, wish)
    if tries.waited + delay > MAX_WAIT:
        asks = f"it asks to wait {delay:.0f} s" + (f" after {tries.waited:.0f} s of waiting" if tries.waited else "")
        text = f"{failure.message} ({asks}, longer than planlog waits; try again later)"
        return msgspec.structs.replace(failure, message=text)
    after = Tries(retry, tries.empties, tries.waited + delay)
    return Wait(retry, MAX_TRIES - 1, delay, "retry-after" if wish > backoff else "backoff", failure, after)


def after_empty(tries: Tries) -> Wait | Failure:
    """At once again, a few times: an empty answer costs little and a second one is seldom empty."""
    if tries.empties >= MAX_EMPTY_RETRIES:
        return EMPTY
    after = Tries(tries.retries, tries.empties + 1, tries.waited)
    return Wait(after.empties, MAX_EMPTY_RETRIES, 0.0, "immediate", EMPTY, after)
