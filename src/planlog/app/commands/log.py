"""`planlog log`: a session's events as they are kept, byte for byte."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, folder_option, home_option, session_argument

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("log", short_help="Print a session's events as JSON Lines.")
@session_argument
@folder_option
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", session: str | None) -> int:
    """Print SESSION's events as JSON Lines; without SESSION, of the newest one of this folder."""

    async def task(scope: "Scope") -> int:
        from planlog.log.store import Store

        store = scope.get(Store)
        start, whole = 0, await program.find_id(scope, session)
        while lines := await store.read(whole, start):
            program.console.out.json_lines(lines)
            await program.room()
            start += len(lines)
        return 0

    return program.run(task, roles=())
