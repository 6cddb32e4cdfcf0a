"""Folders and streams that are not as one thinks: every command says so in one line."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.conftest import COMMAND, House

PLANLOG = shlex.join(COMMAND)


def shell(house: House, line: str, **env: str) -> tuple[int, str, str]:
    """What a shell in the house's folder says of `line`: the exit code, stdout, stderr."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=house.folder,
        env={**house.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


@pytest.mark.parametrize("command", ["--home rel sessions", "-C rel show", "sessions", "show"])
def test_a_relative_path_in_a_folder_that_is_gone_is_refused_in_one_line(house: House, command: str) -> None:
    env = {"PLANLOG_HOME": "rel"} if command == "sessions" else {}
    code, out, err = shell(house, f"mkdir gone && cd gone && rmdir ../gone && {PLANLOG} {command}", **env)
    assert (code, out) == (2, "")
    assert err == "planlog: the current folder is gone; go to another, or name folders by their whole paths\n"


def test_a_folder_whose_name_is_no_text_is_refused_in_one_line(house: House) -> None:
    name = os.fsdecode(b"d\xff")
    (house.folder / name).mkdir()
    model = shlex.quote(house.script({"text": "Hello!"}))
    run = f"{PLANLOG} run -m {model} hi"
    for line, env in (
        (f"cd $'d\\xff' && {run}", {}),
        (f"{run} -C $'d\\xff'", {}),
        (f"{run} --home $'d\\xff'", {}),
        (run, {"PLANLOG_HOME": str(house.folder / name)}),
    ):
        code, out, err = shell(house, line, **env)
        assert (code, out) == (2, "")
        assert (
            err
            == f"planlog: {house.folder}/d\ufffd: the name of this folder is not UTF-8; rename it or use another one\n"
        )


@pytest.mark.parametrize("option", ["--home", "-C"])
def test_an_empty_name_is_no_folder(house: House, option: str) -> None:
    done = house.planlog(option, "", "sessions")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "planlog: --home and -C want the name of a folder, and it is empty\n"
    assert list(house.folder.iterdir()) == []


@pytest.mark.parametrize("command", ["--version", "-h", "--help", "run --help"])
def test_help_that_cannot_be_printed_is_an_error_of_one_line(house: House, command: str) -> None:
    reason = "cannot write to stdout"
    assert shell(house, f"{PLANLOG} {command} >&-") == (1, "", f"planlog: {reason}: it is closed\n")
    assert shell(house, f"{PLANLOG} {command} >/dev/full") == (1, "", f"planlog: {reason}: No space left on device\n")
    assert shell(house, f"{PLANLOG} {command} >/dev/full 2>&1")[0] == 1


def test_a_composition_that_is_nested_too_deeply_is_refused(house: House) -> None:
    path = Path(house.folder / "deep.toml")
    path.write_text("roles = " + "[" * 50_000)
    done = house.planlog("config", "--composition", str(path))
    assert (done.returncode, done.stderr) == (2, f"planlog: {path}: is nested too deeply\n")


def test_a_completion_that_no_shell_asked_for_is_refused(house: House) -> None:
    done = house.planlog("sessions", _PLANLOG_COMPLETE="bash_complete")
    assert done.returncode == 2
    assert done.stderr == "planlog: _PLANLOG_COMPLETE is for shells, which set COMP_WORDS with it; unset it\n"


def test_a_home_without_sessions_is_named(house: House) -> None:
    typo = house.folder / "typo"
    done = house.planlog("--home", str(typo), "sessions")
    assert (done.returncode, done.stdout) == (0, f"no sessions yet in {typo}; planlog run PROMPT begins one\n")


def test_help_says_where_sessions_are_kept_by_default(house: House) -> None:
    for command in (["--help"], ["sessions", "--help"]):
        text = " ".join(house.planlog(*command).stdout.split())
        assert "[default: $PLANLOG_HOME, else planlog in the user's data folder (Linux: ~/.local/share)]" in text
