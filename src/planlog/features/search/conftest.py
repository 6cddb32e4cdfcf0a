"""Trees to search, both engines, and a search as a model asks for it."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planlog.features.search.glob import GLOB
from planlog.features.search.grep import GREP
from planlog.tools.call import run_call
from planlog.tools.outcome import Outcome
from planlog.tools.tool import Execution, Tools


@pytest.fixture
def without_ripgrep(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where ripgrep is not installed: neither beside the interpreter nor on PATH."""
    alone = tmp_path_factory.mktemp("bin") / "python"
    alone.symlink_to(os.path.realpath(sys.executable))
    monkeypatch.setattr("sys.executable", str(alone))
    folders = os.environ["PATH"].split(os.pathsep)
    bare = (folder for folder in folders if not os.path.lexists(os.path.join(folder, "rg")))
    monkeypatch.setenv("PATH", os.pathsep.join(bare))


@pytest.fixture(params=["ripgrep", "python"])
def engine(request: pytest.FixtureRequest) -> str:
    """Which of the engines searches in the test."""
    if request.param == "python":
        request.getfixturevalue("without_ripgrep")
    return request.param


def make(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes these files below `root`."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


async def call(folder: Path, name: str, **arguments: Any) -> Outcome:
    """The outcome of a call."""
    tools = Tools()
    with tools.add(GREP), tools.add(GLOB):
        return await run_call(tools, name, json.dumps(arguments), Execution("c", None, folder))


async def grepped(folder: Path, pattern: str, **arguments: Any) -> str:
    """What the model reads of a search for lines."""
    return (await call(folder, "grep", pattern=pattern, **arguments)).text


async def globbed(folder: Path, pattern: str, **arguments: Any) -> str:
    """What the model reads of a search for names."""
    return (await call(folder, "glob", pattern=pattern, **arguments)).text


def children() -> set[int]:
    """The processes that this one has started and that are there, ended or not."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):
        try:
            found |= {int(pid) for pid in Path(f"/proc/self/task/{task}/children").read_text().split()}
        except FileNotFoundError:  # a thread that ended
            continue
    return found
