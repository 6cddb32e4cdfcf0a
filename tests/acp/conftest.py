"""The real `planlog acp`, in a process of its own, with a client on its raw wire."""

import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.acceptance.conftest import House
from tests.acceptance.conftest import house as house
from tests.acp.wire import Permit, Wire, allow

Connect = Callable[..., Wire]


@pytest.fixture
def connect(house: House) -> Iterator[Connect]:
    """Starts `planlog acp` whose model gives these replies, and begins the connection; every line is judged."""
    wires: list[Wire] = []

    def start(
        *replies: dict[str, Any],
        options: tuple[str, ...] = (),
        permit: Permit | None = allow,
        initialize: bool = True,
        **more: Any,
    ) -> Wire:
        model = ("-m", house.script(*replies)) if replies else ()
        process = house.start("acp", *model, *options, stdin=subprocess.PIPE, **more)
        wires.append(wire := Wire(process, permit))
        if initialize:
            wire.initialize()
        return wire

    yield start
    for wire in wires:
        wire.stop()
