"""The agent's async tests run on a virtual clock: retries wait for seconds, the tests do not."""

from typing import Any

import pytest

from planlog.kernel.virtual_clock import VirtualLoop


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"loop_factory": VirtualLoop}
