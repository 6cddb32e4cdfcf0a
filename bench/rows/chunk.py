"""A streamed chunk through loop, log and one face: CPU of whole runs, a long answer beside a short one."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import Row
from planlog.model.scripted import PIECE


def measure(quick: bool) -> list[Row]:
    """One row, in microseconds of user and system time per chunk."""
    chunks, blocks = (2_000, 3) if quick else (20_000, 11)
    words = ("A line of an answer as models write them, one after the other.\n" * (chunks * PIECE // 64 + 1))[
        : chunks * PIECE
    ]
    with tempfile.TemporaryDirectory() as folder:
        long, short = Path(folder) / "long.jsonl", Path(folder) / "short.jsonl"
        long.write_text(json.dumps({"text": words}) + "\n")
        short.write_text(json.dumps({"text": "Short."}) + "\n")
        costs = [(_seconds(long, folder) - _seconds(short, folder)) / chunks * 1e6 for _ in range(blocks)]
    low, middle, high = statistics.quantiles(costs, n=4, method="inclusive")
    detail = f"{chunks:,} chunks of {PIECE} characters, stdio to a pipe, quartiles {low:.1f} to {high:.1f}"
    return [Row("a streamed chunk through loop, log and stdio", middle, 40, "µs", detail, {"per_chunk_us": costs})]


def _seconds(script: Path, folder: str) -> float:
    """CPU seconds of one run."""
    options = ["--home", f"{folder}/home", "-C", folder, "-m", f"script:{script}"]
    run = subprocess.Popen(
        [sys.executable, "-m", "planlog", "run", *options, "go"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert run.stdout is not None
    while run.stdout.read(65536):
        pass
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise RuntimeError(f"planlog run ended with {run.returncode}")
    return usage.ru_utime + usage.ru_stime
