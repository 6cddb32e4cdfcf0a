"""The tool `bash`: the model runs a command in the session's folder and reads what it printed."""

import os
from collections.abc import AsyncGenerator
from typing import Annotated

from msgspec import Meta, Struct

from planlog.features.shell.privacy import hide_from_commands
from planlog.features.shell.process import Ran, run_command
from planlog.features.shell.rules import covered, offered
from planlog.kernel.last_acts import LastActs
from planlog.tools.child import kill_living
from planlog.tools.environment import command_environment
from planlog.tools.outcome import time_out
from planlog.tools.tool import Execution, Presentation, Proposal, Tool, ToolFailure, Tools

NAME = "bash"
LONGEST = 600
"""Seconds that one command may take, at most."""

_TITLE = 200
_NOTES = 500
"""Characters for what is said beside the output, so that the registry's cap never cuts what was kept."""


class Command(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The arguments of a call."""

    command: str
    timeout: Annotated[int | None, Meta(description=f"Seconds, 1 to {LONGEST}.")] = None


def describe(timeout_seconds: int) -> str:
    """What the model is told."""
    return (
        "Runs a command with bash in the working folder and returns stdout and stderr together. "
        "Every call is a new shell: cd and variables do not carry over. There is no terminal and no input. "
        "Processes left in the background are killed when the command ends. "
        f"It is stopped after {timeout_seconds} seconds unless timeout says otherwise. "
        "The middle of a long output is dropped."
    )


def bash(timeout_seconds: int, output_limit: int) -> Tool[Command, Ran]:
    """The tool, with `timeout_seconds` where the model names none, and `output_limit` characters of output kept."""

    async def execute(params: Command, execution: Execution) -> Ran:
        timeout = timeout_seconds if params.timeout is None else params.timeout
        if not params.command.strip():
            raise ToolFailure("the command is empty")
        if not 1 <= timeout <= LONGEST:
            raise ToolFailure(f"timeout must be 1 to {LONGEST} seconds, got {timeout}")
        hide_from_commands()
        ran = await run_command(
            params.command,
            cwd=execution.cwd,
            env=command_environment(os.environ),
            timeout=timeout,
            output_limit=output_limit,
            hear=execution.progress,
        )
        return judged(ran, timeout)

    async def propose(params: Command, execution: Execution) -> Proposal:
        rule = offered(params.command)
        return Proposal(rule=f"{NAME} {rule}" if rule else "")

    return Tool(
        NAME,
        describe(timeout_seconds),
        Command,
        execute,
        render,
        needs_approval=True,
        output_limit=output_limit + _NOTES,
        present_call=present,
        propose=propose,
        covered=lambda pattern, params, folder: covered(pattern, params.command),
    )


def judged(ran: Ran, timeout: float) -> Ran:
    """`ran` if it went well; else the `ToolFailure` that says first how it ended, and then what was printed."""
    if ran.timed_out:
        lives = f"; it {ran.ending()}" if ran.status is None else ""
        raise time_out(timeout, f"{lives}\n{render(ran)}")
    if ran.status != 0:
        raise ToolFailure(f"{ran.ending()}\n{render(ran)}")
    return ran


def render(ran: Ran) -> str:
    """The output, without the line feed at its end; a bracketed line where there is more to know or nothing to see."""
    text = ran.output.removesuffix("\n") or "[no output]"
    if ran.held:
        text += "\n[a process that the command detached holds its output open and is still running]"
    return text


def first_line(command: str) -> str:
    """The first line that says something, with "…" where it was cut or more lines follow."""
    line, _, rest = command.strip().partition("\n")
    if len(line) > _TITLE:
        return f"{line[:_TITLE]}…"
    return f"{line.rstrip()} …" if rest else line


def present(params: Command) -> Presentation:
    """A card titled by the command; its text is all of it, for whoever has to approve."""
    timeout = {} if params.timeout is None else {"timeout": params.timeout}
    raw_input = {"command": params.command, **timeout}
    return Presentation("generic", first_line(params.command), "execute", raw_input, text=params.command)


async def plugin(
    tools: Tools,
    last_acts: LastActs,
    *,
    timeout_seconds: Annotated[int, Meta(ge=1, le=LONGEST)] = 120,
    output_limit: Annotated[int, Meta(ge=100)] = 30_000,
) -> AsyncGenerator[None]:
    """Offers `bash` to the models of this program."""
    with last_acts.add(kill_living), tools.add(bash(timeout_seconds, output_limit)):
        yield
