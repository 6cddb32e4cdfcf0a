from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from inline_snapshot import snapshot

from planlog.faces.renders import Call, Row
from planlog.faces.stdio import StdioRenders
from planlog.features.shell import stdio, tool
from planlog.features.shell.process import Ran
from planlog.features.shell.stdio import bash_row
from planlog.features.shell.tool import Command, bash, judged, present, render
from planlog.kernel.composition import Row as CompositionRow
from planlog.kernel.errors import ConfigError
from planlog.kernel.features import load_row
from planlog.kernel.last_acts import LastActs
from planlog.kernel.plugin import mount_plugin
from planlog.kernel.scope import open_scope
from planlog.tools.call import run_call
from planlog.tools.outcome import Outcome, timed_out
from planlog.tools.tool import Execution, Presentation, ToolFailure, Tools


def deaf(text: str) -> None:
    """Hears nothing of what is printed."""


async def call(
    arguments: dict[str, Any], cwd: Path | None = None, limit: int = 1000, hear: Callable[[str], None] = deaf
) -> Outcome:
    tools = Tools()
    with tools.add(bash(20, limit)):
        raw = msgspec.json.encode(arguments).decode()
        return await run_call(tools, "bash", raw, Execution("call-1", None, cwd or Path.cwd(), hear))


def ran(output: str = "", **change: Any) -> Ran:
    fields = {"status": 0, "dropped": 0, "seconds": 0.1, "timed_out": False, "held": False}
    return Ran(output=output, **(fields | change))


# --- what the model is told and reads


def test_the_model_is_told_what_a_command_may_count_on() -> None:
    assert bash(120, 30_000).definition() == snapshot(
        {
            "name": "bash",
            "description": "Runs a command with bash in the working folder and returns stdout and stderr together. Every call is a new shell: cd and variables do not carry over. There is no terminal and no input. Processes left in the background are killed when the command ends. It is stopped after 120 seconds unless timeout says otherwise. The middle of a long output is dropped.",
            "parameters": {
                "type": "object",
                "properties": {
                    "command": {"type": "string"},
                    "timeout": {"type": "integer", "description": "Seconds, 1 to 600."},
                },
                "required": ["command"],
                "additionalProperties": False,
            },
        }
    )


