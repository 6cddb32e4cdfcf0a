"""What an append of 1.6 KB costs: on the writer's thread, inline on the event loop, beside a bare thread and the disk.

Prints medians of pairs, the rate of 64 sessions at once, and how long a commit on the loop would have stopped it.
"""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import quantiles

from bench.rows.append import BareWriter
from planlog.log.store import Lease, Row, SessionRecord, queries
from planlog.log.store.database import open_database
from planlog.log.store.patience import Patience, Wait
from planlog.log.store.sqlite import SqliteStore, open_store

LINE = b"x" * 1_600
ROUNDS = 3_000


class Inline:
    """The alternative: the same transaction, committed by the event loop itself."""

    def __init__(self, home: Path) -> None:
        database = open_database(home, Wait(home, Patience(), print))
        assert database.writer is not None
        self._connection = database.writer
        queries.create(self._connection, SessionRecord("s", 1, "/", b"h"))

    async def append(self, seq: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        queries.append(self._connection, "s", 1, [Row(seq, "a/b", 5, LINE)], 0, ())
        self._connection.execute("COMMIT")


def micro(seconds: float) -> str:
    return f"{seconds * 1e6:9.0f}"


async def alone(calls: dict[str, Callable[[int], Awaitable[None]]]) -> None:
    """One append at a time, of each kind in turn."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for seq in range(ROUNDS):
        for name, call in calls.items():
            begin = time.perf_counter()
            await call(seq)
            taken[name].append(time.perf_counter() - begin)
    print(
        f"{'one at a time, µs':22}{'p25':>9}{'p50':>9}{'p75':>9}{'p99':>9}{'p99.9':>9}{'max':>9}   × bare (quartiles)"
    )
    for name, seconds in taken.items():
        cuts = quantiles(seconds, n=1000)
        low, middle, high = quantiles([a / b for a, b in zip(seconds, taken["bare thread"], strict=True)], n=4)
        figures = [cuts[249], cuts[499], cuts[749], cuts[989], cuts[998], max(seconds)]
        print(f"{name:22}{''.join(map(micro, figures))}   {middle:.2f} ({low:.2f} to {high:.2f})")


async def together(store: SqliteStore, raw: Callable[[int], Awaitable[None]]) -> None:
    """64 sessions that append at once, and the raw rate, in turn."""
    leases: dict[str, Lease] = {}
    for number in range(64):
        await store.create(SessionRecord(f"m{number}", 1, "/", b"h"))
        leases[f"m{number}"] = await store.acquire(f"m{number}")
    ratios: list[float] = []
    for seq in range(60):
        begin = time.perf_counter()
        await asyncio.gather(
            *(store.append(name, [Row(seq, "a/b", 5, LINE)], lease=lease) for name, lease in leases.items())
        )
        each = (time.perf_counter() - begin) / 64
        begin = time.perf_counter()
        for number in range(16):
            await raw(number)
        ratios.append((time.perf_counter() - begin) / 16 / each)
    low, middle, high = quantiles(ratios, n=4)
    print(f"64 sessions at once: {middle:.1f} × the rate of write and fdatasync ({low:.1f} to {high:.1f})")
    for lease in leases.values():
        await lease.release()


async def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLANLOG_BENCH_DIR")) as folder:
        bare, inline = BareWriter(Path(folder) / "bare.db"), Inline(Path(folder) / "inline")
        file = os.open(Path(folder) / "raw", os.O_CREAT | os.O_WRONLY)

        async def raw(_: int) -> None:
            os.write(file, LINE)
            os.fdatasync(file)

        async with open_store(Path(folder) / "home") as store:
            await store.create(SessionRecord("s", 1, "/", b"h"))
            lease = await store.acquire("s")

            async def ours(seq: int) -> None:
                await store.append("s", [Row(seq, "a/b", 5, LINE)], lease=lease)

            await alone(
                {
                    "store.append": ours,
                    "inline on the loop": inline.append,
                    "bare thread": lambda seq: bare.append(seq, LINE),
                    "write and fdatasync": raw,
                }
            )
            await together(store, raw)
        bare.close()
        os.close(file)


if __name__ == "__main__":
    asyncio.run(main())
