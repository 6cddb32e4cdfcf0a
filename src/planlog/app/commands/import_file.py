"""`planlog import`: takes a session in from a file."""

from typing import TYPE_CHECKING

import click

from planlog.faces.cli import composition_option, home_option

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram
    from planlog.kernel.scope import Scope


@click.command("import", short_help="Take a session in from a file.")
@click.argument("file", metavar="FILE")
@home_option
@composition_option
@click.pass_obj
def command(program: "TerminalProgram", file: str) -> int:
    """Take in the session in FILE: JSON Lines, a header and then its events ("-" reads stdin).

    The whole file is checked first. What a crash tore off at its end is left out, and said so.
    """

    # Before the program runs: somebody types this file perhaps, and Ctrl-C must be heard while they do.
    data = _read(file)

    async def task(scope: "Scope") -> int:
        from planlog.faces.renders import Span
        from planlog.kernel.errors import PlanlogError
        from planlog.log.jsonl import read_file, take_in
        from planlog.log.store import Store
        from planlog.log.vocabulary import Vocabulary

        lines = data.removesuffix(b"\n").split(b"\n")
        try:
            log = read_file(lines, scope.get(Vocabulary))
        except PlanlogError as error:
            raise PlanlogError(f"{file}: {error}") from error
        for notice in log.notices:
            program.console.note(f"{file}: {notice}")
        session = await take_in(log, scope.get(Store))
        program.write([(Span(f"session {session}: {len(log.events)} events"),)])
        return 0

    return program.run(task, roles=("event",))


def _read(file: str) -> bytes:
    """All of the file. Raises `PlanlogError`."""
    import os
    from pathlib import Path

    from planlog.kernel.errors import PlanlogError

    try:
        if file != "-":
            return Path(file).read_bytes()
        # Piece by piece: one call for all of it hears no signal that comes between two of its reads.
        return b"".join(iter(lambda: os.read(0, 1 << 16), b""))
    except OSError as error:
        raise PlanlogError(f"cannot read {file}: {error.strerror}") from error