async def test_a_command_that_goes_well_is_answered_by_its_output(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    outcome = await call({"command": "ls"}, tmp_path)
    assert (outcome.text, outcome.is_error) == ("a.txt", False)
    assert (outcome.value.status, outcome.value.output) == (0, "a.txt\n")
    assert (await call({"command": "true"})).text == "[no output]"


async def test_a_failing_command_is_an_error_that_says_first_how_it_ended() -> None:
    assert await call({"command": "echo hello; exit 3"}) == Outcome("Error: exit code 3\nhello", is_error=True)
    assert (await call({"command": "false"})).text == "Error: exit code 1\n[no output]"
    assert (await call({"command": "kill -9 $$"})).text == "Error: killed by SIGKILL\n[no output]"


async def test_a_command_out_of_time_keeps_its_output_and_reads_as_any_other_time_out(
    skip: Callable[[float], None],
) -> None:
    # Its time is over as soon as it was heard, however long that takes.
    arguments = {"command": "echo started; sleep 300", "timeout": 200}
    outcome = await call(arguments, hear=lambda text: skip(200))
    assert outcome == replace(timed_out(200), text=f"{timed_out(200).text}\nstarted")


@pytest.mark.parametrize(
    "arguments, text",
    [
        ({"command": " \n"}, "Error: the command is empty"),
        ({"command": "true", "timeout": 0}, "Error: timeout must be 1 to 600 seconds, got 0"),
        ({"command": "true", "timeout": 601}, "Error: timeout must be 1 to 600 seconds, got 601"),
        (
            {"cmd": "true"},
            'Error: invalid arguments: missing required property "command"; "cmd" is not a declared property (additionalProperties: false)',
        ),
    ],
)
async def test_arguments_that_make_no_sense_run_nothing(arguments: dict[str, Any], text: str) -> None:
    assert (await call(arguments)).text == text


async def test_the_cap_of_the_registry_never_cuts_what_the_tool_kept() -> None:
    outcome = await call({"command": "head -c 5000 /dev/zero | tr '\\0' x; exit 1"})
    assert outcome.text == f"Error: exit code 1\n{'x' * 500}\n[… 4000 characters dropped …]\n{'x' * 500}"


async def test_output_that_is_no_text_reaches_the_model_as_text() -> None:
    assert (await call({"command": r"printf 'a\0b\227\377\n'"})).text == "a␀b��"


def test_a_process_that_got_away_is_told() -> None:
    assert render(ran("hi\n", held=True)) == (
        "hi\n[a process that the command detached holds its output open and is still running]"
    )


def test_a_command_that_not_even_a_kill_could_end_is_told() -> None:
    with pytest.raises(ToolFailure, match=r"^timed out after 2 s .*; it could not be killed\nhi$"):
        judged(ran("hi", status=None, timed_out=True), 2)


# --- how it looks


def test_whoever_approves_sees_that_there_is_more_than_the_first_line() -> None:
    assert present(Command("make test", timeout=5)) == Presentation(
        "generic", "make test", "execute", {"command": "make test", "timeout": 5}, "make test"
    )
    assert present(Command("\necho hi\nrm -r build")).title == "echo hi …"
    assert len(present(Command("x" * 1000)).title) == 201
    assert bash(120, 1000).needs_approval
    assert not bash(120, 1000).concurrency_safe


def drawn(row: Row) -> str:
    body = "".join(f"\n  {''.join(span.text for span in line)}" for line in row.body)
    return f"{row.title} | {row.summary}{body}"


def row(arguments: str, result: str | None = None, *, is_error: bool = False) -> str:
    return drawn(bash_row(Call("bash", arguments, result, is_error)))


def test_a_row_shows_the_command_then_how_it_ended_and_its_output() -> None:
    arguments = '{"command":"make\\nmake test"}'
    assert row(arguments) == "$ make … | "
    assert row(arguments, "one\ntwo") == "$ make … | exit code 0\n  one\n  two"
    assert row(arguments, "Error: exit code 2\nno rule", is_error=True) == "$ make … | exit code 2\n  no rule"
    assert row(arguments, "Error: denied; nothing was done", is_error=True) == "$ make … | denied; nothing was done"
    assert row("{", "Error: invalid arguments: x", is_error=True) == "bash | invalid arguments: x"


def test_a_row_folds_long_output_to_its_end_and_counts_what_is_hidden() -> None:
    shown = row('{"command":"seq 30"}', "\n".join(map(str, range(1, 31)))).split("\n")
    assert shown == ["$ seq 30 | exit code 0", "  … 20 more lines above", *[f"  {n}" for n in range(21, 31)]]


def test_a_row_says_how_much_is_missing_where_the_middle_was_dropped() -> None:
    printed = "\n".join(map(str, range(12))) + "\n[… 5000 characters dropped …]\n" + "\n".join(map(str, range(20, 32)))
    shown = row('{"command":"seq 9999"}', printed).split("\n")
    assert shown[1] == "  … 15 more lines above, and 5000 characters between them that nobody kept"


def test_a_row_shows_a_progress_bar_as_it_was_left_and_no_line_without_end() -> None:
    assert row('{"command":"x"}', "10%\r100%\r\nok") == "$ x | exit code 0\n  100%\n  ok"
    assert len(row('{"command":"x"}', "y" * 9999)) < 600


# --- how it is mounted


@contextmanager
def refused(words: str) -> Iterator[None]:
    with pytest.raises(ConfigError) as caught:
        yield
    assert str(caught.value) == words


def test_a_row_of_a_composition_mounts_the_tool_and_its_rows() -> None:
    settings: dict[str, Any] = {"timeout_seconds": 60, "output_limit": 5000}
    mounts = load_row(CompositionRow("shell", "planlog.features.shell", settings), ("event", "tool", "stdio"))
    assert [mount.id for mount in mounts] == ["shell/tool", "shell/stdio"]
    with refused('shell: setting "timeout_seconds" must be a whole number, at least 1, at most 600, got 601'):
        load_row(CompositionRow("shell", "planlog.features.shell", {"timeout_seconds": 601}), ("tool",))


async def test_the_tool_is_there_while_its_plugin_runs() -> None:
    tools, screen = Tools(), StdioRenders()
    mounts = [mount_plugin("tool", tool.plugin, {"timeout_seconds": 7}), mount_plugin("stdio", stdio.plugin)]
    async with open_scope(mounts, {Tools: tools, LastActs: LastActs(), StdioRenders: screen}) as scope:
        await scope.ready()
        assert tools.names() == ["bash"]
        assert "after 7 seconds" in tools.definitions()[0]["description"]
    assert tools.names() == []
