import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from inline_snapshot import external_file

from tests.acceptance.conftest import House
from tests.acp.peers.install import FOLDER
from tests.acp.peers.recording import Recording, agent_command, recorded
from tests.acp.replies import DONE, PLAN, runs, writes

AGAIN = [{"content": "read", "status": "completed"}, {"content": "write", "status": "in_progress"}]


def check(client: list[str], house: House, record: Path) -> tuple[list[list[Any]], list[Recording], str]:
    """Runs a client: what it printed, what passed by processes, and the transcript."""
    model = house.script(
        writes(*PLAN),
        runs("touch a.txt"),
        DONE,
        writes(*AGAIN, text="Again."),
        runs("touch b.txt"),
    )
    ran = subprocess.run(
        [*client, str(house.folder), *agent_command(house, model, record)],
        cwd=house.folder,
        env=house.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=40,
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran
    recordings = recorded(record)
    assert [recording.faults() for recording in recordings] == [[], []]
    names = {model: "MODEL", str(house.folder): "FOLDER"}
    return (
        [json.loads(line) for line in ran.stdout.splitlines()],
        recordings,
        "".join(recording.transcript(recording.names(names)) for recording in recordings),
    )


def judge(printed: list[list[Any]], recordings: list[Recording], house: House, unknown: str = "") -> None:
    """Nothing is lost, and nothing arrives as anything else than it was sent, but for a field that is `unknown`."""
    assert [value for what, value in printed if what == "update"] == [
        {name: value for name, value in update.items() if name != unknown}
        for recording in recordings
        for update in recording.updates()
    ]
    assert [(what, value) for what, value in printed if what in ("initialized", "stopped", "ended")] == [
        ("initialized", 1),
        ("stopped", "end_turn"),
        ("stopped", "cancelled"),
        ("ended", 0),
        ("initialized", 1),
        ("ended", 0),
    ]
    asked = [value["toolCall"]["title"] for what, value in printed if what == "question"]
    assert asked == ["touch a.txt", "touch b.txt"]
    assert [path.name for path in house.folder.iterdir()] == ["a.txt"]
    plans = [
        [[{**entry, "priority": "medium"} for entry in plan] for plan in told] for told in ([PLAN, [], AGAIN], [AGAIN])
    ]
    assert [[update["entries"] for update in recording.updates("plan")] for recording in recordings] == plans


def test_44_the_client_of_the_typescript_sdk_is_told_all(house: House, node: str, tmp_path: Path) -> None:
    printed, recordings, transcript = check([node, str(FOLDER / "sdk_client.mjs")], house, tmp_path / "record")
    judge(printed, recordings, house)
    assert transcript == external_file("golden/typescript_sdk_wire.txt")


def test_44_the_client_of_the_python_sdk_is_told_all(house: House, tmp_path: Path) -> None:
    printed, recordings, transcript = check([sys.executable, str(FOLDER / "sdk_client.py")], house, tmp_path / "record")
    judge(printed, recordings, house, unknown="name")  # of a tool
    assert transcript == external_file("golden/python_sdk_wire.txt")
