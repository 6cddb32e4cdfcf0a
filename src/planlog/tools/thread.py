"""Runs blocking work in a thread for which nobody has to wait: neither a cancelled turn nor the end of the program.

A pool's threads are waited for when Python ends, so a disk that does not answer would hold up the whole program.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from anyio import get_cancelled_exc_class, move_on_after

T = TypeVar("T")

Stopped = Callable[[], bool]
"""Whether nobody waits any more: work looks between its pieces, and before what cannot be undone."""
GRACE = 0.2
"""Seconds in which work that was cancelled may end by itself, so that what came of it is known."""


async def in_thread(work: Callable[[Stopped], T]) -> T:
    """What `work` returns or raises.

    A cancel is told to the work. If it finishes all the same within `GRACE`, its result is kept, since it is true; the
    caller, in a cancel scope, is cancelled at its own next `await`. Otherwise it is left alone, and the cancel travels.
    """
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    stopped = threading.Event()

    def report(result: T | None, error: BaseException | None) -> None:
        if error is None:
            done.set_result(result)
        elif not stopped.is_set():
            done.set_exception(error)
        else:
            done.cancel()

    def run() -> None:
        result, error = None, None
        try:
            result = work(stopped.is_set)
        except BaseException as raised:
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody wants to know
            loop.call_soon_threadsafe(report, result, error)

    threading.Thread(target=run, name="blocking work", daemon=True).start()
    try:
        return await asyncio.shield(done)
    except get_cancelled_exc_class():
        stopped.set()
        with move_on_after(GRACE, shield=True):
            await asyncio.wait([done])
        if done.done() and not done.cancelled() and not done.exception():
            return done.result()
        raise
