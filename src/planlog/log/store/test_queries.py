"""What the database finds is what a plain list of rows would give."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.log.store import queries
from planlog.log.store.conftest import begun, rows
from planlog.log.store.memory import MemoryStore
from planlog.log.store.sqlite import SqliteStore, open_store

TYPES = ("a", "b", "c/d", "ü")
NAMES = st.sampled_from((*TYPES, "never"))


@given(
    st.lists(st.sampled_from(TYPES), max_size=30),
    st.integers(-2, 35),
    st.none() | st.frozensets(NAMES),
    st.integers(0, 40),
    st.lists(NAMES, max_size=4),
)
def test_both_stores_read_the_same(
    log: list[str], start: int, types: frozenset[str] | None, limit: int, wanted: list[str]
) -> None:
    async def compare(home: Path) -> None:
        memory = MemoryStore()
        async with open_store(home) as sqlite:
            for store in (memory, sqlite):
                for session in ("before", "s1", "s2"):
                    await store.append(session, rows(0, *log), lease=await begun(store, session))
            assert await sqlite.read("s1", start, types=types, limit=limit) == await memory.read(
                "s1", start, types=types, limit=limit
            )
            assert await sqlite.last_of("s1", wanted) == await memory.last_of("s1", wanted)
            assert await sqlite.types("s1") == await memory.types("s1") == set(log)
            assert await sqlite.record("s1") == await memory.record("s1")
            assert await sqlite.find("s") == await memory.find("s")

    with tempfile.TemporaryDirectory() as home:
        asyncio.run(compare(Path(home)))


async def test_a_page_of_many_types_is_in_order_too(on_disk: SqliteStore) -> None:
    names = [f"t{number % 100:02}" for number in range(250)]
    await on_disk.append("s1", rows(0, *names), lease=await begun(on_disk))
    wanted = frozenset(names) - {"t07"}
    expected = [f"{seq} {name}".encode() for seq, name in enumerate(names) if name != "t07"]
    assert await on_disk.read("s1", 0, types=wanted) == expected


async def test_a_page_of_long_lines_is_shorter(on_disk: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await on_disk.append("s1", rows(0, *"aaaaa"), lease=await begun(on_disk))
    monkeypatch.setattr(queries, "PAGE_BYTES", 5)
    for types in (None, frozenset("a")):
        assert await on_disk.read("s1", 0, types=types) == [b"0 a", b"1 a"]
        assert await on_disk.read("s1", 4, types=types) == [b"4 a"]
