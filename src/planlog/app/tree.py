"""The commands: the program's own, each a module that is imported when it is asked for, and those of features."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import click

from planlog import __version__
from planlog.faces.cli import composition_option, folder_option, home_option
from planlog.kernel.errors import PlanlogError

if TYPE_CHECKING:
    from planlog.app.program import TerminalProgram

OWN = {
    "acp": "acp",
    "chat": "chat",
    "config": "config",
    "export": "export_file",
    "import": "import_file",
    "log": "log",
    "models": "models",
    "run": "run",
    "sessions": "sessions",
    "show": "show",
    "title": "title",
    "tools": "tools",
}
"""The program's own commands, and their modules in `planlog.app.commands`."""


class Tree(click.Group):
    """Looks a command up among the program's own, then among those that features mount."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """See click; `--help` and `--version` are answered here."""
        with _printing():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """See click; a command's `--help` is answered here."""
        with _printing():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, sorted."""
        return sorted({*OWN, *_program(ctx).command_line.names()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name in OWN:
            return import_module(f"planlog.app.commands.{OWN[cmd_name]}").command
        return _program(ctx).command_line.get(cmd_name)


@contextmanager
def _printing() -> Generator[None]:
    """What click prints goes nowhere, without a word, where stdout is closed; here it is an error."""
    try:
        yield
    except click.exceptions.Exit as done:
        if sys.stdout is None:
            raise PlanlogError("cannot write to stdout: it is closed") from done
        raise


def _program(ctx: click.Context) -> "TerminalProgram":
    return cast("TerminalProgram", ctx.obj)


def _print_version(ctx: click.Context, param: click.Parameter, wanted: Any) -> None:
    if wanted:
        click.echo(f"planlog {__version__}")
        ctx.exit()


@click.group(cls=Tree, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
@home_option
@composition_option
@folder_option
def tree() -> None:
    """An agent harness that never loses the plan."""
