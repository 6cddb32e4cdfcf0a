"""`planlog acp`: the agent of an editor that speaks ACP."""

import sys
from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, home_option, model_option

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from planlog.agent.desk import Policy
    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals
    from planlog.kernel.scope import Scope


@click.command("acp", short_help="Be the agent of an editor (Agent Client Protocol).")
@model_option
@click.option(
    "--approve",
    type=click.Choice(["ask", "auto", "deny"]),
    help="Who decides on calls that need approval until you choose in the editor: you, nobody (all), nobody (none).",
)
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", model: str | None, approve: "Policy | None") -> int:
    """Be the agent of an editor that speaks ACP (Agent Client Protocol) on stdin and stdout.

    The editor starts this command; docs/howto/editors.md has the settings for each. It ends when the editor closes its
    stdin. What goes wrong is said on stderr.
    """
    from planlog.app.failure import explain
    from planlog.app.program import DEFAULT
    from planlog.faces.acp.hello import say_hello, say_no
    from planlog.faces.acp.stdio import take_stdio
    from planlog.kernel.errors import ConfigError

    if sys.stdin is not None and sys.stdin.isatty():
        program.tell("planlog acp speaks with an editor, in lines of JSON; planlog chat speaks with you")
    try:
        inlet, outlet = take_stdio()
    except OSError as error:
        raise ConfigError(f"planlog acp speaks on stdin and stdout, and one of them is closed: {error}") from error
    read, greeted = say_hello(inlet, outlet)
    from planlog.app.serving import ACP_ROLES, Wires, serve

    wires = Wires(inlet, outlet, read, greeted)
    begun = False

    def begin(scope: "Scope", signals: "Signals") -> "Awaitable[int]":
        nonlocal begun
        begun = True
        return serve(scope, signals, wires, model, approve)

    if program.composition == DEFAULT:
        program.composition = "acp"
    try:
        return program.run_signalled(begin, roles=ACP_ROLES)
    except Exception as error:
        if not begun:
            say_no(inlet, outlet, read, explain(error))
        raise
