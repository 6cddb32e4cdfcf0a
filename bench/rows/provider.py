"""How long `planlog run` takes from its start until its request is at the provider, for each dialect."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.provider import Provider, Reply
from tests.wire.says import DIALECTS, SETTINGS, Dialect, environment, reply

from bench.measure import Row, interleaved


def measure(quick: bool) -> list[Row]:
    """A row a dialect, in milliseconds; the bare interpreter beside it."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for dialect in DIALECTS:
            with Provider([Reply(reply(dialect, "Yes."))]).in_thread() as provider:
                calls = {"run": _run(dialect, provider, folder), "pass": _pass}
                taken = interleaved(calls, 5 if quick else 25)
            runs = [seconds * 1000 for seconds in taken["run"]]
            low, middle, high = statistics.quantiles(runs, n=4)
            bare = statistics.median(taken["pass"]) * 1000
            detail = f"python -c pass {bare:.1f} ms, quartiles {low:.1f} to {high:.1f}"
            rows.append(Row(f"run to the provider's socket ({dialect})", middle, 400.0, "ms", detail, {"ms": runs}))
    return rows


def _run(dialect: Dialect, provider: Provider, folder: str) -> Callable[[], float]:
    program = str(Path(sys.executable).with_name("planlog"))
    env = {"PATH": os.environ["PATH"], "PLANLOG_HOME": folder, **environment(dialect, provider.url)}

    def call() -> float:
        start = time.monotonic()
        command = [program, "run", "-m", SETTINGS[dialect][0], "-C", folder, "hi"]
        subprocess.run(command, env=env, capture_output=True, check=True, timeout=60)
        return provider.asked[-1].time - start

    return call


def _pass() -> float:
    start = time.monotonic()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    return time.monotonic() - start
