"""Turns signals into an orderly end: what runs is cancelled, children are stopped, the log is closed."""

import asyncio
import os
import signal
from collections.abc import Callable
from types import TracebackType
from typing import Self

from anyio import CancelScope

from planlog.kernel.last_acts import LastActs

GRACE = 0.3
"""Seconds to an orderly end where nothing has begun that would have to be ended."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """While the block lasts, a signal cancels it; `exit_code` then is 128 and the signal's number.

    The first Ctrl-C calls `interrupt` instead, where that is set, and the first signal of any kind `on_end`; one more
    than was needed performs the last acts and leaves at once, without waiting for anything. So does the first one, or
    any other signal, after `GRACE` seconds in which `may_leave` stays set: a save that waits for another process's lock
    cannot be called back, only left.
    """

    def __init__(self, last_acts: LastActs) -> None:
        self.exit_code: int | None = None
        self.interrupt: Callable[[], object] | None = None
        self.on_end: Callable[[], object] | None = None
        self.may_leave = False
        self._last_acts = last_acts
        self._scope = CancelScope()
        self._handled: list[signal.Signals] = []

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in ENDING:
            # What whoever started us told us to ignore (nohup, a job in the background) stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self._on_signal, number)
                self._handled.append(number)
        self._scope.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        loop = asyncio.get_running_loop()
        for number in self._handled:
            loop.remove_signal_handler(number)
        return self._scope.__exit__(kind, error, trace)

    def end(self, exit_code: int) -> None:
        """Cancels the block as a signal would."""
        self.exit_code = exit_code
        self._scope.cancel()
        if self.may_leave:
            asyncio.get_running_loop().call_later(GRACE, self._leave_early, exit_code)

    def leave_after(self, seconds: float, exit_code: int) -> None:
        """Leaves then, if the orderly end takes as long."""
        asyncio.get_running_loop().call_later(seconds, self.leave, exit_code)

    def leave(self, exit_code: int) -> None:
        """Performs the last acts and ends the process, without waiting for anything."""
        self._last_acts.perform()
        os._exit(exit_code)

    def _on_signal(self, number: signal.Signals) -> None:
        if number is signal.SIGINT and self.interrupt is not None:
            interrupt, self.interrupt = self.interrupt, None
            interrupt()
        elif self.on_end is not None:
            on_end, self.on_end = self.on_end, None
            on_end()
        elif self.exit_code is None:
            self.end(128 + number)
        elif number is signal.SIGINT:
            self.leave(self.exit_code)

    def _leave_early(self, exit_code: int) -> None:
        if self.may_leave:
            self.leave(exit_code)
