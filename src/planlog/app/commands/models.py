"""`planlog models`: who can answer here, and what is missing for the others."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, home_option, json_option

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("models", short_help="List the models that can answer here.")
@click.argument("provider", required=False, metavar="[PROVIDER]")
@json_option
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", provider: str | None, as_json: bool) -> int:
    """List the models of every provider whose key is set, or of PROVIDER, as -m takes them.

    Exit code 1 when PROVIDER, or none of all, could say what it has.
    """

    async def task(scope: "Scope") -> int:
        from planlog.app.catalog import catalog
        from planlog.model.models import Models

        entries = await catalog(scope.get(Models), provider)
        if as_json:
            program.write_json([entry.json() for entry in entries])
        else:
            for entry in entries:
                program.write(entry.lines())
        return 0 if any(entry.models is not None for entry in entries) else 1

    return program.run(task, roles=("event", "fold", "service"))
