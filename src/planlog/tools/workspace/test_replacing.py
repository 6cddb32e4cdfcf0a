import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace import confine, replace_file
from planlog.tools.workspace.conftest import SECRET, failure_of, raced, swapped


@pytest.fixture(params=["nameless", "named"], autouse=True)
def _meantime(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test twice: as the system has it, and as on one where nothing can be written without a name."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


def go_on() -> bool:
    return False


def refusal(root: Path, place: str, data: bytes = b"new", before: bytes | None = None) -> str:
    with pytest.raises(ToolFailure) as caught:
        replace_file(root, place, data, before=before, stopped=go_on)
    return caught.value.text


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file with its content and every folder, by its path."""
    found = sorted(root.rglob("*"))
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in found}


def test_a_file_is_made_with_its_folders_and_replaced_with_its_mode(workspace: Path) -> None:
    replace_file(workspace, "src/deep/a.sh", b"one", before=None, stopped=go_on)
    assert tree(workspace) == {"src": None, "src/deep": None, "src/deep/a.sh": b"one"}
    made = workspace / "src" / "deep" / "a.sh"
    (workspace / "usual").touch()
    assert made.stat().st_mode == (workspace / "usual").stat().st_mode
    made.chmod(0o751)
    replace_file(workspace, "src/deep/a.sh", b"two", before=b"one", stopped=go_on)
    assert (made.read_bytes(), stat.S_IMODE(made.stat().st_mode)) == (b"two", 0o751)
    replace_file(workspace, "src/deep/a.sh", b"", before=b"two", stopped=go_on)
    replace_file(workspace, "src/deep/a.sh", b"x" * 3_000_000, before=b"", stopped=go_on)
    assert tree(workspace)["src/deep/a.sh"] == b"x" * 3_000_000
    assert sorted(os.listdir(made.parent)) == ["a.sh"]


def test_what_changed_meanwhile_is_not_replaced(workspace: Path) -> None:
    (workspace / "a").write_bytes(b"theirs")
    before = tree(workspace)
    changed = '"a" changed meanwhile; read it again'
    for expected in (None, b"", b"their", b"theirs!", b"Theirs", b"theirs" * 500_000):
        assert refusal(workspace, "a", before=expected) == changed
    assert refusal(workspace, "b", before=b"") == '"b" changed meanwhile; read it again'
    assert refusal(workspace, "new/b", before=b"") == '"new/b" changed meanwhile; read it again'
    assert tree(workspace) == before


def test_what_changes_while_the_new_content_is_written_is_not_replaced(workspace: Path) -> None:
    (workspace / "a").write_bytes(b"mine")

    def change() -> bool:
        (workspace / "a").write_bytes(b"theirs")
        return False

    with pytest.raises(ToolFailure, match=r'^"a" changed meanwhile; read it again$'):
        replace_file(workspace, "a", b"new", before=b"mine", stopped=change)
    assert tree(workspace) == {"a": b"theirs"}


@pytest.mark.parametrize("moment", [1, 2])
def test_a_file_that_somebody_makes_at_the_last_moment_is_not_replaced(workspace: Path, moment: int) -> None:
    asked = 0

    def make() -> bool:  # is asked for the last time between the last look and the naming
        nonlocal asked
        asked += 1
        if asked == moment:
            (workspace / "a").write_bytes(b"theirs")
        return False

    with pytest.raises(ToolFailure, match=r'^"a" changed meanwhile; read it again$'):
        replace_file(workspace, "a", b"new", before=None, stopped=make)
    assert tree(workspace) == {"a": b"theirs"}
    assert asked == moment


def test_only_the_folder_that_was_made_is_removed_again(workspace: Path) -> None:
    def exchange() -> bool:
        (workspace / "new").rename(workspace / "aside")
        (workspace / "new").mkdir()
        return True

    with pytest.raises(ToolFailure, match=r"^stopped before"):
        replace_file(workspace, "new/a", b"new", before=None, stopped=exchange)
    assert tree(workspace) == {"aside": None, "new": None}


def test_of_many_who_make_the_same_file_one_does(workspace: Path) -> None:
    barrier = threading.Barrier(8)
    said: list[str] = []

    def make(data: bytes) -> None:
        barrier.wait()
        said.append(failure_of(lambda: replace_file(workspace, "new/a", data, before=None, stopped=go_on)))

    threads = [threading.Thread(target=make, args=(b"%d" % number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == ["", *['"new/a" changed meanwhile; read it again'] * 7]
    assert sorted(tree(workspace)) == ["new", "new/a"]


def test_whoever_stops_it_finds_all_as_it_was(workspace: Path) -> None:
    (workspace / "a").write_bytes(b"old")
    answers = 0
    for before, place in ((b"old", "a"), (None, "new/deep/b")):
        for patience in range(5):
            asked = iter([False] * patience)
            with pytest.raises(ToolFailure, match=f'^stopped before "{place}" was written; nothing was changed$'):
                replace_file(workspace, place, b"x" * 4_000_000, before=before, stopped=lambda: next(asked, True))  # noqa: B023
            assert tree(workspace) == {"a": b"old"}
            answers += 1
    assert answers == 10


def test_a_moved_folder_is_noticed(workspace: Path) -> None:
    (workspace / "src").mkdir()

    def move() -> bool:
        (workspace / "src").rename(workspace / "elsewhere")
        (workspace / "src").mkdir()
        return False

    with pytest.raises(ToolFailure, match=r'^"src/a" changed meanwhile; read it again$'):
        replace_file(workspace, "src/a", b"new", before=None, stopped=move)
    assert tree(workspace) == {"elsewhere": None, "src": None}


def test_only_files_are_replaced(workspace: Path) -> None:
    (workspace / "folder").mkdir()
    (workspace / "file").touch()
    (workspace / "link").symlink_to("../outside/secret")
    (workspace / "dangling").symlink_to("../outside/new")
    (workspace / "out").symlink_to("../outside")
    os.mkfifo(workspace / "fifo")
    assert refusal(workspace, ".") == '"." is a folder, not a file'
    assert refusal(workspace, "folder") == '"folder" is a folder, not a file'
    assert refusal(workspace, "fifo") == '"fifo" is a FIFO, not a file'
    assert refusal(workspace, "file/a") == '"file" is a file, not a folder'
    for place in ("link", "dangling"):
        assert refusal(workspace, place) == f'"{place}" changed meanwhile; read it again'
    assert refusal(workspace, "out/new") == '"out" changed meanwhile; read it again'
    for place in ("../outside/new", "/etc/new", "a/../../outside/new"):
        assert refusal(workspace, place) == f'"{place}" is outside of the workspace {workspace}'
    assert tree(workspace.parent / "outside") == {"secret": SECRET}


def test_other_names_of_a_file_keep_the_old_content(workspace: Path) -> None:
    store = workspace.parent / "outside" / "secret"
    (workspace / "a").hardlink_to(store)
    replace_file(workspace, "a", b"mine", before=SECRET, stopped=go_on)
    assert (store.read_bytes(), (workspace / "a").read_bytes()) == (SECRET, b"mine")


def test_a_file_too_large_for_its_limit_leaves_all_as_it_was(workspace: Path) -> None:
    (workspace / "a").write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, limits[1]))
    try:
        assert refusal(workspace, "a", b"x" * 3_000_000, b"old") == '"a": File too large'
        assert refusal(workspace, "new/b", b"x" * 3_000_000) == '"new/b": File too large'
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert tree(workspace) == {"a": b"old"}


def test_what_may_not_be_written_stays(somebody: Path) -> None:
    (somebody / "file").write_bytes(b"old")
    (somebody / "file").chmod(0o444)
    (somebody / "closed").mkdir()
    (somebody / "closed" / "a").write_bytes(b"old")
    (somebody / "closed").chmod(0o555)
    before = tree(somebody)
    assert refusal(somebody, "file", before=b"old") == '"file" is read-only'
    assert refusal(somebody, "closed/a", before=b"old") == '"closed/a": permission denied'
    assert refusal(somebody, "closed/new/b") == '"closed/new": permission denied'
    assert tree(somebody) == before


def test_a_name_too_long_is_refused_and_no_folder_is_left(workspace: Path) -> None:
    assert refusal(workspace, f"new/{'x' * 256}").endswith(" is too long for a path")
    assert refusal(workspace, f"new/{'x' * 256}/a").endswith(" is too long for a path")
    assert tree(workspace) == {}


if (
    sys.platform == "linux" and os.geteuid() == 0
):  # Only the superuser makes small file systems, gives files away, and mounts.

    @pytest.fixture
    def small_disk(workspace: Path) -> Generator[Path]:
        """A file system of one megabyte."""
        disk = workspace.parent / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
        yield disk
        subprocess.run(["umount", disk], check=True)

    def test_a_full_disk_leaves_all_as_it_was(small_disk: Path) -> None:
        (small_disk / "a").write_bytes(b"old")
        assert refusal(small_disk, "a", b"x" * 2_000_000, b"old") == '"a": No space left on device'
        assert refusal(small_disk, "new/deep/b", b"x" * 2_000_000) == '"new/deep/b": No space left on device'
        assert tree(small_disk) == {"a": b"old"}

    def test_nothing_is_written_to_what_is_mounted_below_the_workspace(small_disk: Path) -> None:
        root = small_disk.parent
        (root / "workspace" / "file").touch()
        subprocess.run(["mount", "--bind", root / "outside" / "secret", root / "workspace" / "file"], check=True)
        try:
            for place in ("disk/a", "disk/new/a"):
                assert refusal(root, place) == f'"disk" is outside of the workspace {root}'
            assert refusal(root, "workspace/file", before=SECRET) == (
                '"workspace/file" is outside of the workspace: something is mounted there'
            )
        finally:
            subprocess.run(["umount", root / "workspace" / "file"], check=True)
        assert tree(small_disk) == {}

    def test_the_owner_is_kept_and_a_program_that_runs_as_its_owner_changes_it_for_nobody(workspace: Path) -> None:
        for name, mode in (("a", 0o640), ("b", 0o4755)):
            (workspace / name).write_bytes(b"old")
            os.chown(workspace / name, 1234, 4321)
            (workspace / name).chmod(mode)
            replace_file(workspace, name, b"new", before=b"old", stopped=go_on)
            found = (workspace / name).stat()
            assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, mode)

    def test_where_the_owner_cannot_be_kept_the_program_runs_as_nobody_else(somebody: Path) -> None:
        os.seteuid(0)
        (somebody / "a").write_bytes(b"old")
        (somebody / "a").chmod(0o4777)
        os.seteuid(65534)
        replace_file(somebody, "a", b"new", before=b"old", stopped=go_on)
        found = (somebody / "a").stat()
        assert (found.st_uid, stat.S_IMODE(found.st_mode)) == (65534, 0o777)


@pytest.mark.parametrize("place", ["folder/secret", "folder/new/deep/a"])
def test_nothing_outside_changes_while_a_folder_is_swapped_for_a_link(workspace: Path, place: str) -> None:
    (workspace / "folder").mkdir()
    (workspace / "folder" / "kept").touch()  # an empty one may be taken for a folder that a failed write has made
    outside = workspace.parent / "outside"
    before = tree(outside)

    def write() -> None:
        replace_file(workspace, confine(workspace, place), b"new", before=None, stopped=go_on)

    with swapped(workspace / "folder", "../outside") as swaps:
        while not swaps.over:
            assert raced(failure_of(write))
    assert tree(outside) == before
    assert not [path for path in workspace.rglob("*") if path.name.startswith(".planlog-")]
