import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import external_file

from tests.acceptance.conftest import House
from tests.acp.peers.install import FOLDER
from tests.acp.peers.recording import Recording, agent_command, neutral, recorded
from tests.acp.replies import DONE, PLAN, runs, writes

READ = [("read", "in_progress"), ("write", "pending")]
WRITTEN = [("read", "completed"), ("write", "completed")]

Acpx = Callable[[str], tuple[str, Recording, dict[str, str]]]


@pytest.fixture
def acpx(house: House, node: str, tmp_path: Path) -> Acpx:
    """One prompt by `acpx exec` in a format: what it printed, what passed, and what has other names in each run."""

    def run(format: str) -> tuple[str, Recording, dict[str, str]]:
        model = house.script(
            writes(*PLAN),
            runs("touch a.txt"),
            writes(*({"content": content, "status": status} for content, status in WRITTEN), text="Both."),
            DONE,
        )
        agent = agent_command(house, model, record := tmp_path / "record")
        options = ["--agent", shlex.join(agent), "--cwd", str(house.folder), "--approve-all", "--format", format]
        ran = subprocess.run(
            [node, str(FOLDER / "node_modules/acpx/dist/cli.js"), *options, "--timeout", "20", "exec", "go"],
            cwd=house.folder,
            env=house.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=40,
        )
        assert (ran.returncode, ran.stderr) == (0, ""), ran
        (recording,) = recorded(record)
        assert recording.faults() == []
        return ran.stdout, recording, recording.names({model: "MODEL", str(house.folder): "FOLDER"})

    return run


def test_44_acpx_prints_the_plan(acpx: Acpx, house: House) -> None:
    printed, recording, names = acpx("text")
    assert (house.folder / "a.txt").exists()
    assert "[plan]\n  - [in_progress] read\n  - [pending] write\n" in printed
    assert "[plan]\n  - [completed] read\n  - [completed] write\n" in printed
    assert printed.count("[plan]") == 2
    assert neutral(printed, names) == external_file("golden/acpx_text.txt")
    assert recording.transcript(names) == external_file("golden/acpx_wire.txt")


def test_44_acpx_tells_the_plan_in_json(acpx: Acpx) -> None:
    printed, recording, names = acpx("json")
    lines = [json.loads(line) for line in printed.splitlines()]
    updates = [line["params"]["update"] for line in lines if line.get("method") == "session/update"]
    assert updates == recording.updates()
    plans = [update["entries"] for update in updates if update["sessionUpdate"] == "plan"]
    assert [[(entry["content"], entry["status"]) for entry in plan] for plan in plans] == [READ, WRITTEN]
    assert recording.transcript(names) == external_file("golden/acpx_wire.txt")
