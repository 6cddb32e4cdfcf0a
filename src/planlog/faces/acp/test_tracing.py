import os
import time

import pytest

from planlog.faces.acp import tracing
from planlog.faces.acp.tracing import trace


def test_a_trace_waits_for_nobody_who_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    filled = 0
    while True:
        try:
            filled += os.write(writing, b"x" * 4096)
        except BlockingIOError:
            break
    os.set_blocking(writing, True)
    monkeypatch.setattr(tracing, "STDERR", writing)
    try:
        raise ValueError("it broke")
    except ValueError:
        trace()  # would never return if it waited
    said, deadline = b"", time.monotonic() + 10
    while b"ValueError: it broke" not in said and time.monotonic() < deadline:
        said += os.read(reading, 1 << 16)
    assert said.startswith(b"x" * filled)
    assert said.endswith(b"ValueError: it broke\n")
    os.close(reading)
    os.close(writing)
