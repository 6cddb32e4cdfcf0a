"""`planlog config`: the plugins that make the program, their settings, and where each was said."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, json_option

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram


@click.command("config", short_help="The plugins that make the program.")
@json_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", as_json: bool) -> int:
    """Print the composition, checked, as TOML with the origin of each row."""
    from planlog.app.compose import mounted_rows
    from planlog.app.toml import written
    from planlog.faces.renders import Span

    composition = program.composed()
    for _ in mounted_rows(composition, composition.roles):
        pass
    if as_json:
        rows = [{"id": r.id, "use": r.use, "settings": r.settings, "origin": r.origin} for r in composition.rows]
        program.write_json({"name": composition.name, "roles": composition.roles, "plugins": rows})
    else:
        program.write((Span(line),) for line in written(composition).splitlines())
    return 0
