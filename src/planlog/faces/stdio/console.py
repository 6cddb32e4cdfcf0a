"""Where a command talks to its person: results on stdout, everything about them on stderr."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from typing import TextIO

from planlog.faces.renders import Line, Span
from planlog.faces.stdio.outlet import Outlet, open_outlet
from planlog.faces.stdio.screen import Screen, open_screen


class Console:
    """Two screens that are often the same terminal, so that neither writes into the other's unfinished line."""

    def __init__(self, out: Screen, err: Screen, outlets: Sequence[Outlet] = ()) -> None:
        self.out = out
        self.err = err
        self.outlets = outlets
        """The files behind both, each once."""

    @asynccontextmanager
    async def unblocked(self) -> AsyncGenerator[None]:
        """A block in which the event loop never waits for a reader; see `outlet`."""
        async with AsyncExitStack() as stack:
            for outlet in self.outlets:
                await stack.enter_async_context(outlet.unblocked())
            yield

    @contextmanager
    def redirected(self, sink: Callable[[bytes], None], show_status: Callable[[str], None]) -> Generator[None]:
        """See `Screen.redirected`, for each screen that is a terminal."""
        with ExitStack() as stack:
            for screen in (self.out, self.err):
                if screen.is_terminal:
                    stack.enter_context(screen.redirected(sink, show_status))
            yield

    @property
    def is_full(self) -> bool:
        """Whether so much waits for its reader that what can be spared should be."""
        return any(outlet.is_full for outlet in self.outlets)

    async def room(self) -> None:
        """Waits until more may be written. Raises what writing ran into."""
        for outlet in self.outlets:
            await outlet.room()

    async def flushed(self) -> None:
        """Waits until everything stands where it is read."""
        for outlet in self.outlets:
            await outlet.flushed()

    def note(self, text: str) -> None:
        """A dim line on stderr: something worth knowing that is no result."""
        self.note_lines([(Span(text, "dim"),)])

    def note_lines(self, lines: Iterable[Line]) -> None:
        """Lines on stderr."""
        self._part()
        self.err.lines(lines)

    def ask(self, question: str) -> None:
        """A question on stderr, to be answered on the same line."""
        self._part()
        self.err.question(question)

    def _part(self) -> None:
        if self.out.is_terminal and self.err.is_terminal:
            self.out.end_line()


def open_console(stdout: TextIO | None, stderr: TextIO | None, env: Mapping[str, str]) -> Console:
    """The console of two streams; where they are one file, what is written stays in order."""
    out, err = open_outlet(stdout), open_outlet(stderr, spared=True)
    if out and err and out.is_same_file(err):
        err = out
    outlets = [outlet for outlet in (out, err if err is not out else None) if outlet]
    return Console(open_screen(stdout, env, out), open_screen(stderr, env, err), outlets)
