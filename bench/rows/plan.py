"""The standing plan of one session, store open: the same for a long log and a short one."""

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from bench.logs import fill
from bench.measure import Row, micro, ratio
from planlog.features.todo.fold import TODOS
from planlog.log.session import Session
from planlog.log.store.sqlite import open_store
from planlog.log.vocabulary import Vocabulary


def measure(quick: bool) -> list[Row]:
    """Two rows: milliseconds at a million events, and its ratio to a thousand."""
    return asyncio.run(_measure(20_000 if quick else 1_000_000, 50 if quick else 2_000))


async def _measure(long: int, blocks: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_store(Path(folder) / "home") as store:
            await fill(store, "short", 1_000, Path("/"))
            await fill(store, "long", long, Path("/"))
            records = {name: await store.record(name) for name in ("short", "long")}
            taken: dict[str, list[float]] = {"short": [], "long": []}
            for block in range(blocks):
                for name in ("short", "long") if block % 2 else ("long", "short"):
                    session = Session(store, Vocabulary(), records[name], lambda: 0)
                    begin = time.perf_counter()
                    await session.view(TODOS)
                    taken[name].append(time.perf_counter() - begin)
            low, middle, high = ratio(taken, "long", "short")
            detail = f"{long:,} events {micro(taken['long'])}, 1,000 events {micro(taken['short'])}"
            return [
                Row(
                    f"standing plan at {long:,} events",
                    statistics.median(taken["long"]) * 1000,
                    0.5,
                    "ms",
                    detail,
                    taken,
                ),
                Row("the same, to 1,000 events", middle, 1.2, "×", f"quartiles {low:.2f} to {high:.2f}"),
            ]
