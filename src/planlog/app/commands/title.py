"""`planlog title`: calls a session by another name."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, home_option

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("title", short_help="Give a session a title.")
@click.argument("session")
@click.argument("title")
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", session: str, title: str) -> int:
    """Call SESSION TITLE in the list of sessions."""

    async def task(scope: "Scope") -> int:
        from planlog.agent.title import entitle

        named = await entitle(await program.find_session(scope, session), title)
        program.console.note(f"this session is called {named}")
        return 0

    return program.run(task, roles=("event", "fold"))
