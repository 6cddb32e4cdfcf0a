import os
from collections.abc import Awaitable, Callable, Iterator
from io import FileIO
from pathlib import Path

import anyio
import pytest

from planlog.faces.stdio.outlet import FULL, Outlet, ScreenGone
from planlog.kernel.errors import PlanlogError

BLOCKS = [bytes([65 + number % 26]) * (number * 97 % 9000) for number in range(200)]


@pytest.fixture
def pipe() -> Iterator[tuple[FileIO, FileIO]]:
    reading, writing = os.pipe()
    with FileIO(reading, "r") as reader, FileIO(writing, "w") as writer:
        yield reader, writer


async def read_all(reader: FileIO, read: list[bytes]) -> None:
    read.append(await anyio.to_thread.run_sync(reader.readall))


async def test_a_reader_who_does_not_read_keeps_nobody_waiting_and_gets_everything_in_order(
    pipe: tuple[FileIO, FileIO],
) -> None:
    reader, writer = pipe
    outlet = Outlet(writer.fileno(), "<stdout>")
    read: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        async with outlet.unblocked():
            for block in BLOCKS:
                outlet.write(block)
            assert outlet.is_full
            tasks.start_soon(read_all, reader, read)
            await outlet.room()
            assert not outlet.is_full
        writer.close()
    assert read == [b"".join(BLOCKS)]


async def test_what_is_written_after_the_block_follows_what_was_written_in_it(pipe: tuple[FileIO, FileIO]) -> None:
    reader, writer = pipe
    outlet = Outlet(writer.fileno(), "<stdout>")
    read: list[bytes] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_all, reader, read)
        for block in (b"a" * 10_000, b"c"):
            async with outlet.unblocked():
                outlet.write(block)
            outlet.write(b"b")
        writer.close()
    assert read == [b"a" * 10_000 + b"bcb"]


async def test_who_is_told_to_end_does_not_wait_for_a_reader_for_long(pipe: tuple[FileIO, FileIO]) -> None:
    outlet = Outlet(pipe[1].fileno(), "<stdout>")
    with anyio.CancelScope() as scope:
        async with outlet.unblocked():
            outlet.write(b"x" * FULL)
            scope.cancel()
    assert scope.cancelled_caught


async def test_a_reader_who_leaves_is_noticed_by_whoever_waits_and_whoever_writes(pipe: tuple[FileIO, FileIO]) -> None:
    reader, writer = pipe
    outlet = Outlet(writer.fileno(), "<stdout>")
    waits: list[Callable[[], Awaitable[None]]] = [outlet.room, outlet.flushed, outlet.broken]
    with pytest.raises(ScreenGone):
        async with outlet.unblocked():
            outlet.write(b"x" * FULL)
            reader.close()
            for wait in waits:
                with pytest.raises(ScreenGone):
                    await wait()
            with pytest.raises(ScreenGone):
                outlet.write(b"more")


async def test_a_full_device_is_told_at_the_end_at_the_latest() -> None:
    with open("/dev/full", "w") as stream:
        outlet = Outlet(stream.fileno(), stream.name)
        with pytest.raises(PlanlogError, match="cannot write to /dev/full: No space left on device"):
            async with outlet.unblocked():
                outlet.write(b"much")


def test_two_descriptors_of_one_file_are_known_to_be_the_same(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as one, (tmp_path / "a").open("w") as same, (tmp_path / "b").open("w") as other:
        assert Outlet(one.fileno(), "a").is_same_file(Outlet(same.fileno(), "a"))
        assert not Outlet(one.fileno(), "a").is_same_file(Outlet(other.fileno(), "b"))
