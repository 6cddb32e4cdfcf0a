"""The place where sessions are kept fails: what is said, what is kept, and that it goes on when the cause is gone."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import House
from tests.acceptance.test_two_processes import Gate, events_until

HELLO = {"text": "Hello!"}

LOCKS = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(float(sys.argv[2]))
"""


@contextmanager
def locked(home: Path, seconds: float) -> Iterator[None]:
    """A block in which another process keeps the database locked, for `seconds` at most."""
    command = [sys.executable, "-c", LOCKS, str(home / "planlog.db"), str(seconds)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        try:
            yield
        finally:
            holder.kill()


def one_line(error: str) -> str:
    """The error of a command that failed: one line, no traceback."""
    [line] = [line for line in error.splitlines() if line.startswith("planlog: ")]
    assert "Traceback" not in error
    return line


@pytest.mark.timeout(120)
def test_a_lock_of_three_seconds_is_waited_for_and_one_of_twelve_is_an_error(tmp_path: Path) -> None:
    houses: list[House] = []
    for name in ("short", "long"):
        (tmp_path / name).mkdir()
        houses.append(House(tmp_path / name))
    short, long = houses
    gate = Gate(long)
    short.planlog("run", "-m", short.script(HELLO), "one")
    patient = long.start("run", "--json", "-m", long.script(gate.reply, HELLO), "--approve", "auto", "one")
    seen = events_until(patient, lambda event: event["type"] == "tool/call")
    gate.reached()
    try:
        with locked(long.home, 60), locked(short.home, 3):
            waiting = short.start("run", "--continue", "-m", short.script({"text": "Done."}), "two")
            gate.open()
            out, err = waiting.communicate(timeout=60)
            assert (waiting.returncode, out) == (0, b"Done.\n")
            assert err.decode() == f"waiting for {short.home}/planlog.db: another process keeps it locked\n"
            out, err = patient.communicate(timeout=60)
            assert patient.returncode == 1
            assert one_line(err.decode()) == (
                f"planlog: cannot use {long.home}/planlog.db: another process has kept it locked for 10 s; "
                "end that process or wait for it, then try again"
            )
            assert err.decode().count("waiting for ") == 1, err
            kept = long.events()
            seen += [json.loads(line) for line in out.splitlines()]
            assert kept[: len(seen)] == seen, "something was shown that is not kept"
        done = long.planlog("run", "--continue", "-m", long.script(HELLO), "two")
        assert (done.returncode, done.stdout) == (0, "Hello!\n")
        assert long.events()[: len(kept)] == kept
    finally:
        for house in houses:
            house.stop()


if os.geteuid() == 0:  # Only the superuser can make a small file system and protect one from writing.

    @pytest.fixture
    def small_disk(house: House) -> Generator[Path]:
        """A file system of two megabytes, where the house has its home."""
        disk = house.folder.parent / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], check=True)
        house.env["PLANLOG_HOME"] = str(disk / "home")
        house.home = disk / "home"
        yield disk
        subprocess.run(["umount", "-l", disk], check=True)

    @contextmanager
    def filled(disk: Path) -> Iterator[None]:
        """A block in which there is no room on the file system."""
        ballast = disk / "ballast"
        with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while True:
                file.write(bytes(4096))
        yield
        ballast.unlink()

    def test_a_disk_that_fills_up_in_a_turn_ends_it_in_one_line_and_with_room_it_goes_on(
        house: House, small_disk: Path
    ) -> None:
        gate = Gate(house)
        model = house.script(gate.reply, {"text": "never saved " * 20_000})
        process = house.start("run", "--json", "-m", model, "--approve", "auto", "one")
        seen = events_until(process, lambda event: event["type"] == "tool/call")
        gate.reached()
        full = (
            f"planlog: cannot save to {house.home}/planlog.db: no space left on device; free some space and try again"
        )
        with filled(small_disk):
            gate.open()
            out, err = process.communicate(timeout=30)
            assert process.returncode == 1
            assert one_line(err.decode()) == full
            seen += [json.loads(line) for line in out.splitlines()]
            kept = house.events()
            assert kept[: len(seen)] == seen, "something was shown that is not kept"
            failed = house.planlog("run", "--continue", "-m", house.script({"text": "x" * 100_000}), "two")
            assert (failed.returncode, one_line(failed.stderr)) == (1, full)
        done = house.planlog("run", "--continue", "-m", house.script(HELLO), "three")
        assert done.returncode == 0, done
        assert done.stdout.endswith("Hello!\n")
        assert house.events()[: len(kept)] == kept
        assert house.events()[-1]["data"]["reason"] == {"kind": "completed"}

    def test_on_a_full_disk_nothing_can_be_begun_and_the_disk_is_named(house: House, small_disk: Path) -> None:
        small_disk.joinpath("home").mkdir()
        with filled(small_disk):
            done = house.planlog("run", "-m", house.script(HELLO), "one")
        assert (done.returncode, done.stdout) == (1, "")
        cause = "no space left on device; free some space and try again"
        assert one_line(done.stderr) == f"planlog: cannot open {house.home}/planlog.db: {cause}"
        assert house.planlog("run", "-m", house.script(HELLO), "one").stdout == "Hello!\n"

    @contextmanager
    def read_only(folder: Path) -> Iterator[None]:
        """A block in which nothing in the folder can be written."""
        subprocess.run(["mount", "--bind", folder, folder], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        yield
        subprocess.run(["umount", "-l", folder], check=True)

    def test_a_home_that_may_only_be_read_shows_everything_and_takes_nothing(house: House) -> None:
        house.planlog("run", "-m", house.script(HELLO), "one")
        looks: Any = [["log"], ["show"], ["sessions"], ["export"]]
        before = [house.planlog(*look).stdout for look in looks]
        with read_only(house.home):
            assert [house.planlog(*look).stdout for look in looks] == before
            for more in ([], ["--continue"]):
                done = house.planlog("run", *more, "-m", house.script(HELLO), "two")
                assert (done.returncode, done.stdout) == (1, "")
                assert one_line(done.stderr) == (
                    f"planlog: cannot save to {house.home}/planlog.db: it may only be read; "
                    "make it writable or choose another home with --home"
                )
        assert house.planlog("run", "--continue", "-m", house.script(HELLO), "two").stdout == "Hello!\n"


AUDITED = """
import os, sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
from planlog.app.running import run_command_line
for command in sys.argv[1:]:
    assert run_command_line(command.split()) == 0, command
assert any("locks" in str(path) for path in opened), "the hook hears nothing"
assert not [path for path in opened if "planlog.db" in str(path)]
"""


def test_nobody_but_sqlite_opens_the_database(house: House) -> None:
    # To close any descriptor of the file drops every lock that the process has on it.
    commands = [f"run -m {house.script(HELLO)} hello", "sessions", "log", "show", "export"]
    done = subprocess.run(
        [sys.executable, "-c", AUDITED, *commands], cwd=house.folder, env=house.env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("arguments", [[], ["--continue"]])
def test_who_is_told_to_end_before_anything_has_begun_waits_for_no_lock(
    house: House, arguments: list[str], number: signal.Signals, code: int
) -> None:
    house.planlog("run", "-m", house.script(HELLO), "one")
    before = house.events()
    with locked(house.home, 60):
        run = house.start("run", *arguments, "-m", house.script(HELLO), "two")
        assert run.stderr
        assert b"another process keeps it locked" in run.stderr.readline()
        run.send_signal(number)
        assert run.communicate(timeout=20) == (b"", b"")
        assert run.returncode == code
    assert house.events() == before
