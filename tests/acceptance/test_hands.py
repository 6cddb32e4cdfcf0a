"""A day's work in a folder: the model finds, reads, changes, tests, mends, and tests again, in a real repository."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import House

ROOT = Path(__file__).parents[2]
ROOM = ROOT / "src" / "planlog" / "tools"
RULE = "    words = [word.lower() for word in _WORD.findall(own)]\n"


def git(house: House, *arguments: str) -> str:
    """What git prints in the repository."""
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *arguments],
        cwd=house.folder,
        env=house.env,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def repository(house: House) -> House:
    """A module of this project and its tests, on their own and under version control."""
    shutil.copy(ROOM / "nearest.py", house.folder)
    tests = (ROOM / "test_nearest.py").read_text().replace("planlog.tools.nearest", "nearest")
    (house.folder / "test_nearest.py").write_text(tests)
    (house.folder / ".gitignore").write_text("__pycache__/\n")
    git(house, "init", "-q")
    git(house, "add", ".")
    git(house, "commit", "-q", "-m", "begin")
    return house


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def does(*calls: dict[str, Any], text: str = "") -> dict[str, Any]:
    return {"tool_calls": list(calls), **({"text": text} if text else {})}


def printed_diffs(transcript: str) -> list[str]:
    """The diffs under the rows of changes, without the margin that rows put before them."""
    bodies = re.findall(r"(?m)^✓ (?:edit|write) .*\n((?:^  .*\n)+)", transcript)
    return [re.sub(r"(?m)^  ", "", body) for body in bodies]


def git_diff(text: str) -> str:
    """A diff as git prints it, without the lines that name blobs."""
    return re.sub(r"(?m)^(diff --git|new file mode|index) .*\n", "", text)


def test_a_task_is_done_in_a_real_repository_and_what_is_printed_is_what_git_says(repository: House) -> None:
    house = repository
    tests = f"{sys.executable} -m pytest -q -p no:cacheprovider"
    broken = "    words = _WORD.findall(own)\n"
    mended = "    words = [word.casefold() for word in _WORD.findall(own)]\n"
    steps = [
        does(call("glob", pattern="**/*.py"), call("grep", pattern="def nearest", path="."), text="I look around."),
        does(call("read", path="nearest.py"), call("read", path="test_nearest.py", limit=20)),
        does(call("edit", path="nearest.py", old_string=RULE, new_string=broken)),
        does(call("bash", command="git diff; git add -A"), call("bash", command=tests)),
        does(call("grep", pattern=r"words = _WORD\b", path="nearest.py")),
        does(call("edit", path="nearest.py", old_string=broken, new_string=mended)),
        does(call("write", path="docs/NOTES.md", content="# Notes\n\nWords are compared case-folded.\n")),
        does(call("bash", command=tests)),
        {"text": "Done."},
    ]
    done = house.planlog(
        "run", "-m", house.script(*steps), "--approve", "auto", "compare words as case folding has them"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    assert "failed" in said
    assert re.search(r"\d+ passed", said)
    assert said.count("✗ ") == 1  # the tests, after the first change
    first, second, third = printed_diffs(said)
    # What git printed after the first change, in the row of its command, is what the row of the change shows.
    logged = [event["data"] for event in house.events() if event["type"] == "tool/result"]
    results = [block["content"][0]["text"] for data in logged for block in data["message"]["content"]]
    assert git_diff(next(text for text in results if text.startswith("diff --git")) + "\n") == first
    git(house, "add", "--intent-to-add", ".")
    assert git_diff(git(house, "diff")) == third + second  # by name: docs/NOTES.md, nearest.py
    assert "2 files changed (+" in said + done.stderr
    assert "3 commands" in said + done.stderr
