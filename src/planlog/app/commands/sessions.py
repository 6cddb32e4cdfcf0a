"""`planlog sessions`: all sessions with what each is doing."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, home_option, json_option

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("sessions", short_help="List all sessions.")
@json_option
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", as_json: bool) -> int:
    """List all sessions, newest activity first."""

    async def task(scope: "Scope") -> int:
        from planlog.app.listing import list_sessions, table
        from planlog.log.store.home import Home

        columns = list(program.command_line.columns())
        listed = await list_sessions(scope, columns)
        if as_json:
            program.write_json([one.as_json() for one in listed])
        else:
            program.write(table(listed, columns, program.console.out.width, scope.get(Home).path))
        return 0

    return program.run(task, roles=("event", "fold"))
