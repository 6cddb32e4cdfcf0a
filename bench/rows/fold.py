"""Folding 100,000 stored events, beside a bare read and decode of the same rows."""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import apsw
import msgspec

from bench.logs import fill
from bench.measure import Row, ratio_row
from planlog.agent.event import TYPES
from planlog.agent.nesting import NESTING
from planlog.log.event import Event, read_line
from planlog.log.projection import Projection
from planlog.log.sessions import Sessions
from planlog.log.store.sqlite import open_store
from planlog.log.vocabulary import Vocabulary

PAGE = 500


class Line(msgspec.Struct):
    """The peer's own envelope: what a bare reader has to know of an event to fold anything."""

    type: str
    seq: int
    time: int
    data: Any


def _count(state: int, event: Event) -> int:
    return state + 1 if event.type == "todo/write" else state


def measure(quick: bool) -> list[Row]:
    """Two rows: the fold alone, and with every page checked by the invariants."""
    return asyncio.run(_measure(5_000 if quick else 100_000, 3 if quick else 15))


async def _measure(events: int, blocks: int) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        async with open_store(home) as store:
            await fill(store, "s1", events, Path("/"))
            words = Vocabulary()
            with words.learn(*TYPES, rules=(NESTING,)):
                session = await Sessions(store, words).open("s1")
                connection = apsw.Connection(str(home / "planlog.db"), flags=apsw.SQLITE_OPEN_READONLY)
                [(key,)] = connection.execute("SELECT session FROM event LIMIT 1").fetchall()
                decoder = msgspec.json.Decoder(Line)
                taken: dict[str, list[float]] = {"bare": [], "fold": [], "checked": []}

                def bare() -> None:
                    start, count = 0, 0
                    query = "SELECT seq, line FROM event WHERE session=? AND seq>=? ORDER BY seq LIMIT ?"
                    while rows := connection.execute(query, (key, start, PAGE)).fetchall():
                        for _, line in rows:
                            if decoder.decode(line).type == "todo/write":
                                count += 1
                        start += len(rows)

                async def fold() -> None:
                    projection = Projection("count", 0, _count)
                    start, state = 0, 0
                    while lines := await store.read("s1", start):
                        state = projection.go_on(state, map(read_line, lines))
                        start += len(lines)

                async def checked() -> None:
                    state = NESTING.begin(None)
                    async for page in session.pages():
                        for event in page:
                            state = NESTING.advance(state, event, words.get(event.type))

                for block in range(blocks + 1):
                    for name in ("bare", "fold", "checked"):
                        begin = time.perf_counter()
                        bare() if name == "bare" else await (fold() if name == "fold" else checked())
                        if block:
                            taken[name].append(time.perf_counter() - begin)
                return [
                    ratio_row(f"fold of {events:,} stored events", taken, "fold", "bare", 1.3),
                    ratio_row(f"fold of {events:,} with invariants", taken, "checked", "bare", 2.0),
                ]
