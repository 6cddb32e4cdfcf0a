"""Whatever path a model writes, nothing outside of the folder is written or read: tried on the real program."""

import os
import subprocess
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import House

SECRET = "the secret\n"


def ways_out(house: House) -> list[str]:
    """Paths that lead, or might be taken to lead, to files that lie beside the folder."""
    root, outside = house.folder, house.folder.parent / "outside"
    outside.mkdir()
    outside.joinpath("secret").write_text(SECRET)
    root.joinpath("sub").mkdir()
    root.joinpath("link").symlink_to(outside)
    root.joinpath("file").symlink_to(outside / "secret")
    root.joinpath("dangling").symlink_to(outside / "new")
    root.joinpath("relative").symlink_to("../outside/secret")
    root.joinpath("up").symlink_to("..")
    root.joinpath("chain").symlink_to("up/outside")
    root.joinpath("loop").symlink_to("loop")
    root.joinpath("hard\nname").symlink_to(outside / "secret")
    found = [
        str(outside / "secret"),
        str(outside / "new"),
        f"/{outside}/secret",
        "../outside/secret",
        "../outside/new",
        "../outside/deep/new",
        "sub/../../outside/secret",
        "sub/./.././../outside/secret",
        "nowhere/../../outside/secret",
        "link/secret",
        "link/new",
        "link/deep/new",
        "link/../outside/secret",
        "file",
        "dangling",
        "relative",
        "up/outside/secret",
        "chain/secret",
        "chain/new",
        "loop",
        "loop/secret",
        "hard\nname",
        "/proc/self/cwd/../outside/secret",
        f"/proc/self/root{outside}/secret",
        f"/proc/1/root{outside}/secret",
        "/dev/stdout",
        "/dev/fd/1",
        "/etc/passwd",
        "~/outside/secret",
        "~root/secret",
        "$HOME/outside/secret",
        "file:///etc/passwd",
        f"{root}/../outside/secret",
        f"{root}x/secret",
        f"{str(root).upper()}/../outside/secret",
        "..%2foutside%2fsecret",
        "%2e%2e/outside/secret",
        "....//outside/secret",
        "..\\outside\\secret",
        "\u2025/outside/secret",
        unicodedata.normalize("NFKC", "\u2024\u2024/outside/secret"),
        "..\u200b/outside/secret",
        "../outside/secret\0.txt",
        "../outside/secret ",
        "../outside/secret/",
        " ../outside/secret",
        "",
        ".",
        "..",
        "/",
        "\ud800",
        "a" * 5000,
        "/".join(["d" * 200] * 30),
        f"{'sub/../' * 500}../outside/secret",
        "CON",
        "-rf",
        "--",
    ]
    mounted = root / "mounted"
    mounted.mkdir()
    bound = subprocess.run(["mount", "--bind", str(outside), str(mounted)], capture_output=True, check=False)
    if bound.returncode == 0:
        found += ["mounted/secret", "mounted/new", "sub/../mounted/secret"]
    return found


def state(folder: Path) -> dict[str, bytes]:
    """Every file beside the workspace, with what is in it."""
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("tool", ["write", "edit", "read", "grep", "glob"])
def test_no_path_leads_out_of_the_folder(house: House, tool: str) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "write": {"content": "written\n"},
        "edit": {"old_string": "secret", "new_string": "written"},
        "read": {},
        "grep": {"pattern": "secret"},
        "glob": {"pattern": "**/*"},
    }
    try:
        paths = ways_out(house)
        outside = house.folder.parent / "outside"
        before = state(outside)
        calls = [{"name": tool, "arguments": {"path": path, **arguments[tool]}} for path in paths]
        house.planlog("run", "-m", house.script({"tool_calls": calls}), "--approve", "auto", "go")
        results = [event["data"]["message"] for event in house.events() if event["type"] == "tool/result"]
        assert len(results) == len(paths)
        said = [message["content"][0]["content"][0]["text"] for message in results]
        assert state(outside) == before
        assert [text for text in said if SECRET.strip() in text.replace("outside/secret", "")] == []
        # What is not refused has a strange name, or is not there, inside of the folder.
        places = house.folder.resolve()
        for path in places.rglob("*"):
            assert path.is_symlink() or path.resolve().is_relative_to(places)
    finally:
        subprocess.run(["umount", str(house.folder / "mounted")], capture_output=True, check=False)
        for name in os.listdir("/dev"):
            assert not name.startswith(".planlog-")
