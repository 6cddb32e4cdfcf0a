"""`await append` of 1.6 KB, beside a bare SQLite writer thread and a raw write with fdatasync."""

import asyncio
import os
import queue
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import apsw
import msgspec

from bench.measure import Row, micro, ratio_row
from planlog.log.projection import Projection
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store.sqlite import open_store
from planlog.log.vocabulary import EventType, Vocabulary

SIZE = 1_600
BLOCK = 25


class Blob(msgspec.Struct):
    """1.6 KB of text."""

    text: str


BLOB = EventType("bench/blob", Blob, feature="bench")
COUNT: Projection[int] = Projection("count", 0, lambda count, event: count + 1)


class BareWriter:
    """The peer: a thread that commits each line by itself in SQLite, and an event loop that waits for it."""

    def __init__(self, path: Path) -> None:
        self._jobs: queue.SimpleQueue[tuple[int, bytes, asyncio.Future[None]] | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._connection = apsw.Connection(str(path))
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=FULL")
        self._connection.execute("CREATE TABLE event(session, seq, line, PRIMARY KEY(session, seq))")
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    async def append(self, seq: int, line: bytes) -> None:
        future = self._loop.create_future()
        self._jobs.put((seq, line, future))
        await future

    def close(self) -> None:
        self._jobs.put(None)
        self._thread.join()
        self._connection.close()

    def _write(self) -> None:
        while (job := self._jobs.get()) is not None:
            seq, line, future = job
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("INSERT INTO event VALUES(1, ?, ?)", (seq, line))
            self._connection.execute("COMMIT")
            self._loop.call_soon_threadsafe(future.set_result, None)


def measure(quick: bool) -> list[Row]:
    """Two rows: one session alone, and 64 at once beside the raw rate of fdatasync."""
    return asyncio.run(_measure(3 if quick else 80, 5 if quick else 60))


async def _measure(blocks: int, rounds: int) -> list[Row]:
    with tempfile.TemporaryDirectory(dir=os.environ.get("PLANLOG_BENCH_DIR")) as folder:
        bare = BareWriter(Path(folder) / "bare.db")
        raw = os.open(Path(folder) / "raw", os.O_CREAT | os.O_WRONLY)
        line = b"x" * SIZE
        words = Vocabulary()
        async with open_store(Path(folder) / "home") as store:
            with words.learn(BLOB):
                sessions = Sessions(store, words)
                session = await sessions.create(Path("/"))
                async with session.lease():
                    await session.view(COUNT)

                    async def ours(n: int) -> None:
                        await session.append(BLOB.fact(Blob("x" * SIZE)))

                    async def peer(n: int) -> None:
                        await bare.append(n, line)

                    async def floor(n: int) -> None:
                        os.write(raw, line)
                        os.fdatasync(raw)

                    taken = await _turns({"append": ours, "bare writer": peer, "write+fdatasync": floor}, blocks)
                one = ratio_row(
                    "await append of 1.6 KB",
                    taken,
                    "append",
                    "bare writer",
                    1.3,
                    more=f"write+fdatasync {micro(taken['write+fdatasync'])}",
                )
                many = await _many(sessions, raw, line, rounds)
        bare.close()
        os.close(raw)
        return [one, many]


async def _many(sessions: Sessions, raw: int, line: bytes, rounds: int) -> Row:
    """64 sessions that append at once, each with its lease, a fold and one follower, for `rounds` appends each."""
    taken: dict[str, list[float]] = {"fdatasync": [], "append": []}
    async with AsyncExitStack() as stack:
        opened = [await sessions.create(Path("/")) for _ in range(64)]
        seen = 0

        async def follow(session: Session) -> None:
            nonlocal seen
            async for batch in session.follow():
                seen += len(batch)

        followers = [asyncio.ensure_future(follow(session)) for session in opened]
        for session in opened:
            await stack.enter_async_context(session.lease())
            await session.view(COUNT)
        for _ in range(rounds):
            begin = time.perf_counter()
            await asyncio.gather(*(session.append(BLOB.fact(Blob("x" * SIZE))) for session in opened))
            taken["append"].append((time.perf_counter() - begin) / 64)
            begin = time.perf_counter()
            for _ in range(16):
                os.write(raw, line)
                os.fdatasync(raw)
            taken["fdatasync"].append((time.perf_counter() - begin) / 16)
        await asyncio.sleep(0.05)
        for follower in followers:
            follower.cancel()
        await asyncio.gather(*followers, return_exceptions=True)
        assert seen == 64 * rounds, f"followers saw {seen} of {64 * rounds}"
    row = ratio_row("64 sessions at once, to the raw fdatasync rate", taken, "fdatasync", "append", 3.0, at_least=True)
    return row


async def _turns(calls: dict[str, Callable[[int], Awaitable[None]]], blocks: int) -> dict[str, list[float]]:
    """Medians of blocks of `BLOCK` calls, whose order turns; the first round of blocks is not counted."""
    names = list(calls)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for block in range(blocks + 1):
        for name in names[block % len(names) :] + names[: block % len(names)]:
            seconds = []
            for number in range(BLOCK):
                begin = time.perf_counter()
                await calls[name](block * BLOCK + number)
                seconds.append(time.perf_counter() - begin)
            if block:
                taken[name].append(statistics.median(seconds))
    return taken
