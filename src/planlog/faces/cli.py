"""The command line as features see it: a place for their commands and columns, and the program that runs them.

Modules that mount here are loaded for `planlog --help`, so this one and they import click and nothing heavier;
whatever a command needs to do its work is imported inside its function.
"""

from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import click

from planlog.kernel.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from planlog.agent.desk import Policy
    from planlog.faces.renders import Line
    from planlog.kernel.scope import Scope
    from planlog.log.session import Session
    from planlog.model.model import Model

F = TypeVar("F", bound=Callable[..., Any])


class Column(NamedTuple):
    """What a feature adds to the list of sessions: the value of its projection, by the projection's key.

    `sessions --json` has the value under `key`; the table has `text(value)`, one short line, under `title`.
    """

    key: str
    title: str
    projection: str
    text: Callable[[Any], str]


class CommandLine:
    """The commands and columns that are mounted now."""

    def __init__(self) -> None:
        self._commands: dict[str, click.Command] = {}
        self._columns: dict[str, Column] = {}

    @contextmanager
    def add(self, *commands: click.Command) -> Generator[None]:
        """Offers `commands` until the block ends; a name that is taken is a `ConfigError`."""
        names = [command.name or "" for command in commands]
        for name in names:
            if name in self._commands:
                raise ConfigError(f'the command "{name}" is defined twice')
        self._commands.update(zip(names, commands, strict=True))
        try:
            yield
        finally:
            for name in names:
                del self._commands[name]

    @contextmanager
    def add_column(self, column: Column) -> Generator[None]:
        """Shows `column` in the list of sessions until the block ends."""
        if column.key in self._columns:
            raise ConfigError(f'the column "{column.key}" is defined twice')
        self._columns[column.key] = column
        try:
            yield
        finally:
            del self._columns[column.key]

    def get(self, name: str) -> click.Command | None:
        """The command of that name, or None."""
        return self._commands.get(name)

    def names(self) -> list[str]:
        """Of all commands, sorted."""
        return sorted(self._commands)

    def columns(self) -> Iterator[Column]:
        """All columns, in the order in which they were added."""
        return iter(tuple(self._columns.values()))


class Program(Protocol):
    """The running program, `obj` of every click context. A command returns the exit code that it gets from here."""

    home: "Path | None"
    """Where sessions are kept, as it is named; None: the environment decides."""
    composition: str
    """Name of a shipped composition, or path of a file."""
    folder: "Path"
    """The folder that the person works in, absolute."""

    def run(self, task: "Callable[[Scope], Awaitable[int]]", *, roles: Collection[str]) -> int:
        """Composes a program of the composition's rows with these roles, runs `task` in it and takes it down again.

        The services are always there: Home, Vocabulary, Store, Projections, Sessions, Tools, Live. A `PlanlogError`
        becomes one line on stderr and the exit code 1, a `ConfigError` 2.
        """
        ...

    def run_prompt(
        self, prompt: str, *, model: "str | Model", approve: "Policy | None" = None, quiet: bool = False
    ) -> int:
        """One turn of a new session in `folder`, shown as it happens; `model` as after `-m`, or the model itself."""
        ...

    async def find_session(self, scope: "Scope", session: str | None) -> "Session":
        """The session whose id starts with `session`; None: the one of this folder with the newest activity."""
        ...

    def write(self, lines: "Iterable[Line]") -> None:
        """Prints to stdout, cleaned of control characters and painted where the terminal can show it."""
        ...

    async def room(self) -> None:
        """Waits until whoever reads has taken enough; to be called now and then by what writes much inside `run`."""
        ...

    def write_json(self, value: Any) -> None:
        """Prints one JSON document on a line of its own; a `bytes` value is one already."""
        ...


def _set_on_program(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and param.name is not None:
        setattr(ctx.obj, param.name, value)


def _path(value: str) -> "Path":
    from pathlib import Path

    if not value:
        raise ConfigError("--home and -C want the name of a folder, and it is empty")
    return Path(value)


def _on_program(*names: str, **attributes: Any) -> Callable[[F], F]:
    # Eager: what `--help` lists depends on the composition.
    return click.option(*names, expose_value=False, is_eager=True, callback=_set_on_program, **attributes)


def home_option(command: F) -> F:
    """`--home DIR`."""
    default = "$PLANLOG_HOME, else planlog in the user's data folder (Linux: ~/.local/share)"
    text = f"Where sessions are kept. [default: {default}]"
    return _on_program("--home", metavar="DIR", type=_path, help=text)(command)


def composition_option(command: F) -> F:
    """`--composition FILE|NAME`."""
    text = "Which plugins make the program: a file, or a shipped one's name."
    return _on_program("--composition", metavar="FILE|NAME", help=text)(command)


def folder_option(command: F) -> F:
    """`-C DIR`."""
    return _on_program("-C", "folder", metavar="DIR", type=_path, help="Work in DIR instead of the current folder.")(
        command
    )


def json_option(command: F) -> F:
    """`--json`, handed to the command as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(command)


def model_option(command: F) -> F:
    """`-m MODEL`, handed to the command as `model`; else `$PLANLOG_MODEL`."""
    text = "Who answers, as provider:model; planlog models lists them, script:FILE is a file of replies."
    return click.option("-m", "--model", metavar="MODEL", envvar="PLANLOG_MODEL", show_envvar=True, help=text)(command)


def session_argument(command: F) -> F:
    """An optional SESSION, handed to the command as `session`: a whole id, the beginning of one, or None."""
    return click.argument("session", required=False, metavar="[SESSION]")(command)
