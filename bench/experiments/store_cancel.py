"""What becomes of appends whose task is cancelled at any moment, by asyncio's own way and by anyio's.

Each task appends and, once it knows, writes that down. A row that is on the disk without having been written down, or
the other way round, would be a lie; prints how many there are, and what being shielded costs.
"""

import asyncio
import os
import random
import tempfile
import time
from pathlib import Path

import anyio

from planlog.log.store import Lease, Row, SessionRecord
from planlog.log.store.outcome import Outcome, known
from planlog.log.store.sqlite import SqliteStore, open_store

ROUNDS = 2_000


async def append(store: SqliteStore, lease: Lease, seqs: list[int]) -> None:
    await store.append("s", [Row(len(seqs), "a", 5, b"x" * 1_600)], lease=lease)
    seqs.append(len(seqs))
    await asyncio.sleep(0)


async def main() -> None:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLANLOG_BENCH_DIR")) as folder:
        for way in ("Task.cancel", "anyio scope"):
            async with open_store(Path(folder) / way) as store:
                await store.create(SessionRecord("s", 1, "/", b"h"))
                lease = await store.acquire("s")
                seqs: list[int] = []
                stopped = 0
                for _ in range(ROUNDS):
                    pause = random.uniform(0, 0.0004)
                    if way == "Task.cancel":
                        task = asyncio.ensure_future(append(store, lease, seqs))
                        await asyncio.sleep(pause)
                        task.cancel()
                        stopped += isinstance((await asyncio.gather(task, return_exceptions=True))[0], BaseException)
                    else:
                        with anyio.move_on_after(pause) as scope:
                            await append(store, lease, seqs)
                        stopped += scope.cancelled_caught
                on_disk = (await store.record("s")).head
                print(f"{way}: {ROUNDS} appends, {stopped} tasks stopped, {on_disk} rows, {len(seqs)} known")
                assert on_disk == len(seqs)
    await cost()


async def cost() -> None:
    """Microseconds of waiting for a future that is done in the next round of the loop."""
    loop = asyncio.get_running_loop()

    async def plain() -> None:
        future = loop.create_future()
        loop.call_soon(future.set_result, None)
        await future

    async def shielded() -> None:
        outcome: Outcome[None] = Outcome(loop=loop)
        await known(outcome, lambda: loop.call_soon(outcome.set_result, None) and None)

    for call in (plain, shielded, plain, shielded):
        begin = time.perf_counter()
        for _ in range(20_000):
            await call()
        print(f"{call.__name__}: {(time.perf_counter() - begin) / 20_000 * 1e6:.1f} µs")


if __name__ == "__main__":
    asyncio.run(main())
