"""Several processes use one home: each runs its own sessions, sees the others', and survives their deaths."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from planlog.log.store import LeaseLost, Owner, SessionBusy
from planlog.log.store.conftest import Child, begun, line_of, record, release, rows
from planlog.log.store.sqlite import SqliteStore, open_store

HOLDS_THE_LEASE = """
import asyncio, os, sys
from pathlib import Path
from planlog.log.store.conftest import rows
from planlog.log.store.sqlite import open_store

async def main() -> None:
    async with open_store(Path(sys.argv[1])) as store:
        lease = await store.acquire("s1")
        await store.append("s1", rows((await store.record("s1")).head, "child"), lease=lease)
        print(os.getpid(), flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


async def test_a_holder_that_was_killed_is_followed_at_once(tmp_path: Path, on_disk: SqliteStore, child: Child) -> None:
    await on_disk.create(record("s1"))
    before = on_disk.version()
    holder = child(HOLDS_THE_LEASE, tmp_path / "home")
    owner = Owner(int(line_of(holder)), os.uname().nodename)
    assert on_disk.version() != before
    assert await on_disk.read("s1", 0) == [b"0 child"]
    assert await on_disk.owner("s1") == owner
    with pytest.raises(SessionBusy, match=f"session s1 is being run by process {owner.pid} on {owner.host}") as busy:
        await on_disk.acquire("s1")
    assert busy.value.owner == owner
    os.kill(owner.pid, signal.SIGKILL)
    holder.wait()
    assert await on_disk.owner("s1") is None
    lease = await on_disk.acquire("s1")
    await on_disk.append("s1", rows(1, "a"), lease=lease)
    assert await on_disk.read("s1", 0) == [b"0 child", b"1 a"]


async def test_a_holder_that_stands_still_keeps_its_lease(tmp_path: Path, on_disk: SqliteStore, child: Child) -> None:
    await on_disk.create(record("s1"))
    holder = child(HOLDS_THE_LEASE, tmp_path / "home")
    pid = int(line_of(holder))
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(SessionBusy):
        await on_disk.acquire("s1")
    os.kill(pid, signal.SIGCONT)
    release(holder)
    await on_disk.acquire("s1")


async def test_a_reused_pid_fools_nobody(tmp_path: Path, on_disk: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    await on_disk.create(record("s1"))
    # As a holder leaves it that died, and whose pid a living process of this machine has now.
    with monkeypatch.context() as patch:
        patch.setattr(os, "getpid", os.getppid)
        await (await on_disk.acquire("s1")).release()
    assert await on_disk.owner("s1") is None
    await on_disk.acquire("s1")
    assert await on_disk.owner("s1") == Owner(os.getpid(), os.uname().nodename)


async def test_when_the_lock_file_is_deleted_the_older_holder_is_refused(tmp_path: Path, on_disk: SqliteStore) -> None:
    old = await begun(on_disk)
    (lock,) = (tmp_path / "home" / "locks").iterdir()
    lock.unlink()
    new = await on_disk.acquire("s1")
    with pytest.raises(LeaseLost, match="session s1 was taken over"):
        await on_disk.append("s1", rows(0, "old"), lease=old)
    await old.release()
    with pytest.raises(SessionBusy):
        await on_disk.acquire("s1")
    await on_disk.append("s1", rows(0, "new"), lease=new)


async def test_a_child_process_does_not_inherit_the_lease(on_disk: SqliteStore) -> None:
    lease = await begun(on_disk)
    program = [sys.executable, "-c", "print('here', flush=True); input()"]
    child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False)
    # The system lets us go on a moment before it closes what a new program does not inherit.
    assert child.stdout is not None
    assert child.stdout.readline() == b"here\n"
    await lease.release()
    await on_disk.acquire("s1")
    child.communicate(b"\n")


async def test_looking_at_the_owner_disturbs_no_acquirer(tmp_path: Path, on_disk: SqliteStore, child: Child) -> None:
    await on_disk.create(record("s1"))
    looker = child(LOOKS_AT_THE_OWNER, tmp_path / "home")
    assert line_of(looker) == "looking"
    for _ in range(200):
        await (await on_disk.acquire("s1")).release()


LOOKS_AT_THE_OWNER = """
import asyncio, sys
from pathlib import Path
from planlog.log.store.sqlite import open_store

async def main() -> None:
    async with open_store(Path(sys.argv[1])) as store:
        print("looking", flush=True)
        while True:
            await store.owner("s1")

asyncio.run(main())
"""

WRITES = """
import asyncio, sys
from pathlib import Path
from planlog.log.store.conftest import begun, rows
from planlog.log.store.sqlite import open_store

async def main(session: str, events: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    async with open_store(Path(sys.argv[1])) as store:
        lease = await begun(store, session)
        for seq in range(events):
            await store.append(session, rows(seq, session), lease=lease)
        print("done", flush=True)

asyncio.run(main(sys.argv[2], int(sys.argv[3])))
"""


async def test_eight_processes_may_open_a_new_home_at_once_and_nothing_that_they_write_is_lost(
    tmp_path: Path, child: Child
) -> None:
    home = tmp_path / "home"
    writers = [child(WRITES, home, f"s{n}", 60) for n in range(8)]
    for writer in writers:
        assert line_of(writer) == "ready"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        assert line_of(writer) == "done"
        release(writer)
    async with open_store(home) as store:
        for n in range(8):
            assert await store.read(f"s{n}", 0) == [b"%d s%d" % (seq, n) for seq in range(60)]
    connection = apsw.Connection(str(home / "planlog.db"))
    assert connection.pragma("integrity_check") == "ok"
    connection.close()
