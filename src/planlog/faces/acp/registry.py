"""What the features that are mounted now can show in an editor, and the commands that they offer there."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec

from planlog.faces.acp.updates import Card, Update
from planlog.faces.renders import Registry
from planlog.kernel.errors import ConfigError

if TYPE_CHECKING:
    from planlog.log.session import Session


class Command(msgspec.Struct, frozen=True):
    """What a person can type as `/name text`; `hint` says what the text is, "" where none is taken.

    `run` gets the session and the text and returns what is said to the person, who alone reads it. It raises a
    `PlanlogError` with what to do instead.
    """

    name: str
    description: str
    run: "Callable[[Session, str], Awaitable[str]]"
    hint: str = ""


class AcpRenders(Registry[Update, Card]):
    """Events and views are updates, a call is a card."""

    face = "ACP"

    def __init__(self) -> None:
        super().__init__()
        self._commands: dict[str, Command] = {}

    @contextmanager
    def offer(self, *commands: Command) -> Generator[None]:
        """Offers `commands` until the block ends; a name that is taken is a `ConfigError`."""
        for command in commands:
            if command.name in self._commands:
                raise ConfigError(f'the editor command "/{command.name}" is defined twice')
        self._commands.update({command.name: command for command in commands})
        try:
            yield
        finally:
            for command in commands:
                del self._commands[command.name]

    def command(self, name: str) -> Command | None:
        """The command of that name, without its slash."""
        return self._commands.get(name)

    def commands(self) -> list[Command]:
        """All commands, sorted by name."""
        return [self._commands[name] for name in sorted(self._commands)]
