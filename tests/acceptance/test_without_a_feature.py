"""A session outlives the feature that wrote in it: its log is opened, gone on with and printed by who cannot read all."""

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import House

GOLDEN = sorted((Path(__file__).parent.parent / "golden").glob("*.jsonl"))

BARE = """
roles = ["event", "fold", "service", "tool", "cli", "stdio"]

[[plugin]]
id = "agent"
use = "planlog.agent"
max_steps = 10
approval = "deny"

[[plugin]]
id = "model"
use = "planlog.model"
model = ""
effort = ""
max_tokens = 0
context_window = 0
"""


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_session_opens_goes_on_and_is_printed_byte_for_byte_without_its_features(house: House, path: Path) -> None:
    composition = house.folder / "bare.toml"
    composition.write_text(BARE)
    bare = ("--composition", str(composition))
    log = path.read_bytes().partition(b"\n")[2]
    assert house.planlog("import", str(path), *bare).returncode == 0
    [listed] = house.json("sessions", *bare)
    assert "todos" not in listed
    assert house.planlog("log", listed["id"], *bare).stdout.encode() == log
    assert house.planlog("show", listed["id"], *bare).stdout.count("\nDONE\n") == 1
    resumed = ("run", *bare, "-C", str(house.folder), "--resume", listed["id"])
    done = house.planlog(*resumed, "-m", house.script({"text": "Still here."}), "go on")
    assert (done.returncode, done.stdout) == (0, "Still here.\n")
    longer = house.planlog("log", listed["id"], *bare).stdout.encode()
    assert longer.startswith(log)
    assert json.loads(longer.splitlines()[-1])["data"]["reason"] == {"kind": "completed"}
    assert house.planlog("export", listed["id"], *bare).stdout.encode() == path.read_bytes() + longer[len(log) :]
