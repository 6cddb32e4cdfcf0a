"""A chat with a line editor below what is said, and a bar that tells where one is."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from planlog.app.chat_commands import PLANS
from planlog.app.questions import NOTHING, Asker
from planlog.faces.renders import Line, Span
from planlog.faces.stdio.pages import Window, usable
from planlog.faces.stdio.prompt_history import PromptHistory
from planlog.faces.stdio.prompt_layout import Shown
from planlog.faces.stdio.prompt_line import Key, PromptLine
from planlog.faces.stdio.prompt_tty import restoring, terminal_size
from planlog.faces.stdio.question import WORDS, said
from planlog.faces.stdio.toolbar import Toolbar
from planlog.kernel.errors import ConfigError
from planlog.kernel.last_acts import LastActs
from planlog.kernel.scope import Scope
from planlog.log.projection import Projections

if TYPE_CHECKING:
    from planlog.app.chatting import Chat
    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals

HISTORY = "history.jsonl"
IDLE = ("/help", "Enter sends, /help")
RUNNING = ("running", "running: Enter steers, Tab queues, Ctrl-C stops")
STOPPING = ("stopping", "stopping: Ctrl-C leaves at once")
_AROUND = 2
"""Rows that a question leaves for what stands around the line: what waits, and the bar."""


class LineFront:
    """See `Front`: the prompt line, and what stands around it."""

    repeats = True

    def __init__(self, program: "TerminalProgram", scope: Scope) -> None:
        self.chat: Chat | None = None
        self.asker: Asker | None = LineAsker(program, self)
        self._program = program
        self._scope = scope
        self._news = anyio.Event()
        self._plan = ""
        self._folder: Path | None = None
        with suppress(ConfigError):  # it may be gone, and the session work in another one
            self._folder = program.folder
        outlet = program.console.outlets[0]
        history = PromptHistory(program.where().path / HISTORY)
        out = program.console.out
        self.line = PromptLine(
            outlet.write,
            lambda: program.console.is_full,
            history,
            self._hear,
            Shown(self._waiting, self._bar),
            color=out.color,
            encoding=out.encoding,
        )

    def _hear(self, key: Key) -> None:
        if self.chat:
            self.chat.key(key)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.line.text

    def take(self) -> str:
        """Takes it out of the line."""
        return self.line.take()

    def put_back(self, text: str) -> None:
        """Into the line, before what is typed."""
        self.line.put_back(text)
        self.line.redraw()

    def complete(self, words: tuple[str, ...]) -> None:
        """Completes a command."""
        self.line.complete(words)
        self.line.redraw()

    def changed(self) -> None:
        """What stands around the line is to be drawn anew."""
        news, self._news = self._news, anyio.Event()
        news.set()

    async def redrawn(self, chat: "Chat") -> None:
        """Draws the line and what stands around it whenever something changes, for ever."""
        while True:
            news = self._news
            self._plan = await self._plan_of(chat)
            self.line.redraw()
            await news.wait()

    def _waiting(self) -> list[str]:
        return self.chat.talk.waiting if self.chat and self.chat.talk else []

    def _bar(self) -> Toolbar:
        chat = self.chat
        state, keys = STOPPING if chat and chat.stopping else RUNNING if chat and chat.busy else IDLE
        model = chat.model_name if chat else ""
        folder = chat.talk.folder if chat and chat.talk else self._folder
        return Toolbar(model, _short(folder) if folder else "", self._plan, state, keys)

    async def _plan_of(self, chat: "Chat") -> str:
        projection = self._scope.get(Projections).get(PLANS[0])
        if projection is None or chat.talk is None:
            return ""
        plan = await chat.talk.session.view(projection)
        texts = (column.text(plan) for column in self._program.command_line.columns() if column.key == PLANS[0])
        return next(texts, "").partition(" · ")[0]


class LineAsker:
    """Asks in the prompt line; what is typed meanwhile is kept."""

    can_ask = True

    def __init__(self, program: "TerminalProgram", front: LineFront) -> None:
        self.allowed = NOTHING
        self._console = program.console
        self._front = front

    @property
    def encoding(self) -> str:
        """See `Asker`."""
        return self._console.out.encoding

    def window(self) -> Window:
        """See `Asker`."""
        size = terminal_size()
        columns, rows = usable(size.columns, size.rows)
        return Window(columns, rows - _AROUND)

    async def ask(self, lines: list[Line], prompt: str) -> str:
        """See `Asker`."""
        self._console.out.end_line()
        self._console.out.lines(lines)
        await self._front.line.printed()
        await self._console.flushed()
        line = self._front.line
        try:
            typed = await line.ask(prompt)
            self._console.out.lines([(Span(prompt, "dim"), Span(typed.strip()))])
        except BaseException:
            self._keep(line.reply)
            raise
        self._keep(typed)
        return typed

    def _keep(self, typed: str) -> None:
        """Whoever was typing when the question came did not mean it; it is no yes, but it is not lost either."""
        if said(typed) not in ("", *WORDS):
            self._front.line.insert(typed)


async def chat_by_keys(
    program: "TerminalProgram", scope: Scope, signals: "Signals", chat: "Chat", front: LineFront
) -> int:
    """Chats until somebody leaves; the exit code."""

    def interrupt() -> None:
        signals.interrupt = interrupt
        chat.key("interrupt")

    line, console = front.line, program.console
    front.chat = chat
    with scope.get(LastActs).add(restoring()), console.redirected(line.print_above, line.show_status):
        signals.interrupt = interrupt
        async with line.running(), anyio.create_task_group() as tasks:
            tasks.start_soon(front.redrawn, chat)
            for outlet in console.outlets:
                tasks.start_soon(outlet.broken)
            await chat.left.wait()
            tasks.cancel_scope.cancel()
    return chat.code


def _short(folder: Path) -> str:
    home = os.path.expanduser("~")
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and str(folder) != home else str(folder)
