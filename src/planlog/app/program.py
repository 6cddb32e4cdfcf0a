"""The program behind the commands: what was asked for on the command line, and how it is composed, run and shown."""

import os
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planlog.agent.desk import Policy
    from planlog.app.prompting import Wish
    from planlog.app.signals import Signals
    from planlog.faces.cli import CommandLine
    from planlog.faces.renders import Line
    from planlog.faces.stdio.console import Console
    from planlog.kernel.composition import Composition
    from planlog.kernel.scope import Scope
    from planlog.log.session import Session
    from planlog.log.store.home import Home
    from planlog.model.model import Model

DEFAULT = "stdio"
"""The composition where none is named."""
TURN_ROLES = ("event", "fold", "service", "tool", "stdio")
"""What a program needs to run turns and show them."""


def registries(roles: Collection[str]) -> dict[type, Any]:
    """The registry of each face that is asked for; features draw into it."""
    given: dict[type, Any] = {}
    if "stdio" in roles:
        from planlog.faces.stdio import StdioRenders

        given[StdioRenders] = StdioRenders()
    if "acp" in roles:
        from planlog.faces.acp import AcpRenders

        given[AcpRenders] = AcpRenders()
    return given


class TerminalProgram:
    """See `planlog.faces.cli.Program`. Whatever costs time to import is imported when it is first needed."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self.composition = DEFAULT
        self._home: Path | None = None
        self._folder: Path | None = None
        self._closing = ExitStack()

    @property
    def home(self) -> Path | None:
        """Where sessions are kept, absolute; None: the environment decides."""
        return self._home

    @home.setter
    def home(self, home: Path | None) -> None:
        from planlog.app.places import settled

        self._home = settled(home.absolute) if home else None

    @property
    def folder(self) -> Path:
        """The folder to work in, absolute. Raises `ConfigError` where it is none."""
        from planlog.app.places import settled
        from planlog.kernel.errors import ConfigError

        folder = self._folder or settled(Path.cwd)
        if not folder.is_dir():
            raise ConfigError(f"{folder} is no folder; name one with -C")
        return folder

    @folder.setter
    def folder(self, folder: Path) -> None:
        from planlog.app.places import settled

        self._folder = settled(folder.resolve)

    @property
    def has_folder(self) -> bool:
        """Whether a folder was named, with -C or by a command."""
        return self._folder is not None

    @cached_property
    def console(self) -> "Console":
        """Stdout and stderr."""
        from planlog.faces.stdio.console import open_console

        return open_console(sys.stdout, sys.stderr, self.env)

    @cached_property
    def command_line(self) -> "CommandLine":
        """What features add to the command line."""
        from planlog.app.features import mounted_commands

        return self._closing.enter_context(mounted_commands(self.composed()))

    def composed(self) -> "Composition":
        """The composition that was asked for. Raises `ConfigError`."""
        from planlog.app.shipped import find_composition

        return find_composition(self.composition)

    def where(self) -> "Home":
        """Where sessions are kept. Raises `ConfigError` or `StoreError` where no place can be told."""
        from planlog.app.places import settled
        from planlog.log.store.home import Home, default_home

        return Home(self.home or settled(lambda: default_home().path))

    # Running

    def run(self, task: "Callable[[Scope], Awaitable[int]]", *, roles: Collection[str]) -> int:
        """See `Program.run`."""
        return self.run_signalled(lambda scope, _: task(scope), roles=roles)

    def run_signalled(self, task: "Callable[[Scope, Signals], Awaitable[int]]", *, roles: Collection[str]) -> int:
        """`run` for a task that wants to know of signals."""
        import anyio

        from planlog.app.resolving import Loop

        return anyio.run(self._run, task, roles, backend_options={"loop_factory": Loop})

    async def _run(self, task: "Callable[[Scope, Signals], Awaitable[int]]", roles: Collection[str]) -> int:
        from planlog.app.compose import open_program
        from planlog.app.notices import shown_warnings
        from planlog.app.signals import Signals
        from planlog.faces.cli import CommandLine
        from planlog.faces.stdio.outlet import ScreenGone
        from planlog.kernel.errors import first_leaf
        from planlog.kernel.last_acts import LastActs
        from planlog.log.store import StoreLocked

        last_acts = LastActs()
        given = {CommandLine: CommandLine(), LastActs: last_acts, **registries(roles)}
        code = 0
        signals = Signals(last_acts)
        try:
            with shown_warnings(self.console), signals:
                async with (
                    self.console.unblocked(),
                    open_program(self.composed(), roles, self.where(), given) as scope,
                ):
                    code = await task(scope, signals)
        except BaseException as error:
            # A terminal that closes sends a signal and breaks the screen; the signal is why we end. Nor does anybody
            # who told us to end want to know for how long a lock would have kept us.
            if signals.exit_code is None or not isinstance(first_leaf(error), ScreenGone | StoreLocked):
                raise
        return code if signals.exit_code is None else signals.exit_code

    def run_prompt(
        self, prompt: str, *, model: "str | Model", approve: "Policy | None" = None, quiet: bool = False
    ) -> int:
        """See `Program.run_prompt`."""
        from planlog.app.prompting import Wish

        return self.answer(Wish(prompt, model, approve=approve, quiet=quiet))

    def answer(self, wish: "Wish") -> int:
        """Does what a person asked the agent for, and shows it."""
        from planlog.app.prompting import answer_wish

        return self.run_signalled(lambda scope, signals: answer_wish(self, scope, signals, wish), roles=TURN_ROLES)

    async def find_session(self, scope: "Scope", session: str | None) -> "Session":
        """See `Program.find_session`."""
        from planlog.log.sessions import Sessions

        sessions = scope.get(Sessions)
        return await sessions.open(await self.find_id(scope, session))

    async def find_id(self, scope: "Scope", session: str | None) -> str:
        """The whole id of the session whose id starts with `session`; None: the newest one of this folder.

        One in which nothing has happened yet, such as an editor's that is open, counts only where there is no other.
        """
        from planlog.kernel.errors import ConfigError
        from planlog.log.sessions import Sessions

        sessions = scope.get(Sessions)
        if session is not None:
            return (await sessions.find(session)).id
        folder = str(self.folder)
        records = [record for record in await sessions.store.find("") if record.cwd == folder]
        if records:
            return max(records, key=lambda record: record.head > 0).id  # of the newest ones, which come first
        raise ConfigError(f"no session was begun in {folder}; planlog sessions lists all")

    # Showing

    def write(self, lines: "Iterable[Line]") -> None:
        """See `Program.write`."""
        self.console.out.lines(lines)

    async def room(self) -> None:
        """See `Program.room`."""
        await self.console.room()

    def write_json(self, value: Any) -> None:
        """See `Program.write_json`."""
        import msgspec

        self.console.out.json_lines([value if isinstance(value, bytes) else msgspec.json.encode(value)])

    def fail(self, text: str) -> None:
        """One line on stderr about what went wrong."""
        from planlog.faces.renders import Span

        self._tell([(Span("planlog: ", "bad"), Span(text))])

    def tell(self, text: str) -> None:
        """Text on stderr, line by line."""
        from planlog.faces.renders import Span

        self._tell([(Span(line),) for line in text.split("\n")])

    def _tell(self, lines: "list[Line]") -> None:
        from contextlib import suppress

        from planlog.faces.stdio.outlet import ScreenGone
        from planlog.kernel.errors import PlanlogError

        # Where even stderr cannot be written, there is nobody left to tell.
        with suppress(ScreenGone, PlanlogError):
            self.console.note_lines(lines)

    def trace(self, text: str) -> None:
        """A traceback on stderr."""
        os.write(2, text.encode(errors="backslashreplace"))

    def close(self) -> None:
        """Unmounts what features added to the command line."""
        self._closing.close()
