import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import anyio
import pytest

from planlog.agent.event import TURN_END, TURN_START, Completed, TurnEnd, TurnStart
from planlog.app.running import run_command_line
from planlog.features.todo.cli import column_text
from planlog.features.todo.event import TODO_WRITE, Todo, TodosWritten
from planlog.log.event import Fact
from planlog.log.sessions import Sessions
from planlog.log.store.sqlite import open_store
from planlog.log.vocabulary import Vocabulary

Items = Callable[..., list[Todo]]

COMPOSITION = """
roles = ["event", "fold", "tool", "cli", "stdio"]

[[plugin]]
id = "todo"
use = "planlog.features.todo"
allow_parallel_in_progress = true
"""


def start(turn: int) -> Fact:
    return TURN_START.fact(TurnStart(turn))


def end(turn: int) -> Fact:
    return TURN_END.fact(TurnEnd(turn, Completed()))


def write(todos: list[Todo]) -> Fact:
    return TODO_WRITE.fact(TodosWritten(todos))


class Desk:
    """A folder with sessions, and a command line that is asked about them."""

    def __init__(self, path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.home = path / "home"
        self.folder = path / "work"
        self.folder.mkdir()
        self.composition = path / "little.toml"
        self.composition.write_text(COMPOSITION)
        self._capfd = capfd

    def session(self, *facts: Fact) -> str:
        """A session whose log holds `facts`, a second apart."""

        async def fill() -> str:
            async with open_store(self.home) as store:
                clock = iter(range(1_700_000_000_000, 1_800_000_000_000, 1000)).__next__
                session = await Sessions(store, Vocabulary(), clock).create(self.folder)
                async with session.lease():
                    for fact in facts:
                        await session.append(fact)
                return session.id

        return anyio.run(fill)

    def append(self, session: str, *facts: Fact) -> None:
        """Adds to a session's log, as another process would."""

        async def add() -> None:
            async with open_store(self.home) as store:
                opened = await Sessions(store, Vocabulary()).open(session)
                async with opened.lease():
                    await opened.append(*facts)

        anyio.run(add)

    @property
    def where(self) -> list[str]:
        """The options that name this folder, its sessions and its program."""
        return ["-C", str(self.folder), "--home", str(self.home), "--composition", str(self.composition)]

    def ask(self, *words: str, code: int = 0) -> str:
        """What a command prints on stdout, or, where it is to fail with `code`, on stderr."""
        self._capfd.readouterr()
        assert run_command_line([*self.where, *words]) == code
        out, err = self._capfd.readouterr()
        assert not (err if code == 0 else out)
        return out if code == 0 else err


@pytest.fixture
def desk(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capfd)


def test_the_standing_plan_as_text_and_as_json(desk: Desk, items: Items) -> None:
    session = desk.session(start(1), write(items("[x] read", "[~] write", "[ ] check")), end(1))
    assert desk.ask("plan") == "[todos]\n  [x] read\n  [~] write\n  [ ] check\n"
    assert desk.ask("plan", session[:6]) == desk.ask("plan")
    assert json.loads(desk.ask("plan", "--json")) == {
        "sessionId": session,
        "seq": 2,
        "todos": [
            {"content": "read", "status": "completed"},
            {"content": "write", "status": "in_progress"},
            {"content": "check", "status": "pending"},
        ],
        "counts": {"pending": 1, "inProgress": 1, "completed": 1},
    }


def test_where_no_plan_stands_it_says_so_and_what_was_left_open(desk: Desk, items: Items) -> None:
    plan = items("[x] a", "[x] b", "[~] c", "[ ] d", "[ ] e")
    session = desk.session(*(start(1), end(1), start(2), write(plan), end(2), start(3), end(3)))
    assert desk.ask("plan") == (
        f"no plan stands in session {session}\n"
        f"left open in turn 2: 2 of 5 done; planlog plan {session} --history shows it\n"
    )
    assert json.loads(desk.ask("plan", "--json")) == {
        "sessionId": session,
        "seq": 6,
        "todos": None,
        "counts": {"pending": 0, "inProgress": 0, "completed": 0},
    }


def test_an_empty_session_has_no_plan_and_no_history(desk: Desk) -> None:
    session = desk.session()
    assert desk.ask("plan") == f"no plan stands in session {session}\n"
    assert json.loads(desk.ask("plan", "--json"))["seq"] == -1
    assert desk.ask("plan", "--history") == f"no plan was written in session {session}\n"
    assert json.loads(desk.ask("plan", "--history", "--json")) == []


@pytest.fixture
def _greenwich() -> Generator[None]:
    """Local time is UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_greenwich")
def test_the_history_shows_each_plan_with_what_changed(desk: Desk, items: Items) -> None:
    desk.session(
        start(1),
        write(items("[~] a", "[ ] b", "[ ] c")),
        write(items("[ ] c", "[x] a", "[~] d")),
        write([]),
        end(1),
    )
    assert desk.ask("plan", "--history") == (
        "turn 1 · seq 1 · 2023-11-14 22:13:22\n"
        "  + [~] a\n"
        "  + [ ] b\n"
        "  + [ ] c\n"
        "turn 1 · seq 2 · 2023-11-14 22:13:23\n"
        "    [ ] c  moved\n"
        "  ~ [x] a\n"
        "  + [~] d\n"
        "  - [ ] b\n"
        "turn 1 · seq 3 · 2023-11-14 22:13:24 · cleared\n"
        "  - [ ] c\n"
        "  - [x] a\n"
        "  - [~] d\n"
    )
    second = json.loads(desk.ask("plan", "--history", "--json"))[1]
    assert (second["turn"], second["seq"], second["time"]) == (1, 2, 1_700_000_003_000)
    assert second["todos"][1] == {"content": "a", "status": "completed"}
    assert second["diff"] == {
        "added": ["d"],
        "removed": ["b"],
        "statusChanged": [{"content": "a", "from": "in_progress", "to": "completed"}],
        "reordered": ["c"],
    }


def test_any_moment_can_be_asked_for(desk: Desk, items: Items) -> None:
    session = desk.session(start(1), write(items("[~] a")), write(items("[x] a")), end(1), start(2), end(2))

    def at(seq: int) -> Any:
        return json.loads(desk.ask("plan", "--json", "--at", str(seq)))

    assert [at(seq)["seq"] for seq in range(6)] == list(range(6))
    assert [(at(seq)["todos"] or [{}])[0].get("status") for seq in range(6)] == [
        *(None, "in_progress", "completed", "completed"),
        *(None, None),
    ]
    assert desk.ask("plan", "--at", "1") == "[todos]\n  [~] a\n"
    # Nothing was left open, but at that moment there was nothing at all.
    assert desk.ask("plan", "--at", "0") == f"no plan stands in session {session}\n"
    assert desk.ask("plan", "--at", "6", code=2) == f"planlog: session {session} has no event 6: its last event is 5\n"


def test_a_watched_plan_is_printed_whenever_it_changes_until_ctrl_c(desk: Desk, items: Items) -> None:
    session = desk.session(start(1))
    program = [sys.executable, "-c", "import sys; from planlog.app.main import main; sys.exit(main())"]
    with subprocess.Popen(
        [*program, *desk.where, "plan", "--watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watching:
        try:
            assert watching.stdout is not None
            assert watching.stdout.readline() == f"no plan stands in session {session}\n"
            desk.append(session, write(items("[~] a")))
            assert [watching.stdout.readline() for _ in range(2)] == ["[todos]\n", "  [~] a\n"]
            desk.append(session, write([]), end(1))
            assert watching.stdout.readline() == "[todos] cleared\n"
            desk.append(session, start(2))
            assert watching.stdout.readline() == f"no plan stands in session {session}\n"
            watching.send_signal(signal.SIGINT)
            assert watching.communicate() == ("", "")
        finally:
            watching.kill()
    assert watching.returncode == 130


def test_a_question_that_makes_no_sense_is_answered_in_one_line(desk: Desk, items: Items) -> None:
    desk.session(start(1), write(items("[~] a")))
    for words in (["--at", "-1"], ["--at", "x"], ["--history", "--at", "0"], ["--watch", "--history"], ["nobody"]):
        complaint = desk.ask("plan", *words, code=2)
        assert complaint.startswith("planlog: ")
        assert complaint.count("\n") == 1


def test_a_plan_is_text_on_a_terminal_and_true_in_json(desk: Desk, items: Items) -> None:
    nasty = "\x1b]0;pwn\x07\x1b[2K\r[bold] \u202etxt.exe"
    desk.session(start(1), write([Todo(nasty, "pending")]))
    printed = desk.ask("plan")
    assert not set(printed) & set("\x1b\x07\r\u202e")
    assert "[bold]" in printed
    assert json.loads(desk.ask("plan", "--json"))["todos"][0]["content"] == nasty


def test_the_list_of_sessions_has_a_column_for_the_plan(items: Items) -> None:
    assert column_text(items("[x] a", "[~] write it", "[~] b", "[ ] c")) == "1/4 · write it +1"
    assert column_text(items("[x] a")) == "1/1"
    assert column_text([]) == column_text(None) == ""
