"""The shell's async tests run on a clock that can be put forward, so that a time-out comes when a test says so."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest


class SkippingLoop(asyncio.SelectorEventLoop):
    """A loop on the real clock, `skipped` seconds ahead of it."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"loop_factory": SkippingLoop}


@pytest.fixture
def skip() -> Callable[[float], None]:
    """Puts the clock forward by so many seconds: all that should happen until then happens now."""

    def skip(seconds: float) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SkippingLoop)
        loop.skipped += seconds

    return skip
