import subprocess
import sys
import threading
from typing import NoReturn

import anyio
import pytest

from planlog.tools.thread import Stopped, in_thread


async def test_work_in_a_thread_gives_what_it_returns_or_raises() -> None:
    def fails(stopped: Stopped) -> NoReturn:
        raise ValueError("no luck")

    assert await in_thread(lambda stopped: threading.current_thread().daemon) is True
    with pytest.raises(ValueError, match="no luck"):
        await in_thread(fails)


async def test_work_that_was_cancelled_is_told_so_and_left_alone() -> None:
    release, left = threading.Event(), threading.Event()

    def stubborn(stopped: Stopped) -> None:
        release.wait(20)
        if stopped():
            left.set()

    with anyio.CancelScope() as scope:
        scope.cancel()
        await in_thread(stubborn)
        raise AssertionError("the cancel got lost")
    assert not left.is_set()
    release.set()
    assert left.wait(20)


async def test_work_that_finishes_in_spite_of_a_cancel_keeps_its_result() -> None:
    def quick(stopped: Stopped) -> str:
        while not stopped():
            pass
        return "done"

    result = ""
    with anyio.CancelScope() as scope:
        scope.cancel()
        result = await in_thread(quick)
        await anyio.lowlevel.checkpoint()
        raise AssertionError("the cancel got lost")
    assert result == "done"


async def test_work_that_fails_because_it_was_cancelled_is_a_cancel() -> None:
    def gives_up(stopped: Stopped) -> NoReturn:
        while not stopped():
            pass
        raise ValueError("stopped")

    with anyio.CancelScope() as scope:
        scope.cancel()
        await in_thread(gives_up)
        raise AssertionError("the cancel got lost")


def test_a_program_ends_without_waiting_for_such_work() -> None:
    program = """
import anyio, threading
from planlog.tools.thread import in_thread
async def main():
    with anyio.move_on_after(0):
        await in_thread(lambda stopped: threading.Event().wait())
anyio.run(main)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=20, check=False).returncode == 0
