"""Whatever a model, a tool or a person writes, the terminal obeys none of it, and no stream is too poor for it."""

import os
import subprocess

import pytest

from tests.acceptance.conftest import COMMAND, House

EVIL = "\x1b]0;pwn\x07\x1b[2K\rALL TESTS PASSED \x9b2J \u202etxt.exe \x1b]52;c;eA==\x07 [bold] a\x08b"
SHOWN = "␛]0;pwn␇␛[2K␍ALL TESTS PASSED ‹U+009B›2J ‹U+202E›txt.exe ␛]52;c;eA==␇ [bold] a␈b"
OBEYED = ("\x1b", "\x07", "\x08", "\r", "\x9b", "\u202e")


def evil_session(house: House) -> str:
    """The `-m` of a model that puts control characters wherever it can."""
    return house.script(
        {
            "text": EVIL,
            "reasoning": EVIL,
            "tool_calls": [{"name": EVIL, "arguments": EVIL}],
        },
        {"text": "", "tool_calls": [{"name": "bash", "arguments": {"command": f"printf '{EVIL}'; exit 1"}}]},
        {"text": "end"},
    )


def test_control_characters_are_shown_and_never_obeyed(house: House) -> None:
    done = house.planlog("run", "-m", evil_session(house), "--approve", "auto", EVIL)
    assert done.returncode == 0
    seen = done.stdout + done.stderr
    assert SHOWN in done.stdout
    for command in (["show"], ["sessions"], ["run", "-m", "script:" + EVIL, "x"]):
        done = house.planlog(*command)
        seen += done.stdout + done.stderr
    assert [sign for sign in OBEYED if sign in seen] == []
    assert "Traceback" not in seen


@pytest.mark.parametrize(
    "env", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "latin-1"}]
)
def test_a_stream_of_any_encoding_is_written_without_an_error(house: House, env: dict[str, str]) -> None:
    model = house.script(
        {
            "text": "任务 ✓",
            "tool_calls": [{"name": "bash", "arguments": {"command": "echo é 任"}}],
        },
        {"text": "end …"},
    )
    done = subprocess.run(
        [*COMMAND, "run", "-m", model, "--approve", "auto", "计划"],
        cwd=house.folder,
        env={**house.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"exit code 0" in done.stdout
    assert house.events()[-1]["data"]["reason"] == {"kind": "completed"}


def test_colour_comes_only_where_it_is_wanted(house: House) -> None:
    def run(**env: str) -> str:
        model = house.script({"tool_calls": [{"name": "bash", "arguments": {"command": "true"}}]}, {"text": "end"})
        done = house.planlog("run", "-m", model, "--approve", "auto", "work", **env)
        return done.stdout + done.stderr

    for env in ({}, {"CI": "1"}, {"TERM": "xterm"}, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, {"FORCE_COLOR": ""}):
        assert "\x1b" not in run(**env), env
    colored = run(FORCE_COLOR="1", TERM="dumb")
    assert "\x1b[32m✓\x1b[0m " in colored
    assert "\x1b[K" not in colored


def test_a_reader_that_leaves_ends_the_program_quietly_with_its_log_whole(house: House) -> None:
    reading, writing = os.pipe()
    model = house.script({"text": "word " * 50_000}, {"text": "never"})
    process = house.start("run", "-m", model, "talk", stdout=writing)
    os.close(writing)
    assert os.read(reading, 5) == b"word "
    os.close(reading)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 141
    assert b"Traceback" not in said
    assert b"planlog:" not in said
    assert house.events()[-1]["type"] == "turn/end"


def test_commands_that_list_end_quietly_as_well(house: House) -> None:
    house.planlog("run", "-m", house.script({"text": "word " * 50_000}), "talk")
    for command in (["log"], ["show"], ["--help"]):
        reading, writing = os.pipe()
        process = house.start(*command, stdout=writing)
        os.close(writing)
        os.close(reading)
        _, said = process.communicate(timeout=20)
        assert said == b""
        assert process.returncode != 0


def test_a_full_disk_behind_stdout_is_said_in_one_line(house: House) -> None:
    house.planlog("run", "-m", house.script({"text": "hello"}), "talk")
    with open("/dev/full", "wb") as full:
        process = house.start("log", stdout=full)
        _, said = process.communicate(timeout=20)
    assert (process.returncode, said) == (1, b"planlog: cannot write to stdout: No space left on device\n")


def test_notes_that_cannot_be_written_decide_nothing(house: House) -> None:
    model = house.script({"tool_calls": [{"name": "bash", "arguments": {"command": "touch done"}}]}, {"text": "Fine."})
    with open("/dev/full", "w") as full:
        run = house.start("run", "-m", model, "--approve", "auto", "go", stderr=full)
        out, _ = run.communicate(timeout=20)
    assert (run.returncode, out.decode().splitlines()[-1]) == (0, "Fine.")
    with open("/dev/full", "w") as full:
        run = house.start("run", "--continue", "-m", model, "--approve", "ask", "go", stderr=full)
        out, _ = run.communicate(timeout=20)
    assert (run.returncode, out.decode().splitlines()[-1]) == (0, "Fine.")
    assert [event["data"]["reason"]["kind"] for event in house.events() if event["type"] == "turn/end"] == [
        "completed",
        "completed",
    ]


def test_nobody_is_asked_where_the_question_would_go_into_a_file(house: House) -> None:
    model = house.script({"tool_calls": [{"name": "bash", "arguments": {"command": "touch done"}}]}, {"text": "Fine."})
    master, slave = os.openpty()
    with open(house.folder / "err.log", "w") as log:
        run = house.start("run", "-m", model, "--approve", "ask", "go", stdin=slave, stderr=log)
        out, _ = run.communicate(timeout=20)
    os.close(master)
    os.close(slave)
    assert (run.returncode, out.decode().splitlines()[-1]) == (0, "Fine.")
    assert "nobody can be asked here" in (house.folder / "err.log").read_text()
    assert not (house.folder / "done").exists()
