"""The documentation is true where a machine can tell: its links lead somewhere, its commands exist.

README and tour show the program with the plan in it, so whether their commands exist is asked in `features/todo`.
"""

import json
import os
import re
import shlex
from pathlib import Path

import click
import pytest

from planlog.app.program import TerminalProgram
from planlog.app.tree import tree

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ |.*&& )?(?:\S*/)?planlog( .*)?$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The fragments that the headings of a page may be reached by, spelled as GitHub does."""
    headings = re.findall(r"^#+ +(.+)$", CODE.sub(lambda code: code[0].strip("`"), page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(CODE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{link} leads nowhere"
        assert not fragment or fragment in anchors(target), f"{link}: {target.name} has no such heading"


def commands_shown(page: Path) -> list[str]:
    """What follows `planlog` on the lines of fenced blocks that call it, with or without a prompt before it."""
    return [found[1] or "" for fence in FENCE.findall(page.read_text()) for found in COMMAND.finditer(fence)]


def unknown_parts(cli: click.Group, line: str, program: TerminalProgram | None = None) -> list[str]:
    """The words of a command line that name no subcommand or no option; arguments are taken as they are."""
    command: click.Command = cli
    context = click.Context(cli, info_name="planlog", obj=program)
    unknown: list[str] = []
    words = shlex.split(line, comments=True)
    for end in (word for word in words if word in {"|", ">", "<", "&&", ";", "&"}):
        words = words[: words.index(end)]
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            name, attached, _ = word.partition("=")
            options = [param for param in command.get_params(context) if isinstance(param, click.Option)]
            option = next((option for option in options if name in [*option.opts, *option.secondary_opts]), None)
            if option is None:
                unknown.append(word)
            else:
                skip = not attached and not option.is_flag and not option.count
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return [*unknown, word]
            command, context = found, click.Context(found, info_name=word, parent=context)
    return unknown


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "howto").glob("*.md")), ids=lambda page: page.name)
def test_every_command_of_a_how_to_exists(page: Path) -> None:
    program = TerminalProgram(os.environ)
    shown = commands_shown(page)
    assert shown
    assert {line: unknown for line in shown if (unknown := unknown_parts(tree, line, program))} == {}


def test_settings_of_editors_start_the_agent() -> None:
    page = (ROOT / "docs" / "howto" / "editors.md").read_text()
    settings = [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)]
    assert [list(one["agent_servers"]) for one in settings] == [["planlog"], ["planlog"]]
    for one in settings:
        assert one["agent_servers"]["planlog"]["args"] == ["acp"]
    others = re.findall(r"^```(?:lua|elisp)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(others) == 3
    for block in others:
        assert '"/path/to/planlog"' in block
        assert '"acp"' in block
        assert [block.count(one) for one in "({"] == [block.count(one) for one in ")}"]


@click.group()
@click.option("-C", "folder")
def example(folder: str) -> None: ...


@example.command()
@click.argument("prompt")
@click.option("-m", "--model")
@click.option("--json", "as_json", is_flag=True)
def run(prompt: str, model: str, as_json: bool) -> None: ...


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("-C folder run -m script:a.jsonl 'tidy up' --json | head -n 3", []),
        ("--help", []),
        ("run --model=x --help", []),
        ("walk --fast", ["walk"]),
        ("run hello --loud -m x --model-name=y", ["--loud", "--model-name=y"]),
    ],
)
def test_a_command_line_is_compared_with_what_the_program_takes(line: str, unknown: list[str]) -> None:
    assert unknown_parts(example, line) == unknown


def test_the_commands_of_a_page_are_found_in_its_fenced_blocks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "planlog no\n```sh\n$ planlog run 'x'\n[todos] planlog\nmake && .venv/bin/planlog demo\nplanlog\n```\n"
    )
    assert commands_shown(page) == [" run 'x'", " demo", ""]
