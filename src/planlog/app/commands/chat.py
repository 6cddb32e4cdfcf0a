"""`planlog chat`: prompt after prompt in one session, shown as it happens."""

from typing import TYPE_CHECKING

import click

from planlog.app.commands.run import NEWEST
from planlog.faces.cli import composition_option, folder_option, home_option, model_option

if TYPE_CHECKING:
    from planlog.agent.desk import Policy
    from planlog.app.program import TerminalProgram


@click.command("chat", short_help="Talk with the agent, prompt after prompt.")
@model_option
@click.option(
    "--resume",
    metavar="[SESSION]",
    is_flag=False,
    flag_value=NEWEST,
    help="Go on in SESSION (the beginning of its id is enough), or in the newest of this folder.",
)
@click.option("--continue", "go_on", is_flag=True, help="Go on in the newest session of this folder.")
@click.option(
    "--approve",
    type=click.Choice(["ask", "auto", "deny"]),
    help="Who decides on calls that need approval: you, nobody (all may run), nobody (none may).",
)
@click.option(
    "--allow",
    metavar="RULE",
    multiple=True,
    help='Calls that need no question, as in --allow "bash git diff"; may be given more than once.',
)
@folder_option
@home_option
@composition_option
@click.pass_obj
def command(
    program: "TerminalProgram",
    model: str | None,
    resume: str | None,
    go_on: bool,
    approve: "Policy | None",
    allow: tuple[str, ...],
) -> int:
    """Talk with the agent, prompt after prompt, in one session.

    On a terminal, lines are edited and keys are heard while the agent works; /help tells which. Elsewhere each line of
    stdin is a prompt (one that ends in a backslash goes on in the next), and the exit code is that of the last turn.
    """
    from planlog.agent.rules import read_rules
    from planlog.app.chat_start import chat
    from planlog.app.chatting import ChatWish
    from planlog.app.program import TURN_ROLES

    if resume is not None and go_on:
        raise click.UsageError("--resume and --continue exclude each other.", click.get_current_context())
    wish = ChatWish(model, go_on or resume is not None, resume or None, approve, read_rules(allow, ()).allow)
    return program.run_signalled(lambda scope, signals: chat(program, scope, signals, wish), roles=TURN_ROLES)
