import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace import confine
from planlog.tools.workspace.conftest import failure_of


def refusal(root: Path, path: str) -> str:
    with pytest.raises(ToolFailure) as caught:
        confine(root, path)
    assert caught.value.text.isprintable()
    return caught.value.text.replace(f" workspace {root}", " workspace ROOT")


def test_a_path_is_relative_to_the_workspace_or_absolute_and_need_not_exist(workspace: Path) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "a.py").touch()
    for path in ("src/a.py", "./src//a.py", "src/../src/a.py", f"{workspace}/src/a.py", "new/../src/./a.py"):
        assert confine(workspace, path) == "src/a.py"
    assert confine(workspace, "src/new/b.py") == "src/new/b.py"
    for path in (".", "./", "src/..", str(workspace), f"{workspace}/"):
        assert confine(workspace, path) == "."
    assert confine(workspace, "src/") == "src"
    assert confine(workspace, "~/a") == "~/a"


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../outside/secret",
        "../../../../../../../../etc/passwd",
        "/etc/passwd",
        "/",
        "src/../../outside",
        "new/../../outside/secret",
        "../workspace2",
        "/dev/fd/0",
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
    ],
)
def test_what_leads_out_is_refused(workspace: Path, path: str) -> None:
    (workspace.parent / "workspace2").mkdir()
    assert refusal(workspace, path) == f'"{path}" is outside of the workspace ROOT'


@pytest.mark.parametrize("path", ["..%2f..%2fetc%2fpasswd", "%2e%2e/secret", "....//secret", "CON", "..\\secret", "…"])
def test_what_only_looks_like_a_way_out_is_a_name(workspace: Path, path: str) -> None:
    assert confine(workspace, path) == path.replace("//", "/")


def test_a_link_that_stays_inside_is_its_target_and_one_that_leads_out_is_refused(workspace: Path) -> None:
    (workspace / "src").mkdir()
    (workspace / "src" / "deep").mkdir()
    links = {
        "inside": "src",
        "absolute": str(workspace / "src"),
        "chain": "inside/deep",
        "there and back": "../workspace/src",
        "new": "src/not yet",
        "out": "../outside",
        "file": "../outside/secret",
        "nothing": "../outside/not yet",
        "chained": "out",
        "up": "..",
        "src/up": "../..",
    }
    for name, target in links.items():
        (workspace / name).symlink_to(target)
    assert confine(workspace, "inside/a") == "src/a"
    assert confine(workspace, "absolute/a") == "src/a"
    assert confine(workspace, "there and back/a") == "src/a"
    assert confine(workspace, "chain/../a") == "src/a"  # as the system sees it: above what the link leads to
    assert confine(workspace, "new") == "src/not yet"
    assert confine(workspace, "up/workspace/src") == "src"
    for path in ("out", "out/secret", "file", "nothing", "chained/secret", "up/outside", "src/up/outside", "out/.."):
        assert refusal(workspace, path) == f'"{path}" is outside of the workspace ROOT'


def test_links_that_lead_back_to_themselves_end_in_a_sentence(workspace: Path) -> None:
    (workspace / "loop").symlink_to("loop")
    (workspace / "there").symlink_to("back/x")
    (workspace / "back").symlink_to("there/x")
    assert refusal(workspace, "loop") == '"loop" is a link that leads back to itself'
    assert refusal(workspace, "there/../../outside") == '"there/../../outside" is a link that leads back to itself'


def test_what_is_no_path_is_refused_in_one_line(workspace: Path) -> None:
    paths = ["", "a\0b", "\ud800", "a\udcff/b", "x" * 256, "x/" * 2500, "a\n\x1b[31m/../..\u202e/../.."]
    assert [refusal(workspace, path) for path in paths] == snapshot(
        [
            "the path is empty",
            '"a\\x00b" is no path: it has a NUL in it',
            '"\\ud800" is no path: it is not text',
            '"a\\udcff/b" is no path: it is not text',
            '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is too long for a path',
            '"x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/x/…" is too long for a path',
            '"a\\n\\x1b[31m/../..\\u202e/../.." is outside of the workspace ROOT',
        ]
    )
    (workspace / "a").touch()
    assert refusal(workspace, "a/") == '"a/" is no folder that exists'
    assert refusal(workspace, "new/") == '"new/" is no folder that exists'


def test_a_name_with_a_line_feed_or_an_escape_code_is_a_name(workspace: Path) -> None:
    (workspace / "a\n\x1b[31m").touch()
    assert confine(workspace, "a\n\x1b[31m") == "a\n\x1b[31m"


def test_a_link_to_a_name_that_is_no_text_is_refused(workspace: Path) -> None:
    os.symlink(b"caf\xe9", os.fsencode(workspace / "link"))
    assert refusal(workspace, "link") == '"link" leads to a name that is not UTF-8; a command can reach it'


