"""Every store keeps the same promises."""

import asyncio

import anyio
import pytest

from planlog.log.store import (
    ClaimGone,
    Command,
    HeadMoved,
    LeaseLost,
    Row,
    SessionBusy,
    SessionUnknown,
    Store,
    StoreError,
)
from planlog.log.store.conftest import begun, record, rows


def prompt(command: str) -> Command:
    return Command(command, "prompt", b'{"text":"go"}', 5)


async def test_a_new_session_is_empty_and_as_old_as_its_last_activity(store: Store) -> None:
    await store.create(record("s1", created_at=7))
    kept = await store.record("s1")
    assert (kept.id, kept.created_at, kept.cwd, kept.head, kept.updated_at) == ("s1", 7, "/work", 0, 7)
    assert kept.header == record("s1").header
    assert await store.read("s1", 0) == []
    assert await store.types("s1") == set()
    assert await store.last_of("s1", ["a"]) is None


async def test_an_id_is_given_once(store: Store) -> None:
    await store.create(record("s1", created_at=7))
    with pytest.raises(StoreError, match='session "s1" exists already'):
        await store.create(record("s1", created_at=8))
    assert (await store.record("s1")).created_at == 7


async def test_a_session_that_is_being_made_is_seen_by_nobody_until_it_has_its_name(store: Store) -> None:
    lease = await begun(store, ".s1")
    await store.append(".s1", rows(0, "a", "b"), lease=lease)
    assert await store.find("") == []
    await store.create(record("s2"))
    with pytest.raises(StoreError, match='session "s2" exists already'):
        await store.rename(".s1", "s2")
    await store.rename(".s1", "s1")
    await lease.release()
    assert [kept.id for kept in await store.find("s1")] == ["s1"]
    assert await store.read("s1", 0) == [row.line for row in rows(0, "a", "b")]
    with pytest.raises(SessionUnknown):
        await store.read(".s1", 0)


async def test_a_deleted_session_is_gone_and_a_new_one_of_its_name_is_empty(store: Store) -> None:
    lease = await begun(store)
    await store.append("s1", rows(0, *["a"] * 1300), lease=lease)
    await store.send("s1", prompt("c1"))
    await store.delete("s1")
    await store.delete("s1")
    assert await store.find("") == []
    await store.create(record("s1"))
    assert (await store.record("s1")).head == 0
    assert await store.commands("s1") == []
    with pytest.raises((LeaseLost, SessionUnknown)):
        await store.append("s1", rows(0, "a"), lease=lease)


async def test_no_answer_about_a_session_that_nobody_made(store: Store) -> None:
    lease = await begun(store)
    for call in (
        store.record("s2"),
        store.append("s2", rows(0, "a"), lease=lease),
        store.read("s2", 0),
        store.last_of("s2", ["a"]),
        store.types("s2"),
        store.send("s2", prompt("c1")),
        store.commands("s2"),
        store.withdraw("s2", "c1"),
        store.acquire("s2"),
        store.owner("s2"),
        store.rename("s2", "s3"),
    ):
        with pytest.raises(SessionUnknown, match='no session "s2"'):
            await call


async def test_what_was_appended_is_read_back_byte_for_byte(store: Store) -> None:
    lease = await begun(store)
    line = '{"type":"a","data":{"b" : 1.0e2, "ü\u2028":"\\ud83d"}}'.encode()
    await store.append("s1", [Row(0, "a", 5, line), Row(1, "b", 4, b"")], lease=lease)
    assert await store.read("s1", 0) == [line, b""]
    kept = await store.record("s1")
    assert (kept.head, kept.updated_at) == (2, 4)


async def test_the_log_is_read_by_page_and_by_type(store: Store) -> None:
    lease = await begun(store)
    await store.append("s1", rows(0, "a", "b", "a", "c", "a"), lease=lease)
    assert await store.read("s1", 1, limit=2) == [b"1 b", b"2 a"]
    assert await store.read("s1", 1, types=frozenset("ac"), limit=2) == [b"2 a", b"3 c"]
    assert await store.read("s1", 3, types=frozenset("b")) == []
    assert await store.read("s1", 0, types=frozenset()) == []
    assert await store.read("s1", 5) == []
    assert await store.last_of("s1", ["b", "c"]) == b"3 c"
    assert await store.last_of("s1", ["b", "z"]) == b"1 b"
    assert await store.last_of("s1", []) is None
    assert await store.types("s1") == {"a", "b", "c"}


async def test_an_append_goes_where_the_log_ends_and_nowhere_else(store: Store) -> None:
    lease = await begun(store)
    await store.append("s1", rows(0, "a", "b"), lease=lease)
    for start in (1, 3):
        with pytest.raises(HeadMoved, match=f"session s1 has grown: the next event is seq 2, not {start}"):
            await store.append("s1", rows(start, "z"), lease=lease)
    with pytest.raises(ValueError, match="not contiguous"):
        await store.append("s1", [*rows(2, "z"), *rows(4, "z")], lease=lease)
    assert await store.read("s1", 0) == [b"0 a", b"1 b"]


async def test_sessions_do_not_mix(store: Store) -> None:
    first, second = await begun(store, "s1"), await begun(store, "s2")
    for n in range(3):
        await store.append("s1", rows(n, "a"), lease=first)
        await store.append("s2", rows(n, "b"), lease=second)
    assert await store.read("s1", 0) == [b"0 a", b"1 a", b"2 a"]
    assert await store.types("s2") == {"b"}


