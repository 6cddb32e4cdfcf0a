"""`planlog export`: a session as a file that any program of this log format can take in."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, folder_option, home_option, session_argument

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("export", short_help="Print a session as a file of JSON Lines.")
@session_argument
@folder_option
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", session: str | None) -> int:
    """Print SESSION's header and events as JSON Lines; without SESSION, of the newest one of this folder."""

    async def task(scope: "Scope") -> int:
        from planlog.log.jsonl import write_file
        from planlog.log.store import Store

        async for line in write_file(await program.find_id(scope, session), scope.get(Store)):
            program.console.out.json_lines([line.removesuffix(b"\n")])
            await program.room()
        return 0

    return program.run(task, roles=())
