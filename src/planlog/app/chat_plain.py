"""A chat without a line editor: each line of stdin is a prompt, and is answered before the next is read."""

import os
import stat
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import anyio

from planlog.app.questions import Asker
from planlog.faces.stdio.endings import INTERRUPTED

if TYPE_CHECKING:
    from planlog.app.chatting import Chat
    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals

_PIECE = 1 << 16


class PlainFront:
    """See `Front`: here nothing is typed but whole lines."""

    asker: Asker | None = None
    text = ""

    def __init__(self, *, repeats: bool) -> None:
        self.repeats = repeats

    def take(self) -> str:
        """Nothing is typed in part."""
        return ""

    def put_back(self, text: str) -> None:
        """It stands where it was typed."""

    def complete(self, words: tuple[str, ...]) -> None:
        """There is nothing to complete."""

    def changed(self) -> None:
        """Nothing is drawn."""


async def chat_by_lines(program: "TerminalProgram", signals: "Signals", chat: "Chat", *, is_terminal: bool) -> int:
    """Answers the lines of stdin until its end, or until somebody leaves; the exit code of the last turn."""

    def interrupt() -> None:
        busy = chat.talk is not None and chat.talk.busy
        signals.interrupt = interrupt
        if is_terminal or busy:
            chat.key("interrupt")
        if not is_terminal:
            reading.cancel()
            chat.code = INTERRUPTED

    signals.interrupt = interrupt
    with anyio.CancelScope() as reading:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_until_left, chat, reading)
            lines = prompts(typed_lines())
            while True:
                if is_terminal:
                    program.console.ask("> ")
                text = await anext(lines, None)
                if text is None:
                    break
                await chat.line(text)
                if chat.left.is_set() or reading.cancel_called:
                    break
            tasks.cancel_scope.cancel()
    return chat.code or (chat.talk.code if chat.talk else 0)


async def _until_left(chat: "Chat", reading: anyio.CancelScope) -> None:
    await chat.left.wait()
    reading.cancel()


async def prompts(lines: AsyncGenerator[str]) -> AsyncGenerator[str]:
    """The lines; one that ends in a backslash goes on in the next."""
    begun: list[str] = []
    async with aclosing(lines):
        async for line in lines:
            if line.endswith("\\"):
                begun.append(line[:-1])
                continue
            yield "\n".join([*begun, line])
            begun.clear()
    if begun:
        yield "\n".join(begun)


async def typed_lines() -> AsyncGenerator[str]:
    """The lines of stdin as they come, without their ends."""
    if sys.stdin is None:
        return
    descriptor, rest = sys.stdin.fileno(), b""
    waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)
    while True:
        if waits:
            # What cannot be waited for (/dev/null) is always ready.
            with suppress(PermissionError):
                await anyio.wait_readable(descriptor)
        piece = os.read(descriptor, _PIECE)
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield _line(line)
        if not piece:
            break
    if rest:
        yield _line(rest)


def _line(data: bytes) -> str:
    return data.decode(errors="replace").removesuffix("\r")
