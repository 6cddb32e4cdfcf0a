"""`planlog tools`: what the model may call."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, home_option, json_option

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("tools", short_help="List the tools that the model may call.")
@json_option
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", as_json: bool) -> int:
    """List the tools as the model is told them."""

    async def task(scope: "Scope") -> int:
        from planlog.faces.renders import Row, Span
        from planlog.faces.stdio.painting import lay_out
        from planlog.tools.tool import Tools

        definitions = scope.get(Tools).definitions()
        if as_json:
            program.write_json(definitions)
            return 0
        for tool in definitions:
            description = " ".join(tool["description"].split())
            program.write(lay_out(Row(tool["name"], description), Span("*", "dim"), program.console.out.width))
        return 0

    return program.run(task, roles=("event", "fold", "service", "tool"))
