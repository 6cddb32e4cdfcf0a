"""`planlog chat` as a person meets it: on a terminal, key by key, and by lines through a pipe."""

import json
import os
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from planlog.agent.agent import Agent
from planlog.agent.conversation import CONVERSATION, request_of
from planlog.log.session import Session
from planlog.model.model import Request
from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal
from tests.acceptance.test_signals import is_gone
from tests.acceptance.test_terminal import bash
from tests.request_checker import faults_of

ENTER, TAB, CTRL_C, CTRL_D, UP = "\r", "\t", "\x03", "\x04", "\x1b[A"
PASTE_IN_BRACKETS = "\x1b[?2004h"
READY = "Enter sends, /help"
HELLO = {"text": "Hello!"}


def chat(house: House, *replies: dict[str, Any], arguments: tuple[str, ...] = (), **options: Any) -> Terminal:
    """A chat that is ready to be typed into."""
    terminal = Terminal(house, "chat", "-m", house.script(*replies), *arguments, **options)
    terminal.sees(READY)
    return terminal


class Gate:
    """A command that says that it runs, and then waits."""

    def __init__(self, house: House, name: str = "gate") -> None:
        self._pipe = house.folder / name
        os.mkfifo(self._pipe)
        self.reply = bash(f"echo at the gate > {self._pipe}; cat {self._pipe}")

    def reached(self) -> None:
        """Returns when the command runs."""
        self._pipe.read_text()

    def open(self) -> None:
        """Lets it end."""
        self._pipe.write_text("open\n")


def said(house: House) -> list[tuple[int, int, str]]:
    """What users said: turn, step and text."""
    found: list[tuple[int, int, str]] = []
    turn = step = 0
    for event in house.events():
        if event["type"] == "turn/start":
            turn = event["data"]["turn"]
        elif event["type"] == "step/start":
            step = event["data"]["step"]
        elif event["type"] == "user/message":
            found.append((turn, step, event["data"]["content"][0]["text"]))
    return found


def ends(house: House) -> list[str]:
    return [event["data"]["reason"]["kind"] for event in house.events() if event["type"] == "turn/end"]


async def _request(agent: Agent, session: Session) -> Request:
    return request_of(await session.view(CONVERSATION))


def test_prompts_are_answered_one_after_the_other_in_one_session(house: House) -> None:
    terminal = chat(house, {"text": "First."}, {"text": "Second."})
    assert house.json("sessions") == []
    terminal.type("one" + ENTER)
    terminal.expect("> one\r\n", "First.\r\n")
    terminal.sees(READY)
    terminal.type("two" + ENTER)
    terminal.expect("> two\r\n", "Second.\r\n")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    [session] = house.json("sessions")
    assert f"session {session['id']} · planlog chat --resume {session['id']} goes on\r\n" in terminal.grid.printed
    assert said(house) == [(1, 1, "one"), (2, 1, "two")]


def test_who_says_nothing_begins_no_session(house: House) -> None:
    terminal = chat(house, HELLO)
    terminal.type(ENTER + "  " + ENTER + "half" + CTRL_C + CTRL_C)
    terminal.expect("Ctrl-D leaves")
    terminal.type(CTRL_C)
    assert terminal.finish() == 0
    assert house.json("sessions") == []


def test_what_is_typed_too_early_is_not_lost(house: House) -> None:
    terminal = Terminal(house, "chat", "-m", house.script(HELLO))
    terminal.type("one" + ENTER)
    terminal.expect("> one\r\n", "Hello!")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


