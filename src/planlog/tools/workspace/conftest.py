"""A workspace with a folder outside of it, somebody for whom permissions count, and somebody who swaps files."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from planlog.tools.tool import ToolFailure

SECRET = b"outside\n"
SWAPS = 300


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace; beside it lies the folder `outside` with the file `secret`."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(SECRET)
    root = tmp_path / "workspace"
    root.mkdir()
    return root


@pytest.fixture
def somebody() -> Generator[Path]:
    """A folder of somebody for whom permissions count, as whom the test goes on."""
    folder = Path(tempfile.mkdtemp()).resolve()
    superuser = os.geteuid() == 0
    if superuser:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    yield folder
    if superuser:
        os.seteuid(0)
    subprocess.run(["chmod", "-R", "u+rwx", folder], check=True)
    subprocess.run(["rm", "-rf", folder], check=True)


def failure_of(act: Callable[[], object]) -> str:
    """What `act` fails with; empty where it does not."""
    try:
        act()
    except ToolFailure as failure:
        return failure.text
    return ""


def raced(said: str) -> bool:
    """Whether a call came through, or failed because of what was there at that moment."""
    return any(words in f"{said} " for words in ("meanwhile", "outside", "not exist")) or not said


class Swaps:
    """How often it was swapped so far; `over` when it cannot go on, or need not."""

    def __init__(self) -> None:
        self.count = 0
        self.over = False


@contextmanager
def swapped(victim: Path, target: str) -> Generator[Swaps]:
    """Swaps `victim` for a link to `target`, again and again in a thread, until the block ends; then it is back."""
    swaps = Swaps()
    aside = victim.with_name(f"{victim.name}.aside")

    def insist(act: Callable[[], None]) -> None:
        while True:
            try:
                return act()
            except OSError:  # in between, somebody made a folder of this name
                shutil.rmtree(victim, ignore_errors=True)

    def swap() -> None:
        while not swaps.over:
            os.rename(victim, aside)
            insist(lambda: os.symlink(target, victim))
            os.unlink(victim)
            insist(lambda: os.rename(aside, victim))
            swaps.count += 1
            swaps.over |= swaps.count >= SWAPS

    def run() -> None:
        try:
            swap()
        finally:
            swaps.over = True

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield swaps
    finally:
        swaps.over = True
        thread.join()
    assert swaps.count >= SWAPS
