"""grep over 100,000 small files beside `rg` itself, what the event loop feels of it, and five calls side by side."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import anyio

from bench.measure import Row, interleaved, ratio, ratio_row
from planlog.features.search.grep import GREP
from planlog.features.search.request import Request
from planlog.features.search.ripgrep import command, find_ripgrep
from planlog.features.search.searching import search
from planlog.tools.call import run_call
from planlog.tools.tool import Execution, Tools

FILES = 100_000
MEMORY = Path("/dev/shm")
"""Where making so many files takes seconds and not minutes; searching them is as fast as in a warm cache."""
ROOM = 1 << 30
"""Bytes that the tree may take in memory, at most."""
PATTERN = r"def needle_\d+"
LINES = "".join(f"line {n} of a file that is like many others\n" for n in range(20))
SMALL = ["d0/f0.py", "d1/f100.py", "d2/f200.py", "d3/f300.py"]


def measure(quick: bool) -> list[Row]:
    """Three rows: the ratio to rg, the longest stall of the loop meanwhile, five calls beside the slowest alone."""
    with tempfile.TemporaryDirectory(dir=_in_memory()) as folder:
        root = Path(folder)
        _plant(root, FILES // 20 if quick else FILES)
        rg = find_ripgrep(root)
        assert rg, "the extra is not installed"
        return [*_beside_rg(root, rg, 3 if quick else 4), _stall(root), _side_by_side(root, 2 if quick else 3)]


def _in_memory() -> str | None:
    """A folder with room that no disk has to write, if there is one: the tree takes longer to make than to search."""
    try:
        there = os.statvfs("/dev/shm")
    except OSError:
        return None
    return "/dev/shm" if there.f_bavail * there.f_frsize > ROOM and there.f_favail > 2 * FILES else None


def _plant(root: Path, files: int) -> None:
    (root / ".git").mkdir()
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    for first in range(0, files, 100):
        folder = root / f"d{first // 100 % 100}" / ("deep/" * (first // 100 % 3)) / f"e{first // 10_000}"
        flat = root / f"d{first // 100 % 100}"
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(first, first + 100):
            found = f"def needle_{number}():\n" if number % 1000 == 0 else ""
            name = "log" if number % 10 == 9 else "py"
            place = flat if number % 100 == 0 else folder
            descriptor = os.open(place / f"f{number}.{name}", os.O_WRONLY | os.O_CREAT)
            os.write(descriptor, (LINES + found).encode())
            os.close(descriptor)


async def _call(root: Path, **arguments: Any) -> str:
    tools = Tools()
    with tools.add(GREP):
        return (await run_call(tools, "grep", json.dumps(arguments), Execution("c", None, root))).text


def _timed(work: Callable[[], Coroutine[Any, Any, Any]]) -> Callable[[], float]:
    async def call() -> float:
        begin = time.perf_counter()
        await work()
        return time.perf_counter() - begin

    return lambda: anyio.run(call)


def _beside_rg(root: Path, rg: str, blocks: int) -> list[Row]:
    line = command(rg, Request(pattern=PATTERN))

    def bare() -> float:
        begin = time.perf_counter()
        done = subprocess.run(line, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True)
        assert b"needle_0" in done.stdout
        return time.perf_counter() - begin

    taken = interleaved({"grep": _timed(lambda: _call(root, pattern=PATTERN)), "rg": bare}, blocks)
    without = _without_ripgrep(root) / sorted(taken["rg"])[len(taken["rg"]) // 2]
    more = f"without ripgrep × {without:.1f}"
    return [ratio_row("grep in 100,000 small files", taken, "grep", "rg", 2, more=more)]


def _without_ripgrep(root: Path) -> float:
    """Seconds of one search by the other engine: with rg on no path, from the interpreter's own folder."""
    own, path = sys.executable, os.environ.get("PATH", "")
    sys.executable, os.environ["PATH"] = os.path.realpath(own), ""
    try:
        assert find_ripgrep(root) is None
        begin = time.perf_counter()
        search(root, ".", Request(pattern=PATTERN), lambda data: True, lambda: False)
        return time.perf_counter() - begin
    finally:
        sys.executable, os.environ["PATH"] = own, path


def _stall(root: Path) -> Row:
    stalls: list[float] = []

    async def watch() -> None:
        while True:
            begin = time.perf_counter()
            await anyio.sleep(0.005)
            stalls.append((time.perf_counter() - begin - 0.005) * 1000)

    async def work() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            await _call(root, pattern=PATTERN)
            await _call(root, pattern="line")  # many lines: stops at the bound
            group.cancel_scope.cancel()

    anyio.run(work)
    detail = f"{len(stalls)} looks, median {sorted(stalls)[len(stalls) // 2]:.2f} ms"
    return Row("the loop's longest stall during two searches", max(stalls), 50, "ms", detail, {"stalls": stalls})


def _side_by_side(root: Path, blocks: int) -> Row:
    async def five() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: _call(root, pattern=PATTERN))
            for path in SMALL:
                group.start_soon(lambda path: _call(root, pattern="line 3", path=path), path)

    alone = _timed(lambda: _call(root, pattern=PATTERN))
    taken = interleaved({"five": _timed(five), "slowest": alone}, blocks)
    middle = ratio(taken, "five", "slowest")[1]
    figures = ", ".join(f"{name} {sorted(all_)[len(all_) // 2] * 1000:.0f} ms" for name, all_ in taken.items())
    return Row("five searches at once, beside the slowest alone", middle, 1.5, "×", figures, dict(taken))