def test_what_was_typed_is_found_again_by_the_next_chat(house: House) -> None:
    terminal = chat(house, HELLO)
    terminal.type("first\nsecond line" + ENTER)
    terminal.expect("Hello!")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert stat.S_IMODE((house.home / "history.jsonl").stat().st_mode) == 0o600
    terminal = chat(house, HELLO)
    terminal.type(UP)
    terminal.sees("> first\n  second line")
    terminal.type(ENTER)
    terminal.expect("Hello!")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house) == [(1, 1, "first\nsecond line")]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("one\ntwo\x1b\rthree", "one\ntwo\nthree"),
        ("\x1b[200~one\r\ntwo\rthree\n\x1b[201~", "one\ntwo\nthree\n"),
        ("修复 👩‍👩‍👧 e\u0301", "修复 👩‍👩‍👧 e\u0301"),
    ],
    ids=["Ctrl-J and Alt-Enter", "a paste", "wide characters"],
)
@pytest.mark.parametrize("columns", [7, 80])
def test_several_lines_are_one_prompt(house: House, keys: str, text: str, columns: int) -> None:
    terminal = Terminal(house, "chat", "-m", house.script({"text": "Well."}), columns=columns)
    while PASTE_IN_BRACKETS not in terminal.screen:
        terminal.read_more()
    terminal.type(keys)
    terminal.type(ENTER)
    terminal.expect("Well.\r\n")
    terminal.sees("\n/help" if columns < 20 else READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house) == [(1, 1, text)]


def test_what_a_terminal_would_obey_is_shown_and_sent_as_text(house: House) -> None:
    terminal = chat(house, {"text": "Well."})
    terminal.type("\x1b[200~a\x1b]0;pwn\x07b\x9bc\u202ed\x1b[201~")
    terminal.sees("> a^[]0;pwn^Gb<9b>c\ufffdd")
    terminal.type(ENTER)
    terminal.expect("> a␛]0;pwn␇b", "Well.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert "\x1b]0;" not in terminal.screen
    assert "\u202e" not in terminal.screen
    assert said(house) == [(1, 1, "a\x1b]0;pwn\x07b\x9bc\u202ed")]


