"""Durable before visible: what a run prints as done was synced before, and a store that does not sync is caught."""

import json
import sys
from pathlib import Path

import pytest

from tests.faults.scene import CARELESS, make_scene
from tests.faults.trace import Call, order_of_calls


def unsynced(calls: list[Call], seqs: list[int]) -> list[int]:
    """The seqs among `seqs` whose line was printed before a completed sync had followed its write to the database."""
    found = []
    for seq in seqs:
        mark = f'\\"seq\\":{seq},'
        written = next((i for i, c in enumerate(calls) if c.name == "pwrite64" and mark in c.argument), None)
        assert written is not None, f"no write of seq {seq} was seen"
        printed = next(
            (
                i
                for i, c in enumerate(calls)
                if c.name == "write" and c.argument.startswith("1<") and mark in c.argument
            ),
            None,
        )
        assert printed is not None, f"seq {seq} was not printed"
        between = calls[written:printed]
        if not any(c.name in ("fdatasync", "fsync") and "planlog.db" in c.argument for c in between):
            found.append(seq)
    return found


@pytest.mark.parametrize("careless", [False, True], ids=["synchronous=FULL", "synchronous=OFF"])
def test_no_acknowledgement_is_printed_without_a_completed_sync_after_its_write(tmp_path: Path, careless: bool) -> None:
    scene = make_scene(tmp_path)
    command = scene.command
    if careless:
        command = [sys.executable, "-c", CARELESS, *command[command.index("planlog") + 1 :]]
    calls = order_of_calls(command, tmp_path / "trace", cwd=scene.folder)
    seqs = [event["seq"] for event in scene.stored_events()]
    assert len(seqs) > 10
    if careless:
        assert unsynced(calls, seqs), "a store that never syncs has to be noticed"
    else:
        assert unsynced(calls, seqs) == []


def test_the_scene_is_what_the_tests_think_it_is(tmp_path: Path) -> None:
    scene = make_scene(tmp_path)
    run = scene.run()
    assert run.returncode == 0, run.stderr
    printed = [json.loads(line)["type"] for line in run.stdout.splitlines()]
    assert printed.count("tool/call") == printed.count("tool/result") == 4
    assert printed[0] == "agent/inbox/spliced" or "turn/start" in printed
    assert printed[-1] == "turn/end"
