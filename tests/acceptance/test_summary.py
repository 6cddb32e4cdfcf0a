"""What a turn came to, as its person reads it: beside the answer, and again wherever the session is shown."""

import re
import signal
import subprocess
from typing import Any

from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal

TIME = re.compile(r"\d+\.\d s")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


WORK: tuple[dict[str, Any], ...] = (
    {
        "tool_calls": [
            call("write", path="a.txt", content="one\ntwo\n"),
            call("edit", path="a.txt", old_string="two", new_string="2"),
            call("bash", command="false"),
            call("bash", command="true"),
        ],
        "usage": {"inputTokens": 1200, "outputTokens": 50, "cacheReadTokens": 800},
    },
    {"text": "Done.", "usage": {"inputTokens": 30, "outputTokens": 5}},
)
CAME_TO = "1 file changed (+3 −1) · 2 commands (1 failed) · TIME · 2.0k tokens in (800 from cache), 55 out\n"


def test_a_turn_is_added_up_beside_its_answer_and_where_the_session_is_shown(house: House) -> None:
    done = house.planlog("run", "-m", house.script(*WORK), "--approve", "auto", "work")
    assert done.stdout.endswith("Done.\n")
    assert TIME.sub("TIME", done.stderr).startswith(CAME_TO)
    assert TIME.sub("TIME", house.planlog("show").stdout).endswith(f"Done.\n{CAME_TO}")


def test_a_turn_that_failed_or_was_stopped_is_added_up_too(house: House) -> None:
    broken: dict[str, Any] = {"error": {"status": 400, "message": "no"}}
    done = house.planlog("run", "-m", house.script(WORK[0], broken), "--approve", "auto", "work")
    assert done.returncode == 1
    assert TIME.sub("TIME", done.stderr).startswith(
        "1 file changed (+3 −1) · 2 commands (1 failed) · TIME · 2.0k tokens in"
    )
    slow = house.script(WORK[0], {"text": "slow " * 100, "delay_ms": 60_000})
    process = house.start("run", "-m", slow, "--approve", "auto", "work", stderr=subprocess.STDOUT)
    assert process.stdout
    while b"$ true" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    assert b"2 commands (1 failed)" in process.communicate(timeout=20)[0]


def test_quiet_and_json_say_nothing_of_it(house: House) -> None:
    for way in ("--quiet", "--json"):
        done = house.planlog("run", way, "-m", house.script(*WORK), "--approve", "auto", "work")
        assert "2 commands" not in done.stdout.replace("\\u", "") + done.stderr
        house.folder.joinpath("a.txt").unlink()


def test_chat_says_it_above_the_line_that_is_typed(house: House) -> None:
    terminal = Terminal(house, "chat", "-m", house.script(*WORK), "--approve", "auto")
    terminal.expect("/help")
    terminal.type("work\r")
    terminal.expect("Done.", "1 file changed (+3 −1) · 2 commands (1 failed) · ", "tokens in")
    terminal.type("\x04")
    assert terminal.finish() == 0
