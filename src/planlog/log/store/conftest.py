"""What the tests of the stores share: both stores, and a program that runs in another process."""

import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from planlog.log.store import Lease, Row, SessionRecord, Store
from planlog.log.store.memory import MemoryStore
from planlog.log.store.sqlite import SqliteStore, open_store


def record(session: str, created_at: int = 1) -> SessionRecord:
    return SessionRecord(session, created_at, "/work", b'{"type":"session","id":"%b"}' % session.encode())


def rows(start: int, *types: str, time: int = 1000) -> list[Row]:
    """One row for each type; what its line says can be told from any other's."""
    return [
        Row(start + n, name, time + start + n, b"%d %b" % (start + n, name.encode())) for n, name in enumerate(types)
    ]


async def begun(store: Store, session: str = "s1") -> Lease:
    """A new session with its lease."""
    await store.create(record(session))
    return await store.acquire(session)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Store]:
    """Each store that ships."""
    if request.param == "memory":
        yield MemoryStore()
    else:
        async with open_store(tmp_path / "home") as opened:
            yield opened


@pytest.fixture
async def on_disk(tmp_path: Path) -> AsyncGenerator[SqliteStore]:
    """The one that other processes can see, in `tmp_path / "home"`."""
    async with open_store(tmp_path / "home") as opened:
        yield opened


Child = Callable[..., "Popen[str]"]


@pytest.fixture
def child() -> Generator[Child]:
    """Starts a Python program with arguments in another process; none outlives the test."""
    running: list[Popen[str]] = []

    def start(program: str, *arguments: object) -> "Popen[str]":
        command = [sys.executable, "-c", program, *map(str, arguments)]
        running.append(Popen(command, stdin=PIPE, stdout=PIPE, text=True))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        release(process)


def release(process: "Popen[str]") -> None:
    """Lets a program end that waits for the end of its input, and waits for that."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
    process.wait()


def line_of(process: "Popen[str]") -> str:
    """The next line that the program prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


LOCKS_THE_DATABASE = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locked(child: Child) -> Callable[[Path], AbstractAsyncContextManager["Popen[str]"]]:
    """A block in which another process keeps the database of a home locked, at the latest until its end."""

    @asynccontextmanager
    async def lock(home: Path) -> AsyncGenerator["Popen[str]"]:
        process = child(LOCKS_THE_DATABASE, home / "planlog.db")
        assert line_of(process) == "locked"
        try:
            yield process
        finally:
            release(process)

    return lock
