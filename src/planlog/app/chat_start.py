"""Starts a chat where it is typed: with a line editor on a terminal, line by line elsewhere."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

import anyio

from planlog.app.chat_plain import PlainFront, chat_by_lines
from planlog.app.chatting import Chat, ChatWish
from planlog.kernel.errors import ConfigError
from planlog.kernel.scope import Scope

if TYPE_CHECKING:
    from types import ModuleType

    from planlog.app.program import TerminalProgram
    from planlog.app.signals import Signals


async def chat(program: "TerminalProgram", scope: Scope, signals: "Signals", wish: ChatWish) -> int:
    """Chats until somebody leaves; the exit code."""
    signals.may_leave = True
    types = bool(sys.stdin and sys.stdin.isatty())
    out = program.console.out
    editor = _line_editor() if types and out.moves else None
    front = editor.LineFront(program, scope) if editor else PlainFront(repeats=not (types and out.is_terminal))
    code = 0
    async with anyio.create_task_group() as tasks:
        chat = Chat(program, scope, signals, front, tasks, wish)
        await chat.begin()
        try:
            if editor:
                code = await editor.chat_by_keys(program, scope, signals, chat, front)
            else:
                code = await chat_by_lines(program, signals, chat, is_terminal=types)
        finally:
            chat.goodbye()
        tasks.cancel_scope.cancel()
    return code


def _line_editor() -> "ModuleType":
    try:
        return import_module("planlog.app.chat_terminal")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "prompt_toolkit":
            raise
        raise ConfigError(
            "lines are edited with prompt_toolkit, which is missing: pip install 'planlog[chat]'"
        ) from error
