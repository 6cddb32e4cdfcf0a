"""Several processes that write flat out to one database: who gets how much, and how long an append takes.

Beside ours the same commits with SQLite's own busy handler. Prints each process's share and the p99, the longest stop
of an event loop, and how large the log grew.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import apsw
import msgspec

from planlog.log.store import Row, SessionRecord
from planlog.log.store.sqlite import open_store

LINE = b"x" * 1_600
SECONDS = 6.0


class Figures(msgspec.Struct):
    """What one process saw: seconds of each commit, and the longest time between two rounds of its loop."""

    seconds: list[float]
    stop: float = 0.0


async def write_ours(home: Path, name: str, until: float) -> Figures:
    figures = Figures([])

    async def tick() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.001)
            now = time.monotonic()
            figures.stop, last = max(figures.stop, now - last), now

    async with open_store(home) as store:
        await store.create(SessionRecord(name, 1, "/", b"h"))
        lease = await store.acquire(name)
        ticking = asyncio.ensure_future(tick())
        seq = 0
        while time.time() < until:
            begin = time.perf_counter()
            await store.append(name, [Row(seq, "a/b", 5, LINE)], lease=lease)
            figures.seconds.append(time.perf_counter() - begin)
            seq += 1
        ticking.cancel()
    return figures


def write_with_handler(home: Path, name: str, until: float) -> Figures:
    connection = apsw.Connection(str(home / "handler.db"))
    connection.set_busy_timeout(10_000)
    connection.execute("PRAGMA synchronous=FULL")
    figures = Figures([])
    while time.time() < until:
        begin = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO event VALUES(?, ?, ?)", (name, len(figures.seconds), LINE))
        connection.execute("COMMIT")
        figures.seconds.append(time.perf_counter() - begin)
    return figures


def child(way: str, home: Path, name: str, start: float) -> None:
    time.sleep(max(0.0, start - time.time()))
    until = start + SECONDS
    figures = asyncio.run(write_ours(home, name, until)) if way == "ours" else write_with_handler(home, name, until)
    sys.stdout.buffer.write(msgspec.json.encode(figures))


def measure(way: str, processes: int) -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLANLOG_BENCH_DIR")) as folder:
        # The handler does not wait where several make a database at once, so that is done for it.
        connection = apsw.Connection(str(Path(folder) / "handler.db"))
        connection.pragma("journal_mode", "wal")
        connection.execute("CREATE TABLE event(session, seq, line, PRIMARY KEY(session, seq))")
        connection.close()
        start = time.time() + 1.5
        command = [sys.executable, "-m", "bench.experiments.store_writers", way, folder]
        running = [
            subprocess.Popen([*command, f"w{number}", str(start)], stdout=subprocess.PIPE)
            for number in range(processes)
        ]
        log = Path(folder) / ("planlog.db-wal" if way == "ours" else "handler.db-wal")
        largest = 0
        while time.time() < start + SECONDS:
            time.sleep(0.1)
            largest = max(largest, log.stat().st_size if log.exists() else 0)
        found = [msgspec.json.decode(process.communicate()[0], type=Figures) for process in running]
    total = sum(len(figures.seconds) for figures in found)
    shares = sorted(len(figures.seconds) / total for figures in found)
    p99 = max(sorted(figures.seconds)[len(figures.seconds) * 99 // 100] for figures in found)
    slowest = max(max(figures.seconds) for figures in found)
    stop = max(figures.stop for figures in found)
    print(
        f"{way:8} {processes} processes {total / SECONDS:6.0f}/s  shares {' '.join(f'{share:.0%}' for share in shares)}"
        f"  p99 {p99 * 1e3:.1f} ms  max {slowest * 1e3:.0f} ms  loop stopped {stop * 1e3:.0f} ms"
        f"  log {largest / 1e6:.1f} MB",
        flush=True,
    )


def main() -> None:
    if len(sys.argv) > 1:
        child(sys.argv[1], Path(sys.argv[2]), sys.argv[3], float(sys.argv[4]))
        return
    for _ in range(2):
        for way in ("ours", "handler"):
            measure(way, 4)
    measure("ours", 8)


if __name__ == "__main__":
    main()
