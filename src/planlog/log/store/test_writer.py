"""The writer of the SQLite store: cancelled waiters, locks that others hold, failing disks, the end of a program."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from subprocess import Popen

import anyio
import apsw
import pytest

from planlog.log.store import Row, StoreError, StoreLocked, writer
from planlog.log.store.conftest import Child, begun, record, release, rows
from planlog.log.store.patience import Patience
from planlog.log.store.sqlite import SqliteStore, open_store

Locked = Callable[[Path], AbstractAsyncContextManager["Popen[str]"]]


async def test_a_cancelled_task_stops_only_when_its_append_is_known(on_disk: SqliteStore) -> None:
    lease = await begun(on_disk)
    seen: list[str] = []

    async def write() -> None:
        await on_disk.append("s1", rows(0, "a"), lease=lease)
        seen.append("saved")
        await asyncio.sleep(0)
        seen.append("went on")

    task = asyncio.create_task(write())
    await asyncio.sleep(0)
    task.cancel("enough")
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task
    assert seen == ["saved"]
    assert await on_disk.read("s1", 0) == [b"0 a"]


async def test_a_cancelled_scope_ends_only_when_its_append_is_known(on_disk: SqliteStore) -> None:
    lease = await begun(on_disk)
    seen: list[str] = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        await on_disk.append("s1", rows(0, "a"), lease=lease)
        seen.append("saved")
        await asyncio.sleep(0)
        seen.append("went on")
    assert seen == ["saved"]
    assert await on_disk.read("s1", 0) == [b"0 a"]


async def test_a_deadline_that_passes_during_an_append_is_still_a_timeout(on_disk: SqliteStore) -> None:
    lease = await begun(on_disk)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await on_disk.append("s1", rows(0, "a"), lease=lease)
            await asyncio.sleep(0)
    assert await on_disk.read("s1", 0) == [b"0 a"]


async def test_a_refusal_reaches_a_task_that_is_cancelled_meanwhile(on_disk: SqliteStore) -> None:
    lease = await begun(on_disk)
    with anyio.CancelScope() as scope:
        scope.cancel()
        with pytest.raises(StoreError, match="has grown"):
            await on_disk.append("s1", rows(9, "a"), lease=lease)


async def test_a_short_lock_of_another_process_is_waited_for_with_one_notice(tmp_path: Path, locked: Locked) -> None:
    home, notices = tmp_path / "home", asyncio.Queue[str]()
    async with open_store(home, patience=Patience(notice=0.05), on_notice=notices.put_nowait) as store:
        lease = await begun(store)
        async with anyio.create_task_group() as tasks, locked(home):
            tasks.start_soon(lambda: store.append("s1", rows(0, "a"), lease=lease))
            assert await notices.get() == f"waiting for {home}/planlog.db: another process keeps it locked"
            assert await store.read("s1", 0) == []
        assert notices.empty()
        assert await store.read("s1", 0) == [b"0 a"]


async def test_a_long_lock_of_another_process_is_an_error_and_nothing_is_saved(tmp_path: Path, locked: Locked) -> None:
    home = tmp_path / "home"
    async with open_store(home, patience=Patience(limit=0.05)) as store:
        lease = await begun(store)
        async with locked(home):
            with pytest.raises(StoreLocked) as refused:
                await store.append("s1", rows(0, "a"), lease=lease)
        assert str(refused.value) == (
            f"cannot use {home}/planlog.db: another process has kept it locked for 0 s; "
            "end that process or wait for it, then try again"
        )
        assert await store.read("s1", 0) == []
        await store.append("s1", rows(0, "b"), lease=lease)
        assert await store.read("s1", 0) == [b"0 b"]


async def test_three_seconds_are_waited_for_and_ten_are_too_long(tmp_path: Path, locked: Locked) -> None:
    async def patient() -> None:
        async with open_store(tmp_path / "one") as store:
            lease = await begun(store)
            async with locked(tmp_path / "one") as holder, anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: store.append("s1", rows(0, "a"), lease=lease))
                await anyio.sleep(3)
                await asyncio.to_thread(release, holder)
            assert await store.read("s1", 0) == [b"0 a"]

    async def refused() -> None:
        async with open_store(tmp_path / "two") as store:
            lease = await begun(store)
            async with locked(tmp_path / "two"):
                with pytest.raises(StoreLocked, match="locked for 10 s"):
                    await store.append("s1", rows(0, "a"), lease=lease)
            assert await store.read("s1", 0) == []

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(patient)
        tasks.start_soon(refused)


async def test_opening_waits_for_a_process_that_has_the_database_locked(tmp_path: Path, locked: Locked) -> None:
    home = tmp_path / "home"
    home.mkdir()
    apsw.Connection(str(home / "planlog.db")).close()
    async with locked(home) as holder:
        notices: list[str] = []

        def give_way(notice: str) -> None:
            notices.append(notice)
            release(holder)

        async with open_store(home, patience=Patience(notice=0.05), on_notice=give_way) as store:
            await store.create(record("s1"))
    assert len(notices) == 1


async def test_an_opening_that_waits_can_be_cancelled(tmp_path: Path, locked: Locked) -> None:
    home = tmp_path / "home"
    home.mkdir()
    apsw.Connection(str(home / "planlog.db")).close()
    async with locked(home):
        with anyio.CancelScope() as scope:
            async with open_store(home, patience=Patience(notice=0), on_notice=lambda _: scope.cancel()):
                pytest.fail("opened")
        assert scope.cancelled_caught


async def test_what_cannot_be_kept_at_all_fails_alone(on_disk: SqliteStore) -> None:
    leases = [await begun(on_disk, f"s{number}") for number in range(3)]
    lines = [rows(0, "a"), [Row(0, "a", 2**63, b"")], rows(0, "a")]
    outcomes = await asyncio.gather(
        *(on_disk.append(f"s{n}", lines[n], lease=leases[n]) for n in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), OverflowError, type(None)]
    assert [len(await on_disk.read(f"s{n}", 0)) for n in range(3)] == [1, 0, 1]


async def test_a_database_that_was_deleted_is_not_written_on_unseen(
    tmp_path: Path, on_disk: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "LOOK_SECONDS", 0)
    lease = await begun(on_disk)
    path = tmp_path / "home" / "planlog.db"
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(StoreError, match=r"planlog\.db: it was moved or deleted while in use; start planlog again"):
        await on_disk.append("s1", rows(0, "a"), lease=lease)
    path.with_name("elsewhere.db").rename(path)
    await on_disk.append("s1", rows(0, "a"), lease=lease)


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    async with open_store(tmp_path / "home") as store:
        await store.create(record("s1"))
    with pytest.raises(StoreError, match="the store is closed"):
        await store.create(record("s2"))
    with pytest.raises(StoreError, match="the store is closed"):
        await store.record("s1")
    with pytest.raises(StoreError, match="the store is closed"):
        store.version()


async def test_the_log_beside_the_database_stays_small_and_is_gone_after_a_clean_end(tmp_path: Path) -> None:
    log = tmp_path / "home" / "planlog.db-wal"
    async with open_store(tmp_path / "home") as store:
        lease = await begun(store)
        for start in range(0, 4000, 500):
            await store.append("s1", [Row(start + n, "a", 5, bytes(3000)) for n in range(500)], lease=lease)
        assert log.stat().st_size < 12_000_000
    assert not log.exists()


ENDS_WITHOUT_CLOSING = """
import asyncio, sys
from pathlib import Path
from planlog.log.store.conftest import record
from planlog.log.store.sqlite import open_store

kept = []

async def main() -> None:
    kept.append(open_store(Path(sys.argv[1])))
    store = await kept[0].__aenter__()
    tasks = [asyncio.ensure_future(store.create(record(f"s{n}"))) for n in range(50)]
    await asyncio.sleep(0)
    print("ending", flush=True)
    asyncio.get_running_loop().stop()

loop = asyncio.new_event_loop()
loop.create_task(main())
loop.run_forever()
"""


async def test_a_program_that_ends_without_closing_neither_hangs_nor_loses_what_was_asked(
    tmp_path: Path, child: Child
) -> None:
    process = child(ENDS_WITHOUT_CLOSING, tmp_path / "home")
    assert "ending" in process.communicate(timeout=20)[0]
    async with open_store(tmp_path / "home") as store:
        assert len(await store.find("")) == 50