def test_no_key_takes_what_is_typed_away_without_sending_it(house: House) -> None:
    terminal = chat(house, {"text": "Well."})
    terminal.type("a\x0f" + "b\x1b#" + "c\x1a" + ENTER)
    terminal.expect("Well.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house) == [(1, 1, "abc")]


def test_a_folder_that_is_gone_takes_no_prompt_along(house: House) -> None:
    terminal = chat(house, {"text": "Well."})
    house.folder.rmdir()
    terminal.type("hello" + ENTER)
    terminal.expect("planlog: the current folder is gone")
    terminal.sees("> hello", READY)
    terminal.type(CTRL_C + CTRL_D)
    assert terminal.finish() == 1
    assert "Traceback" not in terminal.screen
    house.folder.mkdir()


def test_the_folder_is_that_where_the_session_works(house: House) -> None:
    (house.folder / "sub").mkdir()
    assert house.planlog("-C", "sub", "run", "-m", house.script(HELLO), "one").returncode == 0
    [session] = house.json("sessions")
    terminal = Terminal(house, "chat", "--resume", session["id"], "-m", house.script(HELLO))
    terminal.sees(f" · ~/{house.folder.name}/sub · ", READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


# While a turn runs


def test_enter_steers_the_turn_that_runs_and_tab_waits_for_its_end(house: House) -> None:
    gate = Gate(house)
    terminal = chat(
        house, gate.reply, {"text": "Heard."}, {"text": "Next."}, {"text": "Last."}, arguments=("--approve", "auto")
    )
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.type("afterwards" + TAB)
    terminal.sees("1 waits: afterwards")
    terminal.type("/queue and last" + ENTER)
    terminal.type("look here too" + ENTER)
    terminal.sees("3 wait: ")
    gate.open()
    terminal.expect("> look here too\r\n", "Heard.", "> afterwards\r\n", "Next.", "> and last\r\n", "Last.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house) == [(1, 1, "begin"), (1, 2, "look here too"), (2, 1, "afterwards"), (3, 1, "and last")]


def test_the_last_one_that_waits_can_be_taken_back_into_the_line(house: House) -> None:
    gate = Gate(house)
    terminal = chat(house, gate.reply, {"text": "End."}, {"text": "Next."}, arguments=("--approve", "auto"))
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.type("afterwards" + TAB)
    terminal.type("/drop" + ENTER)
    terminal.sees("> afterwards")
    terminal.type("!" + TAB)
    terminal.sees("1 waits: afterwards!")
    gate.open()
    terminal.expect("End.", "> afterwards!\r\n", "Next.")
    terminal.sees(READY)
    terminal.type("/drop" + ENTER)
    terminal.expect("nothing waits")
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


def test_ctrl_c_stops_the_turn_and_gives_back_what_was_not_heard(house: House) -> None:
    gate = Gate(house)
    terminal = chat(house, gate.reply, {"text": "Back."}, arguments=("--approve", "auto"))
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.type("queued" + TAB + "steered" + ENTER + "half")
    terminal.sees("2 wait: ")
    terminal.type(CTRL_C)
    terminal.expect("planlog: the turn was stopped by its user\r\n")
    terminal.sees(READY)
    assert faults_of(json.loads(house.elsewhere(_request_json))) == []
    terminal.type("!" + ENTER)
    terminal.expect("Back.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house)[0] == (1, 1, "begin")
    [(turn, step, text)] = said(house)[1:]
    assert (turn, step) == (2, 1)
    assert sorted(text.split("\n")) == ["half!", "queued", "steered"]
    assert ends(house) == ["aborted", "completed"]


async def _request_json(agent: Agent, session: Session) -> bytes:
    import msgspec

    request = await _request(agent, session)
    return msgspec.json.encode({"system": request.system, "messages": request.messages, "tools": request.tools})


@pytest.mark.parametrize(
    "reply",
    [
        {"text": "slow " * 100, "delay_ms": 60_000},
        {"error": {"status": 503, "message": "overloaded", "retry_after": 60}},
    ],
    ids=["while the model answers", "while a retry waits"],
)
def test_ctrl_c_is_heard_wherever_the_turn_is(house: House, reply: dict[str, Any]) -> None:
    terminal = chat(house, reply, {"text": "Back."})
    terminal.type("begin" + ENTER)
    terminal.expect("> begin\r\n")
    terminal.sees("running")
    terminal.type(CTRL_C)
    terminal.expect("stopped by its user")
    terminal.sees(READY)
    terminal.type("again" + ENTER)
    terminal.expect("Back.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert ends(house) == ["aborted", "completed"]


def test_ctrl_d_stops_the_turn_and_leaves(house: House) -> None:
    gate = Gate(house)
    terminal = chat(house, gate.reply, arguments=("--approve", "auto"))
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.type("never" + TAB)
    terminal.type(CTRL_D)
    assert terminal.finish() == 130
    assert ends(house) == ["aborted"]
    assert house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "on").returncode == 0
    assert [text for _, _, text in said(house)] == ["begin", "on"]


def test_a_second_ctrl_c_does_not_wait_and_the_terminal_is_as_it_was(house: House) -> None:
    pipe = house.folder / "pid"
    os.mkfifo(pipe)
    stubborn = f"trap '' INT TERM; echo $$ > {pipe}; while :; do read -t 100 < {pipe}; done"
    terminal = Terminal(house, "chat", "-m", house.script(bash(stubborn)), "--approve", "auto")
    before = terminal.modes()
    terminal.sees(READY)
    assert terminal.modes() != before
    terminal.type("work" + ENTER)
    child = int(pipe.read_text())
    terminal.type(CTRL_C + CTRL_C)
    assert terminal.process.wait(timeout=20) == 130
    assert terminal.modes() == before
    assert terminal.finish() == 130
    assert terminal.screen.endswith("\x1b[?2004l\x1b[?25h\x1b[0m\r\x1b[J")
    while not is_gone(child):
        pass


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_to_end_closes_the_turn_and_gives_the_terminal_back(house: House, number: int, code: int) -> None:
    gate = Gate(house)
    terminal = Terminal(house, "chat", "-m", house.script(gate.reply), "--approve", "auto")
    before = terminal.modes()
    terminal.sees(READY)
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.type("never" + TAB)
    terminal.sees("1 waits: never")
    terminal.process.send_signal(number)
    terminal.expect("goes on\r\n")
    assert terminal.process.wait(timeout=20) == code
    assert terminal.modes() == before
    assert terminal.finish() == code
    assert house.events()[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "disposed"}}
    assert house.planlog("run", "--continue", "-m", house.script({"text": "Back."}), "on").returncode == 0
    assert [text for _, _, text in said(house)] == ["begin", "on"]


def test_a_window_that_is_closed_leaves_nothing_running(house: House) -> None:
    gate = Gate(house)
    terminal = chat(house, gate.reply, arguments=("--approve", "auto"))
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.close()
    assert terminal.finish() == 129
    assert house.events()[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "disposed"}}


def test_a_killed_chat_is_gone_on_in(house: House) -> None:
    gate = Gate(house)
    terminal = chat(house, gate.reply, arguments=("--approve", "auto"))
    terminal.type("begin" + ENTER)
    gate.reached()
    terminal.process.kill()
    assert terminal.finish() == -signal.SIGKILL
    gate.open()
    [session] = house.json("sessions")
    terminal = Terminal(house, "chat", "-m", house.script({"text": "Back."}), "--resume", session["id"][:6])
    terminal.expect("turn 1 was interrupted when its process died", f"session {session['id']} · begin · ")
    terminal.sees(READY)
    terminal.type("go on" + ENTER)
    terminal.expect("> go on\r\n", "Back.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert ends(house) == ["interrupted", "completed"]


def test_a_turn_that_fails_says_why_and_the_chat_goes_on(house: House) -> None:
    terminal = chat(house, {"error": {"status": 400, "message": "no such model"}}, {"text": "Better."})
    terminal.type("one" + ENTER)
    terminal.expect("planlog: no such model\r\n")
    terminal.sees(READY)
    terminal.type("two" + ENTER)
    terminal.expect("Better.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


def test_what_another_process_does_in_the_session_is_seen(house: House) -> None:
    terminal = chat(house, HELLO)
    terminal.type("one" + ENTER)
    terminal.expect("Hello!")
    terminal.sees(READY)
    done = house.planlog("run", "--continue", "-m", house.script({"text": "From elsewhere."}), "two")
    assert done.returncode == 0
    terminal.expect("> two\r\n", "From elsewhere.")
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


def test_a_turn_that_another_process_runs_is_steered_and_stopped_from_here(house: House) -> None:
    first, second = Gate(house, "first"), Gate(house, "second")
    model = house.script(first.reply, {**second.reply, "text": "Heard."}, {"text": "never"})
    runs = house.start("run", "-m", model, "--approve", "auto", "begin")
    first.reached()
    terminal = Terminal(house, "chat", "--continue", "-m", house.script({"text": "Mine."}))
    terminal.expect(f"process {runs.pid} on", "> begin\r\n")
    terminal.sees("running: Enter steers")
    terminal.type("look here too" + ENTER)
    terminal.sees("1 waits: look here too")
    first.open()
    terminal.expect("> look here too\r\n", "Heard.")
    second.reached()
    terminal.type("and mine" + TAB)
    terminal.sees("1 waits: and mine")
    terminal.type(CTRL_C)
    terminal.sees("> and mine", "running: Enter steers")
    assert runs.poll() is None
    terminal.type(CTRL_C)
    terminal.expect("the turn was stopped by its user")
    terminal.sees(READY)
    runs.communicate(timeout=20)
    assert runs.returncode == 130
    terminal.type("!" + ENTER)
    terminal.expect("> and mine!\r\n", "Mine.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house) == [(1, 1, "begin"), (1, 2, "look here too"), (2, 1, "and mine!")]


def test_a_chat_that_was_stopped_goes_on_with_a_terminal_that_others_have_used(house: House) -> None:
    terminal = Terminal(house, "chat", "-m", house.script({"text": "Well."}))
    before = terminal.modes()
    terminal.expect(READY)
    terminal.type("hel")
    terminal.sees("> hel")
    seen = len(terminal.screen)
    terminal.process.send_signal(signal.SIGSTOP)
    terminal.set_modes(before)
    terminal.process.send_signal(signal.SIGCONT)
    terminal.expect("> hel", READY)
    assert PASTE_IN_BRACKETS in terminal.screen[seen:]
    terminal.type("lo" + ENTER)
    terminal.expect("Well.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house) == [(1, 1, "hello")]


# Questions

ALLOW = "Allow it? [y]es, [n]o, [a]lways just this in this session: "


@pytest.mark.parametrize(("answer", "runs"), [("y", True), ("yes", True), ("n", False), ("", False)])
def test_a_question_is_answered_while_a_text_is_half_typed(house: House, answer: str, runs: bool) -> None:
    slow = {**bash("touch done"), "text": "I begin.\n", "delay_ms": 300}
    terminal = chat(house, slow, {"text": "End."}, {"text": "Next."})
    terminal.type("begin" + ENTER)
    terminal.expect("> begin\r\n")
    terminal.type("half a")
    terminal.expect("bash wants to run:", "touch done")
    terminal.sees(ALLOW.rstrip())
    terminal.type(answer + ENTER)
    terminal.expect(f"{ALLOW}{answer}", "End.")
    terminal.sees(READY)
    terminal.type(" thought" + ENTER)
    terminal.expect("Next.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert (house.folder / "done").exists() == runs
    assert said(house) == [(1, 1, "begin"), (2, 1, "half a thought")]


def test_whoever_types_on_when_a_question_comes_allows_nothing_and_loses_nothing(house: House) -> None:
    terminal = chat(house, bash("touch done"), {"text": "End."}, {"text": "Next."})
    terminal.type("begin" + ENTER)
    terminal.sees(ALLOW.rstrip())
    terminal.type("yes, and then" + ENTER)
    terminal.expect("End.")
    terminal.sees(READY)
    terminal.type(" more" + ENTER)
    terminal.expect("Next.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert not (house.folder / "done").exists()
    assert said(house)[-1] == (2, 1, "yes, and then more")


def test_a_yes_counts_only_below_the_last_line_of_what_would_run(house: House) -> None:
    lines = "\n".join(f": line {number}." for number in range(70))
    terminal = chat(house, bash(f"{lines}\ntouch done"), {"text": "End."})
    terminal.type("begin" + ENTER)
    terminal.expect("line 18.")
    terminal.sees("more lines; return shows them")
    assert "line 19." not in terminal.screen
    for left in (52, 32, 12):
        terminal.sees(f"{left} more lines")
        terminal.type("y" + ENTER)
    terminal.expect("touch done")
    terminal.sees("Allow it? [y/N]")
    terminal.type(ENTER)
    terminal.expect("End.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert not (house.folder / "done").exists()


def test_ctrl_c_at_a_question_ends_the_turn_and_the_line_is_back(house: House) -> None:
    terminal = chat(house, bash("touch done"), {"text": "Next."})
    terminal.type("begin" + ENTER)
    terminal.sees(ALLOW.rstrip())
    terminal.type("y" + CTRL_C)
    terminal.expect("stopped by its user")
    terminal.sees(READY)
    terminal.type("next" + ENTER)
    terminal.expect("Next.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert not (house.folder / "done").exists()
    assert said(house)[-1] == (2, 1, "next")


def test_what_is_typed_at_a_question_that_nobody_answers_is_not_lost(house: House) -> None:
    terminal = chat(house, bash("touch done"), {"text": "Next."})
    terminal.type("begin" + ENTER)
    terminal.sees(ALLOW.rstrip())
    terminal.type("do it otherwise" + CTRL_C)
    terminal.expect("stopped by its user")
    terminal.sees("> do it otherwise", READY)
    terminal.type(ENTER)
    terminal.expect("Next.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert said(house)[-1] == (2, 1, "do it otherwise")


# Words


def test_words_with_a_slash_are_done_and_not_sent(house: House) -> None:
    other = house.script({"text": "Another one."})
    terminal = chat(house, HELLO)
    steps: list[tuple[str, str]] = [
        ("/title early", "there is no session yet"),
        ("/plan", "no plan stands"),
        ("/he" + TAB, "Alt-Enter"),
        ("/nope", "there is no /nope; /help"),
        ("//slash", "> /slash\r\nHello!"),
        ("/title A better name", "called A better name"),
        ("/model", "script:script2.jsonl answers"),
        ("/model nobody:x", "planlog: "),
        ("\x1b[200~/model script:\0\x1b[201~", "planlog: ␀: cannot be read"),
        (f"/model {other}", "script:script1.jsonl answers from now on"),
        ("say", "Another one."),
        ("/new", "the next prompt begins a new session"),
        ("say", "Another one."),
    ]
    for words, printed in steps:
        terminal.type(words + ENTER)
        terminal.expect(printed)
        terminal.sees(READY)
    terminal.type("/quit" + ENTER)
    assert terminal.finish() == 0
    newest, older = house.json("sessions")
    assert (newest["title"], older["title"]) == ("say", "A better name")
    titles = [event["data"] for event in house.events(older["id"]) if event["type"] == "session/title"]
    assert titles[-1] == {"title": "A better name", "messageSeqs": [], "source": {"kind": "user"}}


# Terminals


@pytest.mark.parametrize(("columns", "rows"), [(20, 10), (200, 50), (2, 2), (1, 1)])
def test_a_chat_fits_into_any_window(house: House, columns: int, rows: int) -> None:
    terminal = Terminal(
        house, "chat", "-m", house.script(bash("echo 修复"), {"text": "修 end\n"}), columns=columns, rows=rows
    )
    while PASTE_IN_BRACKETS not in terminal.screen:
        terminal.read_more()
    terminal.type("修复 it" + ENTER)
    terminal.expect("wants to run", "echo 修复\r\n")
    if columns > 2:
        terminal.sees("Allow it?")
    else:
        while "\x1b[0;33m" not in terminal.screen:
            terminal.read_more()
    terminal.type("y" + ENTER)
    terminal.expect("y\r\n", "end\r\n")
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


def test_a_window_may_change_its_size_at_any_time(house: House) -> None:
    gate = Gate(house)
    terminal = chat(house, gate.reply, {"text": "Done."}, arguments=("--approve", "auto"))
    terminal.type("begin" + ENTER)
    gate.reached()
    for columns, rows in [(1, 24), (0, 0), (80, 1), (20, 10), (80, 24)]:
        terminal.resize(columns, rows)
        terminal.type("x\x7f")
        terminal.read_more()
    gate.open()
    terminal.expect("Done.")
    terminal.type(CTRL_D)
    assert terminal.finish() == 0


def test_no_colour_is_used_where_none_is_wanted(house: House) -> None:
    terminal = chat(house, bash("true"), {"text": "End."}, NO_COLOR="1")
    terminal.type("begin" + ENTER)
    terminal.sees("Allow it?")
    terminal.type("y" + ENTER)
    terminal.expect("End.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    codes = {
        code.partition("m")[0] for code in terminal.screen.split("\x1b[")[1:] if code.lstrip("0123456789;")[0] == "m"
    }
    assert codes == {"0"}


def test_an_answer_that_comes_fast_comes_whole_and_in_order(house: House) -> None:
    words = "".join(f"{number} and on\n" for number in range(8_000))
    terminal = chat(house, {"text": words}, {"text": "Next."})
    terminal.type("count" + ENTER)
    terminal.expect("\r\n7999 and on\r\n")
    terminal.sees(READY)
    terminal.type("next" + ENTER)
    terminal.expect("Next.")
    terminal.sees(READY)
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    rows = [*terminal.grid.gone, *terminal.grid.text().split("\n")]
    assert [row for row in rows if row.endswith("and on")] == words.splitlines()


def test_without_the_line_editor_one_line_says_what_to_install(house: House) -> None:
    (house.folder / "prompt_toolkit.py").write_text('raise ModuleNotFoundError("gone", name="prompt_toolkit")\n')
    terminal = Terminal(house, "chat", "-m", house.script(HELLO), PYTHONPATH=str(house.folder))
    assert terminal.finish() == 2
    assert terminal.screen.count("\n") == 1
    assert "pip install 'planlog[chat]'" in terminal.screen


# By lines


def test_lines_of_a_pipe_are_prompts(house: House) -> None:
    model = house.script({"text": "First."}, bash("touch done"), {"text": "Second."})
    done = house.planlog("chat", "-m", model, stdin="one\n\ntwo \\\nlines\n/nope")
    assert done.returncode == 0
    first, second = done.stdout.split("> two \n> lines\n")
    assert first == "> one\nFirst.\n"
    assert second.endswith("Second.\n")
    assert "bash needs approval and nobody can be asked here" in done.stderr
    assert "there is no /nope" in done.stderr
    assert "goes on\n" in done.stderr
    assert said(house) == [(1, 1, "one"), (2, 1, "two \nlines")]
    assert not (house.folder / "done").exists()


@pytest.mark.parametrize(
    ("replies", "code"), [([HELLO], 1), ([{"error": {"status": 400, "message": "no"}}, HELLO], 0), ([HELLO, HELLO], 0)]
)
def test_the_exit_code_is_that_of_the_last_turn(house: House, replies: list[dict[str, Any]], code: int) -> None:
    assert house.planlog("chat", "-m", house.script(*replies), stdin="a\nb\n").returncode == code


@pytest.mark.parametrize("stdin", ["/dev/null", "empty", "lines"])
def test_any_file_may_be_stdin(house: House, stdin: str) -> None:
    (house.folder / "empty").touch()
    (house.folder / "lines").write_text("one\r\ntwo\r", newline="")
    with Path(house.folder / stdin).open() as file:
        process = house.start("chat", "-m", house.script(HELLO, HELLO), stdin=file)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out.decode() == ("> one\nHello!\n> two\nHello!\n" if stdin == "lines" else "")


def test_a_pipe_that_is_told_to_stop_stops(house: House) -> None:
    gate = Gate(house)
    process = house.start("chat", "-m", house.script(gate.reply), "--approve", "auto", stdin=-1)
    assert process.stdin
    process.stdin.write(b"one\ntwo\n")
    process.stdin.flush()
    gate.reached()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert said(house) == [(1, 1, "one")]
    assert ends(house) == ["aborted"]


def test_a_dumb_terminal_is_talked_to_by_lines(house: House) -> None:
    terminal = Terminal(house, "chat", "-m", house.script(bash("touch done"), {"text": "Done."}), TERM="dumb")
    terminal.expect("> ")
    terminal.type("do it\n")
    terminal.expect("touch done", ALLOW)
    terminal.type("y\n")
    terminal.expect("Done.\r\n", "> ")
    terminal.type(CTRL_C)
    terminal.expect("Ctrl-D leaves")
    terminal.type(CTRL_D)
    assert terminal.finish() == 0
    assert "\x1b" not in terminal.screen
    assert "> do it\r\n> do it" not in terminal.screen
    assert (house.folder / "done").exists()


@pytest.mark.parametrize(
    "arguments", [("-m", "nobody:x"), ("--resume", "--continue", "-m", "script:F"), ("--resume", "nothing")]
)
def test_what_cannot_be_is_one_line(house: House, arguments: tuple[str, ...]) -> None:
    done = house.planlog("chat", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("planlog: ")
    assert done.stderr.count("\n") == 1
