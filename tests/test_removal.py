"""A feature is a room: in a copy of the house its folder is taken away, and nothing is missed but its own tests."""

import os
import shutil
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOM = "src/planlog/features/todo/"
NOT_AGAIN = (
    "tests/test_removal.py",
    "tests/test_workshop.py",
    "tests/acp/peers",
    "tests/acp/test_checklist_transport.py",
    "tests/acp/test_mcp.py",
    "tests/acp/test_meanwhile.py",
    "tests/faults/test_faults.py",
    "tests/wire/test_wire.py",
    "tests/acceptance/test_cancel.py",
    "tests/acceptance/test_hands.py",
    "tests/acceptance/test_workspace.py",
    "src/planlog/tools",
    "src/planlog/model",
    "src/planlog/features",  # features do not know each other: the import contracts see to that
)
"""What is collected, but not run once more: it would take minutes, or asks nothing about what features add."""
LONG = ("twelve_is_an_error", "ten_are_too_long")
"""Tests that wait for ten seconds."""


class Copy:
    """A copy of the project, with a Python to which it is the installed one."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "copy"
        shutil.copytree(
            ROOT, self.root, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache", "node_modules")
        )
        venv.create(folder / "env", symlinks=True)
        self._python = folder / "env" / "bin" / "python"
        (site,) = (folder / "env").glob("lib/python*/site-packages")
        packages = sysconfig.get_path("purelib")
        site.joinpath("copy.pth").write_text(f"{self.root / 'src'}\nimport site; site.addsitedir({packages!r})\n")

    def pytest(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """One run in the copy."""
        return subprocess.run(
            [self._python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--inline-snapshot=disable", *arguments],
            cwd=self.root,
            env={"PATH": os.environ["PATH"], "HOME": str(self.root.parent), "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )

    def collected(self) -> list[str]:
        """The ids of all tests."""
        run = self.pytest("--collect-only")
        assert run.returncode == 0, run.stdout + run.stderr
        return [line for line in run.stdout.splitlines() if "::" in line]


@pytest.mark.timeout(900)
def test_without_the_plan_nothing_is_missed_but_its_own_tests(tmp_path: Path) -> None:
    copy = Copy(tmp_path)
    whole = copy.collected()
    assert any(test.startswith(ROOM) for test in whole)
    shutil.rmtree(copy.root / ROOM)
    assert copy.collected() == [test for test in whole if not test.startswith(ROOM)]
    ignored = [f"--ignore={path}" for path in NOT_AGAIN]
    run = copy.pytest("-n", "2", "-k", " and ".join(f"not {name}" for name in LONG), *ignored)
    assert run.returncode == 0, run.stdout + run.stderr
    assert " skipped" not in run.stdout
