"""Rules on the command line and rules that a person allows: what is asked, what is not, and in what window."""

import re

import pytest

from planlog.agent.agent import Agent
from planlog.agent.approval import APPROVALS
from planlog.log.session import Session
from tests.acceptance.conftest import House
from tests.acceptance.terminal import Terminal

END = {"text": "End."}
ALWAYS = '[a]lways "git status" in this session: '

PROMPT = re.compile(r"\d+ more lines?;|\d+ more \[return|Allow it\?")

DRAFTS = [("b.py", ""), ("a.py", "one\n\x1b[2Ktwo"), ("c.py", "three")]


def composition(house: House, settings: str, more: str = "") -> str:
    """The path of a composition of one's own: these settings of the agent, the shell and `more`."""
    path = house.folder / "mine.toml"
    path.write_text(
        f"""roles = ["event", "fold", "service", "tool", "cli", "stdio"]
[[plugin]]
id = "agent"
use = "planlog.agent"
max_steps = 20
{settings}
[[plugin]]
id = "model"
use = "planlog.model"
model = ""
effort = ""
max_tokens = 0
context_window = 0
[[plugin]]
id = "shell"
use = "planlog.features.shell"
{more}
"""
    )
    return str(path)


def bash(*commands: str) -> dict[str, object]:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command}} for command in commands]}


def decided(house: House) -> list[tuple[str, str]]:
    """How each question of the newest session was answered, and which rule was allowed with it."""
    data = [event["data"] for event in house.events() if event["type"] == "approval/decided"]
    return [(one["outcome"], one.get("rule", "")) for one in data]


def made(house: House, *names: str) -> list[bool]:
    return [(house.folder / name).exists() for name in names]


# A person who says always


def test_always_spares_the_rest_of_the_session_and_no_other(house: House) -> None:
    (house.folder / "git").write_text('#!/bin/sh\ntouch "$2"\n')
    (house.folder / "git").chmod(0o755)
    path = f"{house.folder}:{house.env['PATH']}"
    model = house.script(bash("git status a", "git status b"), END)
    terminal = Terminal(house, "run", "-m", model, "look", PATH=path)
    terminal.wait_for(ALWAYS)
    terminal.type("a\n")
    assert terminal.finish() == 0
    assert terminal.screen.count("Allow it?") == 1
    assert made(house, "a", "b") == [True, True]
    assert decided(house) == [("allowed", "bash git status")]

    model = house.script(bash("git status c; touch d"), bash("git status c"), END)
    done = house.planlog("run", "--continue", "-m", model, "again", PATH=path)
    assert done.stderr.count("nobody can be asked") == 1
    assert made(house, "c", "d") == [True, False]

    done = house.planlog("run", "-m", house.script(bash("git status e"), END), "elsewhere", PATH=path)
    assert done.stderr.count("nobody can be asked") == 1
    assert made(house, "e") == [False]


def test_always_may_be_said_in_another_process(house: House) -> None:
    async def say_always(agent: Agent, session: Session) -> None:
        [asked] = await session.view(APPROVALS)
        assert asked.rule == "bash = touch a"
        await agent.answer(session, asked.id, "allowed", always=True)

    terminal = Terminal(house, "run", "-m", house.script(bash("touch a", "touch a"), END), "do it")
    terminal.wait_for("Allow it?")
    house.elsewhere(say_always)
    terminal.wait_for("answered elsewhere")
    assert terminal.finish() == 0
    assert decided(house) == [("allowed", "bash = touch a")]


@pytest.mark.parametrize("command", ["touch a; touch b", "bash -c 'touch a'"])
def test_what_has_no_sensible_rule_is_allowed_once(house: House, command: str) -> None:
    terminal = Terminal(house, "run", "-m", house.script(bash(command), END), "do it")
    terminal.wait_for("Allow it? [y/N] ")
    terminal.type("a\n")
    assert terminal.finish() == 0
    assert made(house, "a") == [False]


