"""Async tests of models run on a virtual clock: a slow reply costs them no time."""

from typing import Any

import pytest

from planlog.kernel.virtual_clock import VirtualLoop


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"loop_factory": VirtualLoop}
