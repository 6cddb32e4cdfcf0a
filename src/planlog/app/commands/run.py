"""`planlog run`: one prompt, one turn, shown as it happens."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, folder_option, home_option, json_option, model_option

if TYPE_CHECKING:
    from planlog.agent.desk import Policy
    from planlog.app.program import TerminalProgram

NEWEST = ""
"""What `--resume` says without a session."""


@click.command("run", short_help="Let the agent work on a prompt.")
@click.argument("prompt", required=False)
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
@click.option("--quiet", is_flag=True, help="Print the answer alone.")
@json_option
@folder_option
@home_option
@composition_option
@click.pass_obj
def command(
    program: "TerminalProgram",
    prompt: str | None,
    model: str | None,
    resume: str | None,
    go_on: bool,
    approve: "Policy | None",
    allow: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> int:
    """Let the agent work on PROMPT.

    PROMPT "-" is read from stdin, and so is one that is left out when stdin is a pipe. Exit codes: 0 done, 1 the turn
    failed, 2 usage or configuration, 130 interrupted; other signals give 128 and their number.
    """
    from planlog.agent.rules import read_rules
    from planlog.app.prompting import Wish, read_prompt

    if resume is not None and go_on:
        raise click.UsageError("--resume and --continue exclude each other.", click.get_current_context())
    wish = Wish(
        read_prompt(prompt, resume),
        model,
        resumes=go_on or resume is not None,
        session=resume or None,
        approve=approve,
        allow=read_rules(allow, ()).allow,
        quiet=quiet,
        as_json=as_json,
    )
    return program.answer(wish)
