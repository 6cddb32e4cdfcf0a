"""The workshop keeps its own promises: pinned versions, no addresses, nothing left out."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
REGISTRIES = [
    ".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"))
]
LOCK_FILES = re.compile(
    r"(uv|poetry|pdm)\.lock|Pipfile\.lock|pylock.*\.toml|.*package-lock\.json|yarn\.lock|pnpm-lock\.yaml"
)


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def tracked_files() -> list[Path]:
    """What is under version control; in an unpacked archive, everything there is."""
    if not (ROOT / ".git").exists():
        return [path for path in ROOT.rglob("*") if path.is_file()]
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def everything_needed(requirement: Requirement, seen: set[str]) -> set[str]:
    """The names of all distributions that an installed requirement brings on this platform."""
    for extra in requirement.extras or {""}:
        key = f"{canonicalize_name(requirement.name)}[{extra}]"
        if key in seen:
            continue
        seen.add(key)
        for text in requires(requirement.name) or []:
            child = Requirement(text)
            if child.marker is None or child.marker.evaluate({"extra": extra}):
                everything_needed(child, seen)
    return {key.partition("[")[0] for key in seen}


def test_every_distribution_that_the_checks_install_is_pinned() -> None:
    unpinned = everything_needed(Requirement("planlog[dev]"), set()) - pins().keys() - {"planlog"}
    assert not unpinned, f"add to constraints.txt: {', '.join(sorted(unpinned))}"


def test_the_build_is_pinned_to_the_versions_of_the_constraints() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert required == [f"{name}=={pins()[name]}" for name in (text.split("==")[0] for text in required)]


def test_no_file_holds_the_address_of_a_package_registry() -> None:
    files = tracked_files()
    assert [path for path in files if LOCK_FILES.fullmatch(path.name)] == []
    addresses = re.compile("|".join(map(re.escape, REGISTRIES)).encode())
    assert [path for path in files if addresses.search(path.read_bytes())] == []


LEAVES_OUT = """
import pytest

def test_that_passes(): pass

def test_that_is_skipped(): pytest.skip("not today")

def test_that_costs_money(): pytest.skip("opt-in: nobody asked for it")

@pytest.mark.xfail
def test_that_is_expected_to_fail(): assert False
"""


@pytest.mark.parametrize(("allow", "status"), [("0", pytest.ExitCode.TESTS_FAILED), ("1", pytest.ExitCode.OK)])
def test_a_run_that_leaves_a_test_out_is_red_unless_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allow: str, status: pytest.ExitCode
) -> None:
    monkeypatch.setenv("PLANLOG_ALLOW_SKIPS", allow)
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(LEAVES_OUT)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "1", "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == status, run.stdout + run.stderr
    assert ("left out: test_it.py::test_that_is_skipped" in run.stdout) == (allow == "0")
    assert "left out: test_it.py::test_that_costs_money" not in run.stdout
