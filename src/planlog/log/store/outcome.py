"""How a task waits for something that must not be given up half-way: a commit is either known or not yet known."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from anyio import CancelScope

T = TypeVar("T")


class Outcome(asyncio.Future[T]):
    """A future that refuses to be cancelled.

    asyncio then keeps the cancellation of the task that waits, and delivers it when the future is done.
    """

    def cancel(self, msg: object = None) -> bool:
        return False


async def known(outcome: Outcome[T], begin: Callable[[], None]) -> T:
    """Calls `begin` and returns the result of `outcome`, or its error, whoever wants this task to stop meanwhile.

    A cancellation is kept: it comes at the next point where the task really waits. So the caller can still do what
    belongs to the outcome, as long as it does not wait. The scope holds off anyio, which would otherwise ask again in
    every round of the loop; the future itself holds off `Task.cancel`, which knows nothing of scopes.
    """
    with CancelScope(shield=True):
        # Last of all: a thread that is woken here waits for the interpreter until this one waits for the outcome.
        begin()
        try:
            await outcome
        except asyncio.CancelledError as cancelled:
            task = asyncio.current_task()
            if task is None:
                raise
            # Asked for once more and not twice: asyncio.timeout counts.
            task.uncancel()
            task.cancel(*cancelled.args)
    return outcome.result()
