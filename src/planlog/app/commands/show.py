"""`planlog show`: what was said and done in a session, for reading."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, folder_option, home_option, session_argument

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("show", short_help="Print a transcript of a session.")
@session_argument
@folder_option
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", session: str | None) -> int:
    """Print SESSION's transcript; without SESSION, of the newest one of this folder.

    Nothing is written: a turn that another process runs is shown as far as it has come.
    """

    async def task(scope: "Scope") -> int:
        from planlog.app.reading import show_session

        await show_session(program.console, scope, await program.find_session(scope, session))
        return 0

    return program.run(task, roles=("event", "stdio"))
