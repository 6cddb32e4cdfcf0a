"""Sessions as files: what the original wrote comes in and goes out byte for byte."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import House

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.jsonl"))


@pytest.fixture
def file(house: House) -> Path:
    """A log of two turns, exported by this program."""
    plan = {"tool_calls": [{"name": "todo_write", "arguments": {"todos": [{"content": "é 任", "status": "pending"}]}}]}
    house.planlog("run", "-m", house.script(plan, {"text": "one"}), "first")
    house.planlog("run", "--continue", "-m", house.script({"text": "two"}), "second")
    path = house.folder / "session.jsonl"
    path.write_text(house.planlog("export").stdout)
    return path


def elsewhere(house: House) -> dict[str, str]:
    return {"PLANLOG_HOME": str(house.folder / "other")}


def test_a_session_moves_to_another_machine_as_it_is(house: House, file: Path) -> None:
    done = house.planlog("import", str(file), **elsewhere(house))
    assert (done.returncode, done.stderr) == (0, "")
    assert house.planlog("export", house.json("sessions")[0]["id"], **elsewhere(house)).stdout == file.read_text()
    again = house.planlog("import", str(file), **elsewhere(house))
    assert (again.returncode, again.stderr.count("\n")) == (1, 1)
    assert "exists already; nothing was changed" in again.stderr


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_what_the_original_wrote_goes_out_as_it_came_in(house: House, path: Path) -> None:
    assert house.planlog("import", str(path)).returncode == 0
    [listed] = house.json("sessions")
    assert house.planlog("export", listed["id"]).stdout.encode() == path.read_bytes()
    assert house.planlog("log", listed["id"]).stdout.encode() == path.read_bytes().partition(b"\n")[2]
    shown = house.planlog("show", listed["id"][:12]).stdout
    assert shown.startswith("> plan the work\n")
    assert "\nDONE\n" in shown


def test_a_torn_last_line_is_left_out_and_said_so(house: House, file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data + b'{"type":"turn/start","se')
    done = house.planlog("import", str(file), **elsewhere(house))
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert "torn by a crash" in done.stderr
    assert house.planlog("export", house.json("sessions")[0]["id"], **elsewhere(house)).stdout == data.decode()


def test_damage_in_the_middle_is_refused_with_its_line_and_nothing_comes_in(house: House, file: Path) -> None:
    lines = file.read_bytes().split(b"\n")
    lines[4] = lines[4][:-3]
    file.write_bytes(b"\n".join(lines))
    done = house.planlog("import", str(file), **elsewhere(house))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "line 5: " in done.stderr
    assert "no sessions yet" in house.planlog("sessions", **elsewhere(house)).stdout


def test_a_file_that_is_none_is_said_in_one_line(house: House) -> None:
    for path in ("nope.jsonl", str(house.folder), "/dev/null"):
        done = house.planlog("import", path)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert done.stderr.startswith("planlog: ")
        assert path in done.stderr
