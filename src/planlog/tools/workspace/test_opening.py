import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace import confine, open_file
from planlog.tools.workspace.conftest import failure_of, raced, swapped
from planlog.tools.workspace.mounts import PATH_ONLY
from planlog.tools.workspace.opening import READING
from planlog.tools.workspace.walking import LINK


def read(root: Path, place: str) -> bytes:
    descriptor = open_file(root, place)
    with open(descriptor, "rb") as file:
        assert not os.get_inheritable(descriptor)
        return file.read()


def refusal(root: Path, place: str) -> str:
    with pytest.raises(ToolFailure) as caught:
        read(root, place)
    return caught.value.text


def test_a_file_is_opened_for_reading(workspace: Path) -> None:
    (workspace / "src" / "deep").mkdir(parents=True)
    (workspace / "src" / "deep" / "a").write_bytes(b"text")
    assert read(workspace, "src/deep/a") == b"text"


def test_a_missing_file_is_named_and_so_is_the_one_that_was_meant(workspace: Path) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "Main.py").touch()
    (workspace / "src" / "domain.py").touch()
    ignores_case = (workspace / "SRC").exists()
    assert refusal(workspace, "src/mian.py") == '"src/mian.py" does not exist; did you mean "src/Main.py"?'
    if not ignores_case:
        assert refusal(workspace, "src/main.py") == '"src/main.py" does not exist; did you mean "src/Main.py"?'
    assert refusal(workspace, "src/other.txt") == '"src/other.txt" does not exist'
    assert refusal(workspace, "lib/a") == '"lib" does not exist'


def test_what_is_no_file_is_called_what_it_is_and_a_fifo_is_not_waited_for(workspace: Path) -> None:
    (workspace / "folder").mkdir()
    (workspace / "file").touch()
    os.mkfifo(workspace / "fifo")
    with tempfile.TemporaryDirectory(dir="/tmp") as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/socket")
        os.rename(f"{short}/socket", workspace / "socket")
    assert refusal(workspace, ".") == '"." is a folder, not a file'
    assert refusal(workspace, "folder") == '"folder" is a folder, not a file'
    assert refusal(workspace, "fifo") == '"fifo" is a FIFO, not a file'
    assert refusal(workspace, "socket") == '"socket" is a socket, not a file'
    assert refusal(workspace, "file/a") == '"file" is a file, not a folder'
    assert refusal(workspace, "fifo/a") == '"fifo" is a FIFO, not a folder'
    assert refusal(Path("/dev"), "null") == '"null" is a device, not a file'


def test_a_place_that_confine_never_gave_is_refused(workspace: Path) -> None:
    for place in ("../outside/secret", "/etc/passwd", "a/../../outside/secret", "a//b", "./a", ""):
        assert refusal(workspace, place) == f'"{place}" is outside of the workspace {workspace}'


def test_no_link_is_followed(workspace: Path) -> None:
    (workspace / "file").symlink_to("../outside/secret")
    (workspace / "folder").symlink_to("../outside")
    (workspace / "inside").symlink_to("real")
    (workspace / "real").touch()
    for place in ("file", "inside"):
        assert refusal(workspace, place) == f'"{place}" changed meanwhile; read it again'
    assert refusal(workspace, "folder/secret") == '"folder" changed meanwhile; read it again'


def test_what_may_not_be_read_is_named(somebody: Path) -> None:
    (somebody / "file").touch(0)
    (somebody / "closed").mkdir(0)
    assert refusal(somebody, "file") == '"file": permission denied'
    # It is the folder that may not be listed where folders cannot be opened without that.
    assert refusal(somebody, "closed/a") == f'"{"closed/a" if PATH_ONLY else "closed"}": permission denied'


def test_a_folder_that_may_be_entered_but_not_listed_is_no_hindrance(somebody: Path) -> None:
    (somebody / "dark").mkdir()
    (somebody / "dark" / "a").write_bytes(b"text")
    (somebody / "dark").chmod(0o300)
    if PATH_ONLY:
        assert read(somebody, "dark/a") == b"text"
        assert refusal(somebody, "dark/b") == '"dark/b" does not exist'


def test_a_failed_opening_leaves_nothing_open(workspace: Path) -> None:
    (workspace / "src").mkdir()
    os.mkfifo(workspace / "src" / "fifo")
    before = len(os.listdir("/dev/fd"))
    for place in ("src/fifo", "src/none", "src", "src/fifo/x", "none/a"):
        refusal(workspace, place)
    confine(workspace, "src/fifo")
    assert len(os.listdir("/dev/fd")) == before


def test_what_comes_between_the_look_and_the_opening_is_not_followed_and_not_waited_for(workspace: Path) -> None:
    (workspace / "link").symlink_to("../outside/secret")
    os.mkfifo(workspace / "fifo")
    with pytest.raises(OSError) as caught:
        os.open(workspace / "link", READING)
    assert caught.value.errno in LINK
    os.close(os.open(workspace / "fifo", READING))


if sys.platform == "linux" and os.geteuid() == 0:  # Only the superuser mounts.

    def test_a_file_that_is_mounted_below_the_workspace_is_outside(workspace: Path) -> None:
        (workspace / "file").touch()
        subprocess.run(["mount", "--bind", workspace.parent / "outside" / "secret", workspace / "file"], check=True)
        try:
            assert refusal(workspace, "file") == f'"file" is outside of the workspace {workspace}'
        finally:
            subprocess.run(["umount", workspace / "file"], check=True)


@pytest.mark.parametrize("name", ["folder", "file"])
def test_what_is_swapped_for_a_link_while_it_is_opened_never_shows_what_is_outside(workspace: Path, name: str) -> None:
    (workspace / "folder").mkdir()
    (workspace / "folder" / "secret").write_bytes(b"inside\n")
    (workspace / "file").write_bytes(b"inside\n")
    place, target = ("folder/secret", "../outside") if name == "folder" else ("file", "../outside/secret")
    seen: set[bytes] = set()
    with swapped(workspace / name, target) as swaps:
        while not swaps.over:
            assert raced(failure_of(lambda: seen.add(read(workspace, confine(workspace, place)))))
    assert seen <= {b"inside\n"}
