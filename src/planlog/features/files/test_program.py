"""Reading as a person sees it, through the real program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import House as Machine

from planlog.app.shipped import SHIPPED
from planlog.features.files.seen import SEEN, stamp
from planlog.log.event import read_line


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine of its own for the test."""
    machine = Machine(tmp_path)
    yield machine
    machine.stop()


def reads(path: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "read", "arguments": {"path": path}}]}


def test_the_model_reads_files_side_by_side_unasked_and_the_log_says_which_state_it_saw(machine: Machine) -> None:
    (machine.folder / "a").write_text("one\ntwo\n")
    (machine.folder / "b").write_bytes(b"caf\xe9")
    (machine.folder / "out").symlink_to("/etc/passwd")
    calls = [reads(path)["tool_calls"][0] for path in ("a", "./b", "out")]
    done = machine.planlog("run", "-m", machine.script({"tool_calls": calls}, {"text": "Read."}), "read")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Read.")
    blocks = [event["data"]["message"]["content"][0] for event in machine.events() if event["type"] == "tool/result"]
    assert sorted(block["content"][0]["text"] for block in blocks) == [
        "1\tcafé\n[not UTF-8, shown as Latin-1; no line feed at the end]",
        "1\tone\n2\ttwo",
        f'Error: "out" is outside of the workspace {machine.folder}',
    ]
    lines = machine.planlog("log").stdout.encode().splitlines()
    assert SEEN.fold(map(read_line, lines)) == {"a": stamp(b"one\ntwo\n"), "b": stamp(b"caf\xe9")}
    assert "read" in [tool["name"] for tool in machine.json("tools")]


def test_a_rule_that_forbids_some_files_is_not_got_around_by_another_name_for_them(machine: Machine) -> None:
    (machine.folder / "conf").mkdir()
    (machine.folder / "conf" / ".env").write_text("KEY=secret\n")
    (machine.folder / "link").symlink_to("conf/.env")
    (machine.folder / "folder").symlink_to("conf")
    paths = ["conf/.env", "link", "folder/.env", "./conf/../conf/.env", str(machine.folder / "conf" / ".env")]
    script = machine.script({"tool_calls": [reads(path)["tool_calls"][0] for path in paths]}, {"text": "None."})
    own = machine.folder.parent / "own.toml"
    shipped = (SHIPPED / "stdio.toml").read_text()
    own.write_text(shipped.replace('id = "agent"\n', 'id = "agent"\ndeny = ["read *.env"]\n'))
    done = machine.planlog("--composition", str(own), "run", "-m", script, "--json", "read")
    assert done.returncode == 0
    assert "secret" not in done.stdout
    assert done.stdout.count("a rule of this program forbids it") == len(paths)
