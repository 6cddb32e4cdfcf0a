"""Wherever a Ctrl-C finds the turn, it stops, each call has one result, nothing is left running, the next prompt works."""

import time
from pathlib import Path

import pytest

from tests.acceptance.conftest import House
from tests.acceptance.moments import MOMENTS, Moment


def running(house: House) -> list[str]:
    """The command lines of processes that work in the folder, or below it."""
    found: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_here = process.joinpath("cwd").readlink().is_relative_to(house.folder)
            words = process.joinpath("cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if is_here and words:  # what has ended and was not waited for has none
            found.append(words.replace(b"\0", b" ").decode())
    return found


@pytest.mark.parametrize("moment", MOMENTS, ids=[moment.name for moment in MOMENTS])
def test_one_ctrl_c_ends_the_turn_whatever_it_is_doing(house: House, moment: Moment) -> None:
    at_work = moment.begin(house)
    files = sorted(path.name for path in house.folder.iterdir())
    at_work.interrupt()
    while not at_work.is_over():
        time.sleep(0.005)
    assert at_work.finish() == 130
    assert running(house) == []
    events = house.events()
    assert events[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "user"}}
    called = [event["data"]["callId"] for event in events if event["type"] == "tool/call"]
    results = [event["data"] for event in events if event["type"] == "tool/result"]
    assert sorted(called) == sorted(data["message"]["source"]["callId"] for data in results)
    assert len(set(called)) == len(called) == moment.calls
    assert len([data for data in results if "error" in data]) == min(moment.calls, 1)
    # A file that was being written is not there, nor what was written of it; one that is read is as it was.
    assert sorted(path.name for path in house.folder.iterdir()) == [name for name in files if not name.startswith(".")]
    done = house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "go on")
    assert (done.returncode, done.stdout) == (0, "Back.\n"), done
