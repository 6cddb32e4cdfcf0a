"""A line editor below what is printed: text flows above it while somebody types, asks are answered in its place.

All that reaches the terminal goes through one paper, so what is printed and the line below it come in one piece: the
line is erased, the text is written where it stood, the line is drawn again below. Text is gathered for `PAUSE` seconds
before, however fast it comes.
"""

import asyncio
import os
import signal
import sys
import termios
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal

import anyio
from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.history import History
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from planlog.faces.stdio.outlet import ScreenGone
from planlog.faces.stdio.paper import Paper
from planlog.faces.stdio.prompt_history import PromptHistory
from planlog.faces.stdio.prompt_keys import prompt_keys
from planlog.faces.stdio.prompt_layout import PLAIN, STYLE, Shown, prompt_layout
from planlog.faces.stdio.prompt_tty import take_type_ahead, terminal_size
from planlog.faces.stdio.unfinished import Unfinished

Key = Literal["enter", "tab", "interrupt", "end"]
PAUSE = 0.03
"""Seconds between two times that text is printed."""

UNDOABLE = 100
"""Keys that can be undone, the one that undoes among them."""


class PromptLine:
    """One line, or several, that somebody types; after a change of what is `shown` around it call `redraw`.

    `hear` is called with each key that means something to others.
    "end" is Ctrl-D on an empty line. Raises `ScreenGone` where the input ends, which a terminal's does when it closes.
    """

    def __init__(
        self,
        write_out: Callable[[bytes], None],
        is_full: Callable[[], bool],
        history: PromptHistory,
        hear: Callable[[Key], None],
        shown: Shown,
        *,
        color: bool,
        encoding: str,
    ) -> None:
        self._paper = Paper(write_out, encoding)
        self._is_full = is_full
        self._pending: list[bytes] = []
        self._timer: asyncio.TimerHandle | None = None
        self._unfinished = Unfinished()
        self._answer: asyncio.Future[str] | None = None
        self.shown = shown
        self._line = _Typed(history=_Remembered(history), multiline=True)
        self._reply = _Typed(multiline=False)
        options = {"term": os.environ.get("TERM"), "enable_bell": False, "enable_cpr": False}
        self._output = Vt100_Output(self._paper, terminal_size, **options)  # type: ignore[reportArgumentType] # all that is needed of a stream
        self._app: Application[None] = Application(
            layout=prompt_layout(self.shown, self._line, self._reply, lambda: terminal_size().columns),
            key_bindings=prompt_keys(self._line, self._reply, hear, self._give),
            style=STYLE if color else PLAIN,
            include_default_pygments_style=False,
            color_depth=ColorDepth.DEPTH_4_BIT if color else ColorDepth.DEPTH_1_BIT,
            erase_when_done=True,
            input=Vt100Input(sys.stdin),
            output=self._output,
        )
        self._rendered = anyio.Event()
        self._app.after_render += self._on_rendered

    # The line

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keys are heard and the line is shown until the block ends."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            try:
                yield
            finally:
                if self._app.is_running:
                    self._app.exit()

    async def _run(self) -> None:
        # Ended by `exit` alone: an end by cancellation would leave the terminal as it must not be left.
        with anyio.CancelScope(shield=True), self._app.input.raw_mode():
            take_type_ahead(self._app.input)
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGCONT, self._go_on, termios.tcgetattr(sys.stdin))
            try:
                await self._app.run_async(set_exception_handler=False, handle_sigint=False)
            except EOFError as error:
                raise ScreenGone from error
            finally:
                loop.remove_signal_handler(signal.SIGCONT)
                self._paper.release()
                self._print()

    def _go_on(self, modes: list[Any]) -> None:
        """The program was stopped: whoever had the terminal meanwhile left it in their own way."""
        with suppress(termios.error):
            termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)
        self._app.renderer.reset()
        self._app.invalidate()

    @property
    def text(self) -> str:
        """What has been typed so far."""
        return self._line.text

    def take(self) -> str:
        """What was typed; it is in the history from now on, and the line is empty."""
        text = self._line.text
        self._line.reset(append_to_history=bool(text.strip()))
        return text

    def put_back(self, text: str) -> None:
        """Puts `text` before what is being typed."""
        typed = self._line.text
        self._line.text = f"{text}\n{typed}" if typed else text
        self._line.cursor_position = len(self._line.text)

    def insert(self, text: str) -> None:
        """Types `text` for its person."""
        self._line.insert_text(text)

    def complete(self, words: Iterable[str]) -> None:
        """Types the rest of the only one of `words` that begins with what is typed."""
        fitting = [word for word in words if word.startswith(self._line.text)]
        if len(fitting) == 1:
            self._line.text = fitting[0] + " "
            self._line.cursor_position = len(self._line.text)

    @property
    def reply(self) -> str:
        """What was typed behind the last question and not sent."""
        return self._reply.text

    async def ask(self, question: str) -> str:
        """What is typed behind `question` once it stands there; what was being typed stays for afterwards."""
        self._answer = asyncio.get_running_loop().create_future()
        self.shown.question = question
        self._reply.reset()
        # It must not be seen before keys are heard as an answer to it, nor the other way round: see `_on_rendered`.
        self._paper.hold()
        self.redraw()
        try:
            return await self._answer
        finally:
            self._answer, self.shown.question = None, ""
            self._app.layout.focus(self._line)
            self.redraw()

    def _give(self) -> None:
        if self._answer and not self._answer.done():
            self._answer.set_result(self._reply.text)
            self._reply.reset()

    def _take_keys(self) -> None:
        """Keys that were typed until now, and not read yet, belong to the line."""
        while keys := self._app.input.read_keys():
            self._app.key_processor.feed_multiple(keys)
        self._app.key_processor.process_keys()

    # What is printed above it

    def print_above(self, data: bytes) -> None:
        """Prints text in the encoding of the terminal above the line, soon and in order."""
        self._pending.append(data)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._print)

    async def printed(self) -> None:
        """Waits until all text stands above the line."""
        while self._pending or self._paper.held:
            await self._rendered.wait()

    def show_status(self, text: str) -> None:
        """Shows what is going on in a line of its own, until the next text."""
        self.shown.status = text
        self.redraw()

    def redraw(self) -> None:
        """Draws the line and what stands around it, soon."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._print)

    def _print(self) -> None:
        self._timer = None
        if self._app.is_running and self._is_full():
            # Whoever reads the terminal has paused; what would be drawn now is old by then.
            self.redraw()
            return
        text = b"".join(self._pending).decode(self._paper.encoding, "replace")
        self._pending.clear()
        above = self._unfinished.more(text, terminal_size().columns)
        self.shown.unfinished = self._unfinished.rest
        if not self._app.is_running:
            self._paper.write(above + self._unfinished.rest)
            self._unfinished.rest = ""
            self._paper.flush()
            return
        if above:
            self._paper.hold()
            self._app.renderer.erase()
            self._output.write_raw(above)
            self._output.flush()
        self._app.invalidate()

    def _on_rendered(self, _: object) -> None:
        if self._answer and not self._app.layout.has_focus(self._reply):
            self._take_keys()
            self._app.layout.focus(self._reply)
            self._app.invalidate()
        self._paper.release()
        self._rendered.set()
        self._rendered = anyio.Event()


class _Typed(Buffer):
    """What is typed. The editor keeps the whole text for each key; here it keeps as many as somebody would undo."""

    def save_to_undo_stack(self, clear_redo_stack: bool = True) -> None:
        """See `Buffer`."""
        super().save_to_undo_stack(clear_redo_stack)
        del self._undo_stack[:-UNDOABLE]


class _Remembered(History):
    """The history file as the editor wants it."""

    def __init__(self, entries: PromptHistory) -> None:
        super().__init__()
        self._entries = entries

    def load_history_strings(self) -> Iterable[str]:
        """See `History`."""
        return self._entries.newest_first()

    def store_string(self, string: str) -> None:
        """See `History`."""
        self._entries.add(string)
