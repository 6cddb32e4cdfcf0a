"""An event loop whose clock jumps to the next timer whenever nothing else is to do, so deadlines cost tests no time.

Time passes only while all tasks wait: a busy machine cannot make a deadline expire, and the order of things is always
the same. What waits for a thread, a process or a socket is not served in virtual time; such tests use the real clock.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self.now += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop factory for `asyncio.Runner` and for anyio's `loop_factory`."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run_virtually(main: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a program to its end on a virtual clock that starts at 0."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main())
