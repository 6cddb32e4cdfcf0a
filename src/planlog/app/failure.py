"""What a person is told when something goes wrong: one line on stderr, and an exit code for the shell."""

import os
import sys
from typing import TYPE_CHECKING

import click

from planlog.kernel.errors import ConfigError, PlanlogError, first_leaf, one_line

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram

FAILED = 1
CONFIGURATION = 2
INTERRUPTED = 130
NOBODY_READS = 141
"""What a shell reports of a program that a closed pipe killed: 128 + SIGPIPE."""


def report(error: BaseException, program: "TerminalProgram") -> int:
    """Says what happened, where there is something to say, and returns the exit code."""
    from planlog.faces.stdio.outlet import ScreenGone

    error = _cause(first_leaf(error))
    if os.environ.get("PLANLOG_DEBUG") and not isinstance(error, click.exceptions.Exit):
        import traceback

        program.trace("".join(traceback.format_exception(error)))
    text, code = "", FAILED
    match error:
        case click.exceptions.Exit(exit_code=code):
            pass
        case SystemExit(code=int(code)):
            pass
        case KeyboardInterrupt() | click.Abort():
            code = INTERRUPTED
        case ScreenGone():
            code = NOBODY_READS
        case click.exceptions.NoArgsIsHelpError(message=help_text):
            program.tell(help_text)
            code = CONFIGURATION
        case click.UsageError():
            text, code = usage(error), CONFIGURATION
        case click.ClickException():
            text = error.format_message()
        case PlanlogError():
            text, code = str(error), CONFIGURATION if isinstance(error, ConfigError) else FAILED
        case OSError() if reason := _stdout_fault():
            text = f"cannot write to stdout: {reason}"
        case _:
            text = f"{type(error).__name__}: {error}; PLANLOG_DEBUG=1 shows where"
    if text:
        program.fail(text)
    return code


def explain(error: BaseException) -> str:
    """What happened, in the line that `report` says of it."""
    return one_line(_cause(first_leaf(error)))


def _stdout_fault() -> str:
    """Why what click printed cannot leave Python's buffer, which is emptied into nothing then; "" where it can."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        # Or the interpreter would try again at its end, and fail with a traceback.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return error.strerror or str(error)
    return ""


def _cause(error: BaseException) -> BaseException:
    """What a plugin failed of, where that speaks for itself: a person knows of sessions and files, not of plugins."""
    from planlog.kernel.life import PluginFailed

    if isinstance(error, PluginFailed) and error.__cause__:
        cause = first_leaf(error.__cause__)
        if isinstance(cause, PlanlogError) and error.reason.endswith(one_line(cause)):
            return _cause(cause)
    return error


def usage(error: click.UsageError) -> str:
    """A fault of the command line, and where its right use is told."""
    message = error.format_message().rstrip(".")
    command = error.ctx.command_path if error.ctx else "planlog"
    return f"{message}; see {command} --help"
