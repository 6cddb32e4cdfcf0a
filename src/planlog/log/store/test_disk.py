"""Full disks, folders that may only be read, files that are something else: a line for a person, and nothing lost."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import apsw
import pytest

from planlog.log.store import Row, StoreDamaged, StoreError, StoreFull
from planlog.log.store.conftest import begun, record, rows
from planlog.log.store.home import Home, default_home
from planlog.log.store.sqlite import SqliteStore, open_store, plugin

SUPERUSER = os.geteuid() == 0
"""Only the superuser can make a small file system, and only for others do the permissions of files count."""


async def refusal(home: Path) -> str:
    """What is said when the store cannot be opened: one line."""
    with pytest.raises(StoreError) as refused:
        async with open_store(home):
            pass
    assert "\n" not in str(refused.value)
    return str(refused.value)


# Full


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A file system of one megabyte, where one can be made."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if SUPERUSER:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
    yield disk
    if SUPERUSER:
        subprocess.run(["umount", "-l", disk], check=True)


@contextmanager
def filled(disk: Path) -> Generator[None]:
    """A block in which there is no room on the file system."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(bytes(4096))
    yield
    ballast.unlink()


@asynccontextmanager
async def no_room(disk: Path, store: SqliteStore) -> AsyncGenerator[None]:
    """A block in which the database cannot grow: the disk is full, or else SQLite is told that it may not."""
    if SUPERUSER:
        with filled(disk):
            yield
    else:
        await store._write(lambda connection: connection.pragma("max_page_count", 1))
        yield
        await store._write(lambda connection: connection.pragma("max_page_count", 2**31))


async def test_a_full_disk_is_named_and_when_there_is_room_again_the_session_goes_on(small_disk: Path) -> None:
    home = small_disk / "home"
    async with open_store(home) as store:
        lease = await begun(store)
        await store.append("s1", rows(0, "a"), lease=lease)
        async with no_room(small_disk, store):
            outcomes = await asyncio.gather(
                store.append("s1", [Row(1, "a", 5, bytes(20_000))], lease=lease),
                store.create(record("s2")),
                return_exceptions=True,
            )
            for outcome in outcomes:
                assert isinstance(outcome, StoreFull)
                assert str(outcome) == (
                    f"cannot save to {home}/planlog.db: no space left on device; free some space and try again"
                )
            assert await store.read("s1", 0) == [b"0 a"]
        await store.append("s1", rows(1, "b"), lease=lease)
        assert await store.read("s1", 0) == [b"0 a", b"1 b"]
        await lease.release()
    async with open_store(home) as store:
        assert await store.read("s1", 0) == [b"0 a", b"1 b"]


if SUPERUSER:

    async def test_a_home_on_a_full_disk_can_be_made_when_there_is_room(small_disk: Path) -> None:
        home = small_disk / "home"
        home.mkdir()
        with filled(small_disk):
            assert await refusal(home) == (
                f"cannot open {home}/planlog.db: no space left on device; free some space and try again"
            )
        async with open_store(home) as store:
            await begun(store)


# May not be written