def test_a_chat_hears_always_too(house: House) -> None:
    terminal = Terminal(house, "chat", "-m", house.script(bash("touch a", "touch a"), END))
    terminal.sees("Enter sends, /help")
    terminal.type("begin\r")
    terminal.sees("Allow it?")
    terminal.type("a\r")
    terminal.expect("End.")
    terminal.sees("Enter sends, /help")
    terminal.type("\x04")
    assert terminal.finish() == 0
    assert decided(house) == [("allowed", "bash = touch a")]


# Rules on the command line


@pytest.mark.parametrize("command", ["run", "chat"])
def test_what_the_command_line_allows_is_not_asked(house: House, command: str) -> None:
    model = house.script(bash("touch a", "touch b", "touch a; touch b"), END)
    words = ["--allow", "bash touch a", "--allow", "bash = true", "-m", model]
    done = house.planlog(command, *words, *(["do it"] if command == "run" else []), stdin="do it\n")
    assert done.returncode == 0
    assert done.stderr.count("nobody can be asked") == 2
    assert "--allow 'bash = touch b'" in done.stderr
    assert made(house, "a", "b") == [True, False]
    assert [outcome for outcome, _ in decided(house)] == ["allowed", "denied", "denied"]

    done = house.planlog("run", "--continue", "-m", house.script(bash("touch a"), END), "again")
    assert "nobody can be asked" in done.stderr


def test_it_spares_no_no(house: House) -> None:
    model = house.script(bash("touch a"), END)
    assert house.planlog("run", "-m", model, "--approve", "deny", "--allow", "bash", "do it").returncode == 0
    assert made(house, "a") == [False]


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("", "one is empty"),
        (" ", "one is empty"),
        ("git diff", 'the rule "git diff" names no tool; it begins with one of'),
    ],
)
def test_a_rule_that_means_nothing_is_one_line(house: House, command: str, rule: str, words: str) -> None:
    prompt = ["hi"] if command == "run" else []
    done = house.planlog(command, "-m", house.script(END), "--allow", rule, *prompt, stdin="hi\n")
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert house.json("sessions") == []


# Rules of a composition


def test_a_composition_allows_and_forbids(house: House) -> None:
    file = composition(house, 'approval = "ask"\nallow = ["bash touch", "bash rm"]\ndeny = ["bash rm"]')
    model = house.script(bash("touch a", "touch b", "sudo rm a", "rm b"), END)
    done = house.planlog("run", "--composition", file, "-m", model, "--approve", "ask", "do it")
    assert done.returncode == 0, done.stderr
    assert made(house, "a", "b") == [True, True]
    assert done.stdout.count("denied: a rule of this program forbids it") == 2
    assert "nobody can be asked" not in done.stderr


# A tool with a preview

DRAFT = """
from collections.abc import AsyncGenerator
from msgspec import Struct
from planlog.tools.tool import Presentation, Proposal, Tool, ToolFailure, Tools

class Draft(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    text: str

async def execute(params, execution):
    (execution.cwd / params.path).write_text(params.text)
    return "done"

async def propose(params, execution):
    if not params.text:
        raise ToolFailure("there is nothing to write")
    lines = params.text.split(chr(10))
    head = f"--- /dev/null\\n+++ b/{params.path}\\n@@ -0,0 +1,{len(lines)} @@\\n"
    return Proposal(head + "".join(f"+{line}\\n" for line in lines), "draft")

def present(params):
    return Presentation("generic", params.path, "edit")

async def plugin(tools: Tools) -> AsyncGenerator[None]:
    tool = Tool("draft", "", Draft, execute, str, needs_approval=True, propose=propose, present_call=present)
    with tools.add(tool):
        yield
"""


