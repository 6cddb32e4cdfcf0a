"""What it costs to start: --version, --help and the import of the core over `python -c pass`, and an editor's hello."""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bench.measure import Row, interleaved

CORE = (
    "import planlog.kernel.scope, planlog.kernel.features, planlog.log.sessions, planlog.log.store.sqlite, "
    "planlog.tools.call, planlog.agent.agent, planlog.model.scripted"
)
HELLO = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'


def measure(quick: bool) -> list[Row]:
    """Three rows in milliseconds over the bare interpreter, and one from the start until an editor is answered."""
    program = str(Path(sys.executable).with_name("planlog"))
    commands = {
        "pass": [sys.executable, "-c", "pass"],
        "--version": [program, "--version"],
        "--help": [program, "--help"],
        "core": [sys.executable, "-c", CORE],
    }
    calls = {name: _run(command) for name, command in commands.items()}
    calls["acp"] = _greeted([program, "acp"])
    taken = interleaved(calls, 5 if quick else 31)
    rows = []
    for name, title, bar in (
        ("--version", "planlog --version over pass", 20.0),
        ("--help", "planlog --help over pass", 80.0),
        ("core", "import of the core over pass", 130.0),
    ):
        over = [(a - b) * 1000 for a, b in zip(taken[name], taken["pass"], strict=True)]
        low, middle, high = statistics.quantiles(over, n=4)
        detail = f"pass {statistics.median(taken['pass']) * 1000:.1f} ms, quartiles {low:.1f} to {high:.1f}"
        rows.append(Row(title, middle, bar, "ms", detail, {"over_ms": over}))
    low, middle, high = statistics.quantiles([seconds * 1000 for seconds in taken["acp"]], n=4)
    detail = f"pass {statistics.median(taken['pass']) * 1000:.1f} ms, quartiles {low:.1f} to {high:.1f}"
    rows.append(Row("planlog acp until initialize is answered", middle, 300.0, "ms", detail, {"ms": taken["acp"]}))
    return rows


def _greeted(command: list[str]) -> Callable[[], float]:
    def call() -> float:
        start = time.perf_counter()
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(HELLO)
            process.stdin.flush()
            process.stdout.readline()
            taken = time.perf_counter() - start
            process.stdin.close()
            assert process.wait(20) == 0
        return taken

    return call


def _run(command: list[str]) -> Callable[[], float]:
    def call() -> float:
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    return call
