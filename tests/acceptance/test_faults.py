"""What goes wrong outside is one clear line."""

import os
import sqlite3
from pathlib import Path

import pytest

from tests.acceptance.conftest import House

HELLO = {"text": "Hello!"}


def is_file(place: Path) -> None:
    place.write_text("")


def is_dangling(place: Path) -> None:
    place.symlink_to("/nowhere/at/all")


def is_no_database(place: Path) -> None:
    place.mkdir()
    (place / "planlog.db").write_bytes(b"this is not a database at all" * 100)


@pytest.mark.parametrize("spoil", [is_file, is_dangling, is_no_database])
def test_a_home_that_cannot_be_used_is_named_in_one_line(house: House, spoil: "type[Path]") -> None:
    place = house.folder / "spoiled"
    spoil(place)
    for command in (["run", "-m", house.script(HELLO), "hello"], ["sessions"], ["show"]):
        done = house.planlog(*command, "--home", str(place))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), done
        assert str(place) in done.stderr
        assert "Traceback" not in done.stderr


def test_no_home_at_all_says_what_to_set(house: House) -> None:
    done = house.planlog("sessions", HOME="", PLANLOG_HOME="")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "set PLANLOG_HOME or pass --home" in done.stderr


def test_a_folder_that_is_gone_is_said(house: House) -> None:
    done = house.planlog("run", "-C", "/nowhere/at/all", "-m", house.script(HELLO), "hello")
    assert (done.returncode, done.stderr) == (2, "planlog: /nowhere/at/all is no folder; name one with -C\n")
    house.planlog("run", "-m", house.script(HELLO), "hello")
    moved = house.folder.rename(house.folder.parent / "moved")
    house.folder = moved
    done = house.planlog("run", "--resume", house.json("sessions")[0]["id"], "-m", house.script(HELLO), "hello")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is gone; name another folder with -C" in done.stderr


def test_mistakes_on_the_command_line_are_one_line_that_says_where_help_is(house: House) -> None:
    for wrong in (
        ["nope"],
        ["run", "--nope"],
        ["run", "--approve", "maybe", "x"],
        ["run", "x", "y"],
        ["log", "--nope"],
    ):
        done = house.planlog(*wrong)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "--help" in done.stderr
    assert house.planlog().returncode == 2
    assert house.planlog().stderr.startswith("Usage: planlog")


def test_a_traceback_is_shown_only_on_request(house: House) -> None:
    wrong = ["run", "-m", "script:/nowhere", "hello"]
    assert "Traceback" not in house.planlog(*wrong).stderr
    assert "Traceback" in house.planlog(*wrong, PLANLOG_DEBUG="1").stderr


def test_a_retry_is_seen_and_the_answer_is_printed_once(house: House) -> None:
    model = house.script({"error": {"status": 503, "message": "overloaded"}, "delay_ms": 1}, HELLO)
    done = house.planlog("run", "-m", model, "hello")
    assert (done.returncode, done.stdout) == (0, "Hello!\n")
    assert "overloaded; retrying in " in done.stderr


def test_standard_streams_may_be_closed(house: House) -> None:
    for closed in (0, 1, 2):
        process = house.start("run", "-m", house.script(HELLO), "hello", preexec_fn=lambda fd=closed: os.close(fd))
        process.communicate(timeout=20)
        assert process.returncode == 0


def test_a_damaged_log_is_named_and_never_replaced_by_a_new_session(house: House) -> None:
    house.planlog("run", "-m", house.script(HELLO), "hello")
    session = house.json("sessions")[0]["id"]
    with sqlite3.connect(house.home / "planlog.db") as database:
        database.execute(
            'UPDATE event SET line = CAST(\'{"type":"turn/start","se\' AS BLOB) WHERE type = \'step/start\''
        )
    database.close()
    for command in (
        ["run", "--resume", session, "-m", house.script(HELLO), "on"],
        ["show", session],
        ["run", "--continue", "-m", house.script(HELLO), "on"],
    ):
        done = house.planlog(*command)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert f"session {session} is damaged" in done.stderr
    assert [listed["id"] for listed in house.json("sessions")] == [session]