def test_a_preview_is_shown_in_the_place_of_the_parameters(house: House) -> None:
    package = house.folder / "drafts"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "tool.py").write_text(DRAFT)
    file = composition(house, 'approval = "ask"', '[[plugin]]\nid = "drafts"\nuse = "drafts"')
    calls = [{"name": "draft", "arguments": {"path": name, "text": text}} for name, text in DRAFTS]
    model = house.script({"tool_calls": calls}, END)
    terminal = Terminal(house, "run", "--composition", file, "-m", model, "go", PYTHONPATH=str(house.folder))
    terminal.sees(
        "draft wants to change a.py:\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,2 @@\n+one\n+␛[2Ktwo\n"
        'Allow it? [y]es, [n]o, [a]lways "draft" in this session:'
    )
    assert "\x1b[32m+one\x1b[0m" in terminal.screen
    terminal.type("a\n")
    assert terminal.finish() == 0
    assert terminal.screen.count("Allow it?") == 1
    assert made(house, "a.py", "b.py", "c.py") == [True, False, True]
    assert "there is nothing to write" in terminal.screen


# Windows


@pytest.mark.parametrize("command", ["run", "chat"])
@pytest.mark.parametrize(("columns", "rows"), [(20, 10), (60, 20), (100, 30)])
def test_no_row_of_a_question_is_gone_when_its_answer_is_typed(
    house: House, command: str, columns: int, rows: int
) -> None:
    numbers = "".join(f"{number:04}." for number in range(columns * rows // 2))
    model = house.script(bash(f": {numbers}; touch a"), END)
    words = ["do it"] if command == "run" else []
    terminal = Terminal(house, command, "-m", model, *words, columns=columns, rows=rows)
    if command == "chat":
        terminal.wait_for("\x1b[?2004h")
        terminal.type("do it\r")
    met, prompt = 0, ""
    shown = ""
    while prompt != "Allow it?":
        terminal.type("\r" if prompt else "")
        while not (found := PROMPT.search(terminal.grid.printed, met)):
            terminal.read_more()
        terminal.sees(prompt := found[0])
        window = terminal.grid.text().replace("\n", "")
        assert shown or "wants to run:" in window
        for line in terminal.grid.printed[met : found.start()].split("\r\n"):
            if re.fullmatch(r"[\d.;: a-z]*\d{4}\.[\d.;: a-z]*", line):
                assert line.rstrip() in window
                shown += line.strip()
        met = found.end()
    assert numbers in shown
    terminal.type("y\r")
    terminal.expect("End.")
    if command == "chat":
        terminal.type("\x04")
    assert terminal.finish() == 0
    assert made(house, "a") == [True]


def test_a_rule_of_a_composition_that_names_no_tool_is_said_at_once(house: House) -> None:
    own = composition(house, 'approval = "ask"\ndeny = ["bsh git push"]')
    done = house.planlog("--composition", own, "run", "-m", house.script({"text": "Hi."}), "go")
    assert done.returncode == 2
    assert done.stderr == 'planlog: the rule "bsh git push" names no tool; it begins with one of: bash\n'


def test_a_rule_is_asked_when_a_call_begins_and_not_before_the_calls_that_come_first(house: House) -> None:
    """The command makes a link of the path that the next call of the same answer names."""
    files = '[[plugin]]\nid = "files"\nuse = "planlog.features.files"'
    own = composition(house, 'approval = "auto"\ndeny = ["read .env"]', files)
    house.folder.joinpath(".env").write_text("SECRET\n")
    calls = [
        {"name": "bash", "arguments": {"command": "ln -s .env link"}},
        {"name": "read", "arguments": {"path": "link"}},
    ]
    model = house.script({"tool_calls": calls}, {"text": "End."})
    done = house.planlog("--composition", own, "run", "-m", model, "go")
    assert done.returncode == 0
    results = [event["data"] for event in house.events() if event["type"] == "tool/result"]
    assert [data.get("error", {}).get("code") for data in results] == [None, "DENIED"]


def test_a_question_shows_what_cannot_be_seen(house: House) -> None:
    command = "rm -rf bu\u200bild \U000e0041\u3164 a\u00adb\ufeff"
    terminal = Terminal(house, "run", "-m", house.script(bash(command), {"text": "End."}), "work")
    terminal.expect("rm -rf bu‹U+200B›ild ‹U+E0041›‹U+3164› a‹U+00AD›b‹U+FEFF›", "Allow it?")
    terminal.type("n\r")
    assert terminal.finish() == 0