def test_the_workspace_may_be_reached_by_a_link_and_be_called_by_either_name(workspace: Path) -> None:
    link = workspace.parent / "link"
    link.symlink_to("workspace")
    (workspace / "a").touch()
    for root in (workspace, link):
        for path in ("a", f"{workspace}/a", f"{link}/a", "../link/a"):
            assert confine(root, path) == "a"
    assert refusal(link, "..") == '".." is outside of the workspace ROOT'


def test_a_workspace_that_is_gone_is_named(workspace: Path) -> None:
    gone = workspace / "gone"
    assert refusal(gone, "a") == "the workspace ROOT is not there: No such file or directory"
    gone.touch()
    assert refusal(gone, "a") == "the workspace ROOT is not there: Not a directory"


def test_what_the_process_has_open_is_reached_only_where_it_lies_inside(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "a").touch()
    monkeypatch.chdir(workspace.parent / "outside")
    if sys.platform == "linux":
        assert refusal(workspace, "/proc/self/cwd/secret").endswith("is outside of the workspace ROOT")
        with (workspace / "a").open() as inside, (workspace.parent / "outside" / "secret").open() as outside:
            assert confine(workspace, f"/proc/self/fd/{inside.fileno()}") == "a"
            assert refusal(workspace, f"/dev/fd/{outside.fileno()}").endswith("is outside of the workspace ROOT")
        monkeypatch.chdir(workspace)
        assert confine(workspace, "/proc/self/cwd/a") == "a"
        assert confine(workspace, f"/proc/self/root{workspace}/a") == "a"


def test_a_name_is_spelled_as_its_folder_lists_it(workspace: Path) -> None:
    (workspace / "Src").mkdir()
    (workspace / "Src" / "a.py").touch()
    ignores_case = (workspace / "sRC").exists()
    assert confine(workspace, "sRC/A.py") == ("Src/a.py" if ignores_case else "sRC/A.py")
    if not ignores_case:  # two names of one file, which look like one name in other letters
        (workspace / "A").hardlink_to(workspace / "Src" / "a.py")
        (workspace / "a").hardlink_to(workspace / "A")
        assert [confine(workspace, "A"), confine(workspace, "a")] == ["A", "a"]


def test_every_kind_of_file_has_a_place(workspace: Path) -> None:
    os.mkfifo(workspace / "fifo")
    with tempfile.TemporaryDirectory(dir="/tmp") as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/socket")
        os.rename(f"{short}/socket", workspace / "socket")
    assert [confine(workspace, name) for name in ("fifo", "socket", "fifo/x")] == ["fifo", "socket", "fifo/x"]


PARTS = ["..", ".", "", "src", "deep", "a", "in", "out", "up", "dangling", "new", "workspace", "outside"]


@given(st.lists(st.sampled_from(PARTS), max_size=8), st.booleans())
def test_the_place_is_where_the_system_would_go(parts: list[str], absolute: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "workspace"
        (root / "src" / "deep").mkdir(parents=True)
        (root.parent / "outside").mkdir()
        (root / "in").symlink_to("src/deep")
        (root / "out").symlink_to("../outside")
        (root / "src" / "up").symlink_to("../..")
        (root / "src" / "deep" / "dangling").symlink_to("new/a")
        path = "/".join(["src", *parts, "a"])
        real = os.path.realpath(root / path)
        given_path = f"{root}/{path}" if absolute else path
        if said := failure_of(lambda: confine(root, given_path)):
            assert said.endswith(f"is outside of the workspace {root}")
            assert os.path.commonpath([real, root]) != str(root)
        else:
            assert os.path.normpath(root / confine(root, given_path)) == real


def test_what_is_mounted_below_the_workspace_is_outside() -> None:
    if sys.platform == "linux":
        for path in ("proc/self/status", "/proc", "dev/shm/x", "proc/new"):
            assert refusal(Path("/"), path).endswith('" is outside of the workspace ROOT'), path
    assert confine(Path("/"), "/not there") == "not there"


if sys.platform == "linux" and os.geteuid() == 0:  # Only the superuser mounts.

    def test_a_folder_or_a_file_that_is_mounted_a_second_time_is_outside(workspace: Path) -> None:
        outside = workspace.parent / "outside"
        (workspace / "folder").mkdir()
        (workspace / "file").touch()
        subprocess.run(["mount", "--bind", outside, workspace / "folder"], check=True)
        subprocess.run(["mount", "--bind", outside / "secret", workspace / "file"], check=True)
        try:
            for path in ("folder", "folder/secret", "folder/new", "file"):
                assert refusal(workspace, path) == f'"{path}" is outside of the workspace ROOT'
            assert confine(workspace / "folder", "secret") == "secret"  # a mount can be a workspace itself
            assert refusal(workspace / "folder", "../file").endswith("is outside of the workspace ROOT")
        finally:
            subprocess.run(["umount", workspace / "folder", workspace / "file"], check=True)
        assert confine(workspace, "folder/new") == "folder/new"


def test_a_folder_that_may_not_be_entered_is_left_to_whoever_opens_it(somebody: Path) -> None:
    (somebody / "closed").mkdir(0)
    assert confine(somebody, "closed/a") == "closed/a"
    assert confine(somebody, "closed/../a") == "a"
