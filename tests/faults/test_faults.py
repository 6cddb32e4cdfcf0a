"""Whatever fails at whichever write or sync of a run: nothing acknowledged is lost, and the session goes on."""

import shutil
from pathlib import Path

import pytest

from tests.faults.checks import acknowledged, check_what_is_left
from tests.faults.scene import make_scene
from tests.faults.trace import SYNCS, WRITES, Fault, count_calls, run_traced

HALVES = 2
"""Of each enumeration, so that two processors share the work."""


@pytest.mark.timeout(280)
@pytest.mark.parametrize("half", range(HALVES))
@pytest.mark.parametrize("what", ["signal=KILL", "error=EIO", "error=ENOSPC"])
@pytest.mark.parametrize("calls", [WRITES, SYNCS])
async def test_no_fault_at_any_write_or_sync_loses_anything(tmp_path: Path, calls: str, what: str, half: int) -> None:
    scene = make_scene(tmp_path)
    whole = run_traced(scene.command, scene.files, tmp_path / "trace", cwd=scene.folder)
    assert whole.returncode == 0, whole.stderr
    last = count_calls(tmp_path / "trace", calls)
    assert last > 5
    for nth in range(1 + half, last + 1, HALVES):
        shutil.rmtree(scene.home)
        fault = Fault(calls, what, nth)
        run = run_traced(scene.command, scene.files, tmp_path / "trace", fault, cwd=scene.folder)
        note = f"{fault}: exit {run.returncode}, {run.stderr!r}"
        assert "Traceback" not in run.stderr, note
        if what != "signal=KILL" and run.returncode not in (0, 130):
            assert run.stderr.strip(), note
        try:
            await check_what_is_left(scene, acknowledged(run.stdout))
        except AssertionError as error:
            raise AssertionError(f"{note}: {error}") from error