ReadOnly = Callable[[Path], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def read_only(folder: Path) -> AsyncGenerator[None]:
    """A block in which nothing in the folder can be written."""
    if SUPERUSER:
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
        subprocess.run(["umount", "-l", folder], check=True)
    else:
        modes = {path: path.stat().st_mode for path in (folder, *folder.rglob("*"))}
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        yield
        for path, mode in modes.items():
            path.chmod(mode)


async def test_a_home_that_may_only_be_read_shows_its_sessions_and_takes_nothing_more(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with open_store(home) as store:
        lease = await begun(store)
        await store.append("s1", rows(0, "a"), lease=lease)
        await lease.release()
    async with read_only(home), open_store(home) as store:
        assert [kept.id for kept in await store.find("")] == ["s1"]
        assert await store.read("s1", 0) == [b"0 a"]
        assert await store.owner("s1") is None
        assert store.version() == store.version()
        for call in (store.append("s1", rows(1, "b"), lease=lease), store.create(record("s2")), store.acquire("s1")):
            with pytest.raises(StoreError) as refused:
                await call
            assert str(refused.value) == (
                f"cannot save to {home}/planlog.db: it may only be read; "
                "make it writable or choose another home with --home"
            )
    async with open_store(home) as store:
        await store.append("s1", rows(1, "b"), lease=await store.acquire("s1"))


async def test_events_that_are_still_in_the_log_file_are_not_left_out_unsaid(tmp_path: Path, small_disk: Path) -> None:
    home = tmp_path / "home"
    copy = small_disk / "home"
    async with open_store(home) as store:
        await begun(store)
        # As a crash leaves it: the events in the log file alone, and no index of it.
        copy.mkdir()
        for name in ("planlog.db", "planlog.db-wal"):
            subprocess.run(["cp", home / name, copy / name], check=True)
    async with read_only(copy):
        said = await refusal(copy)
    assert said == (
        f"cannot read {copy}/planlog.db: it may only be read, and planlog.db-wal beside it holds events that have yet "
        "to be taken over; open it once where it can be written"
    )
    async with open_store(copy) as store:
        assert [kept.id for kept in await store.find("")] == ["s1"]


async def test_a_home_cannot_be_made_where_nothing_may_be_written(tmp_path: Path) -> None:
    async with read_only(tmp_path):
        said = await refusal(tmp_path / "home")
    cause = "read-only file system" if SUPERUSER else "permission denied"
    assert said == f"cannot make the folder {tmp_path}/home: {cause}; put that right or choose another home with --home"


async def test_an_empty_home_that_may_only_be_read_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with read_only(home):
        said = await refusal(home)
    cause = "read-only file system" if SUPERUSER else "permission denied"
    assert said == f"cannot open {home}/planlog.db: {cause}; put that right or choose another home with --home"


@pytest.fixture
def somebody() -> Generator[Path]:
    """A folder of somebody for whom permissions count, as whom the test goes on."""
    folder = Path(tempfile.mkdtemp())
    if SUPERUSER:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    yield folder
    if SUPERUSER:
        os.seteuid(0)
    subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
    subprocess.run(["rm", "-rf", folder], check=True)


async def test_a_file_without_permissions_is_named(somebody: Path) -> None:
    async with open_store(somebody):
        pass
    (somebody / "planlog.db").chmod(0)
    assert await refusal(somebody) == (
        f"cannot open {somebody}/planlog.db: permission denied; put that right or choose another home with --home"
    )
    (somebody / "planlog.db").chmod(0o600)
    somebody.chmod(0)
    assert await refusal(somebody) == (
        f"cannot open {somebody}/planlog.db: permission denied; put that right or choose another home with --home"
    )


async def test_a_write_protected_file_or_folder_is_read(somebody: Path) -> None:
    async with open_store(somebody) as store:
        await store.create(record("s1"))
    for path, mode in ((somebody / "planlog.db", 0o400), (somebody, 0o500)):
        before = path.stat().st_mode
        path.chmod(mode)
        async with open_store(somebody) as store:
            assert [kept.id for kept in await store.find("")] == ["s1"]
            with pytest.raises(StoreError, match="it may only be read"):
                await store.create(record("s2"))
        path.chmod(before)


# Something else


async def test_a_home_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert await refusal(tmp_path / "file") == (
        f"cannot open {tmp_path}/file/planlog.db: {tmp_path}/file is a file, not a folder; choose another home with --home"
    )
    assert await refusal(tmp_path / "link") == (
        f"cannot open {tmp_path}/link/planlog.db: {tmp_path}/link is a symbolic link to {tmp_path}/nowhere, "
        "which does not exist; put that right or choose another home with --home"
    )
    assert await refusal(tmp_path / "file" / "home") == (
        f"cannot open {tmp_path}/file/home/planlog.db: {tmp_path}/file is a file, not a folder; "
        "choose another home with --home"
    )
    assert (tmp_path / "file").read_text() == "mine"


async def test_a_database_that_is_a_folder_or_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a" / "planlog.db").mkdir(parents=True)
    assert await refusal(tmp_path / "a") == (
        f"cannot open {tmp_path}/a/planlog.db: it is a folder; put that right or choose another home with --home"
    )
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "planlog.db").symlink_to(tmp_path / "gone" / "planlog.db")
    assert await refusal(tmp_path / "b") == (
        f"cannot open {tmp_path}/b/planlog.db: it is a symbolic link to {tmp_path}/gone/planlog.db, "
        "which does not exist; put that right or choose another home with --home"
    )


async def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "planlog.db"
    path.write_bytes(b"Dear diary, " * 500)
    with pytest.raises(StoreDamaged) as refused:
        async with open_store(tmp_path):
            pass
    assert str(refused.value) == (
        f"cannot open {path}: the file is not a database; move it away or choose another home with --home"
    )
    assert path.read_bytes() == b"Dear diary, " * 500


async def test_a_database_that_was_cut_off_is_called_damaged(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        lease = await begun(store)
        await store.append("s1", [Row(n, "a", 5, bytes(3000)) for n in range(100)], lease=lease)
        await lease.release()
    os.truncate(tmp_path / "planlog.db", 3 * 4096)
    with pytest.raises(StoreDamaged, match=r"planlog\.db: the database is damaged \(.*\); planlog export may"):
        async with open_store(tmp_path):
            pass


async def test_a_page_that_was_overwritten_is_called_damaged_when_it_is_met(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        lease = await begun(store)
        await store.append("s1", [Row(n, "a", 5, bytes(3000)) for n in range(100)], lease=lease)
        await lease.release()
    with (tmp_path / "planlog.db").open("r+b") as file:
        file.seek(20 * 4096)
        file.write(b"\xff" * 80 * 4096)
    async with open_store(tmp_path) as store:
        with pytest.raises(StoreDamaged, match=r"cannot read .*planlog\.db: the database is damaged"):
            await store.read("s1", 0)


async def test_a_newer_database_and_another_programs_are_refused_untouched(tmp_path: Path) -> None:
    for name, pragmas, said in (
        (
            "newer",
            "PRAGMA application_id = 0x706C6F67; PRAGMA user_version = 99",
            "written by a newer planlog (database version 99, this one knows 1); update planlog",
        ),
        (
            "other",
            "PRAGMA application_id = 77",
            "it is another program's database; choose another home with --home",
        ),
        ("any", "CREATE TABLE mine (a)", "it is another program's database; choose another home with --home"),
    ):
        (tmp_path / name).mkdir()
        path = tmp_path / name / "planlog.db"
        connection = apsw.Connection(str(path))
        connection.execute(pragmas)
        connection.close()
        before = path.read_bytes()
        assert await refusal(tmp_path / name) == f"cannot use {path}: {said}"
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]


# Where it is


async def test_the_home_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "a" / "b" / "home"
    async with open_store(home) as store:
        await begun(store)
        modes = {
            path.name: path.stat().st_mode & 0o777 for path in (home, *home.iterdir(), *(home / "locks").iterdir())
        }
    assert modes == {
        "home": 0o700,
        "planlog.db": 0o600,
        "planlog.db-wal": 0o600,
        "planlog.db-shm": 0o600,
        "locks": 0o700,
        "1.lock": 0o600,
    }


async def test_a_home_may_have_any_name(tmp_path: Path) -> None:
    home = tmp_path / "a?mode=ro#%41 ü\n'"
    async with open_store(home) as store:
        await begun(store)
    assert (home / "planlog.db").exists()


def test_the_home_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("PLANLOG_HOME", "/plans")
    assert default_home() == Home(Path("/plans"))
    monkeypatch.setenv("PLANLOG_HOME", "")
    assert default_home() == Home(Path("/data/planlog"))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert default_home() == Home(Path("/home/ada/.local/share/planlog"))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_home() == Home(Path("/home/ada/Library/Application Support/planlog"))
    monkeypatch.delenv("HOME")
    with pytest.raises(StoreError, match="cannot tell where to keep sessions: HOME is not set; set PLANLOG_HOME or"):
        default_home()


async def test_the_plugin_offers_the_store_of_the_home(tmp_path: Path) -> None:
    offers = plugin(Home(tmp_path))
    store = await anext(offers)
    await store.create(record("s1"))
    with pytest.raises(StopAsyncIteration):
        await anext(offers)
    with pytest.raises(StoreError, match="closed"):
        await store.create(record("s2"))