async def test_the_rows_are_those_of_the_moment_of_the_call(store: Store) -> None:
    lease = await begun(store)
    mine = rows(0, "a")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: store.append("s1", mine, lease=lease))
        await asyncio.sleep(0)
        mine.clear()
    assert await store.read("s1", 0) == [b"0 a"]


async def test_sessions_are_found_by_prefix_and_the_last_active_comes_first(store: Store) -> None:
    for number, session in enumerate(("ab", "abc", "b", "abd")):
        await store.create(record(session, created_at=number))
    await store.append("ab", rows(0, "a", time=50), lease=await store.acquire("ab"))
    assert [kept.id for kept in await store.find("ab")] == ["ab", "abd", "abc"]
    assert [kept.id for kept in await store.find("")] == ["ab", "abd", "b", "abc"]
    assert await store.find("ABC") == []
    assert await store.find("%") == []


async def test_every_one_of_many_sessions_is_listed(store: Store) -> None:
    async with anyio.create_task_group() as tasks:
        for number in range(450):
            tasks.start_soon(store.create, record(f"s{number:03}", created_at=number))
    assert [kept.id for kept in await store.find("s")] == [f"s{number:03}" for number in reversed(range(450))]


async def test_one_holder_runs_a_session_and_the_next_gets_a_newer_epoch(store: Store) -> None:
    first = await begun(store)
    with pytest.raises(SessionBusy, match="session s1 is being run by process") as refused:
        await store.acquire("s1")
    assert refused.value.owner is not None
    assert refused.value.owner == await store.owner("s1")
    await first.release()
    await first.release()
    assert await store.owner("s1") is None
    second = await store.acquire("s1")
    assert second.epoch > first.epoch
    assert (first.session, second.session) == ("s1", "s1")
    await first.release()
    with pytest.raises(SessionBusy):
        await store.acquire("s1")


async def test_a_writer_that_was_replaced_writes_nothing_more(store: Store) -> None:
    old = await begun(store)
    await old.release()
    await store.send("s1", prompt("c1"))
    new = await store.acquire("s1")
    with pytest.raises(LeaseLost, match="session s1 was taken over"):
        await store.append("s1", rows(0, "old"), lease=old, claims=["c1"])
    assert [command.id for command in await store.commands("s1")] == ["c1"]
    await store.append("s1", rows(0, "new"), lease=new)
    assert await store.read("s1", 0) == [b"0 new"]


async def test_a_command_waits_until_it_is_claimed_by_the_append_that_logs_it(store: Store) -> None:
    lease = await begun(store)
    for command in ("c2", "c1", "c3"):
        await store.send("s1", prompt(command))
    assert await store.commands("s1") == [prompt("c2"), prompt("c1"), prompt("c3")]
    await store.append("s1", rows(0, "a"), lease=lease, claims=["c1", "c2"])
    assert await store.commands("s1") == [prompt("c3")]


async def test_a_command_that_is_gone_refuses_the_append_that_claims_it(store: Store) -> None:
    lease = await begun(store)
    await store.send("s1", prompt("c1"))
    await store.send("s1", prompt("c2"))
    assert await store.withdraw("s1", "c1")
    with pytest.raises(ClaimGone, match="command c1 is gone"):
        await store.append("s1", rows(0, "a"), lease=lease, claims=["c2", "c1"])
    assert await store.commands("s1") == [prompt("c2")]
    assert await store.read("s1", 0) == []


async def test_a_claimed_command_cannot_be_withdrawn(store: Store) -> None:
    lease = await begun(store)
    await store.send("s1", prompt("c1"))
    await store.append("s1", rows(0, "a"), lease=lease, claims=["c1"])
    assert not await store.withdraw("s1", "c1")
    assert not await store.withdraw("s1", "never sent")


async def test_a_command_is_sent_once(store: Store) -> None:
    await begun(store)
    await store.send("s1", prompt("c1"))
    with pytest.raises(StoreError, match='session s1 has a command "c1" waiting already'):
        await store.send("s1", prompt("c1"))
    assert await store.commands("s1") == [prompt("c1")]


async def test_the_version_differs_after_each_commit_and_only_then(store: Store) -> None:
    seen = [store.version()]
    lease = await begun(store)
    seen.append(store.version())
    await store.append("s1", rows(0, "a"), lease=lease)
    seen.append(store.version())
    await store.send("s1", prompt("c1"))
    seen.append(store.version())
    await store.withdraw("s1", "c1")
    seen.append(store.version())
    assert len(set(seen)) == len(seen)
    await store.read("s1", 0)
    await store.find("")
    with pytest.raises(HeadMoved):
        await store.append("s1", rows(7, "a"), lease=lease)
    assert store.version() == seen[-1]


async def test_a_refused_append_does_not_harm_those_that_are_committed_with_it(store: Store) -> None:
    leases = [await begun(store, f"s{number}") for number in range(20)]
    refused: list[str] = []

    async def write(number: int) -> None:
        try:
            await store.append(f"s{number}", rows(number % 2, "a"), lease=leases[number])
        except HeadMoved:
            refused.append(f"s{number}")

    async with anyio.create_task_group() as tasks:
        for number in range(20):
            tasks.start_soon(write, number)
    assert sorted(refused) == sorted(f"s{number}" for number in range(1, 20, 2))
    assert [len(await store.read(f"s{number}", 0)) for number in range(20)] == [1, 0] * 10


async def test_of_two_appends_for_one_place_exactly_one_is_kept(store: Store) -> None:
    lease = await begun(store)
    outcomes = await asyncio.gather(
        *(store.append("s1", rows(0, name), lease=lease) for name in "abc"), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes].count(HeadMoved) == 2
    assert len(await store.read("s1", 0)) == 1
