"""The prompt line on a terminal that nobody looks at: what keys do, and from when on."""

import os
import pty
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from planlog.faces.stdio.prompt_history import PromptHistory
from planlog.faces.stdio.prompt_layout import Shown
from planlog.faces.stdio.prompt_line import UNDOABLE, Key, PromptLine
from planlog.faces.stdio.toolbar import Toolbar

QUESTION = "Allow it?"


class Desk:
    """A terminal; `heard` are keys, each with what stood in the line."""

    def __init__(self, keyboard: int, history: Path) -> None:
        self.drawn = b""
        self.heard: list[tuple[Key, str]] = []
        self._keyboard = keyboard
        shown = Shown(list, lambda: Toolbar("", "", "", "", ""))
        self.line = PromptLine(
            self._draw, lambda: False, PromptHistory(history), self._hear, shown, color=False, encoding="utf-8"
        )

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    async def sees(self, text: str) -> None:
        while text.encode() not in self.drawn:
            await anyio.lowlevel.checkpoint()

    @asynccontextmanager
    async def ready(self) -> AsyncGenerator[None]:
        async with self.line.running():
            await self.sees(">")
            yield

    def _draw(self, data: bytes) -> None:
        self.drawn += data

    def _hear(self, key: Key) -> None:
        self.heard.append((key, self.line.take()))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    keyboard, terminal = pty.openpty()
    with open(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield Desk(keyboard, tmp_path / "history.jsonl")
    os.close(keyboard)


async def test_a_key_that_is_typed_before_a_question_stands_there_is_no_answer(desk: Desk) -> None:
    answers: list[str] = []

    async def ask() -> None:
        answers.append(await desk.line.ask(QUESTION))

    async with desk.ready(), anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        while not desk.line.shown.question:
            await anyio.lowlevel.checkpoint()
        assert QUESTION.encode() not in desk.drawn
        desk.type("y\r")
        await desk.sees(QUESTION)
        desk.type("n\r")
    assert desk.heard == [("enter", "y")]
    assert answers == ["n"]


async def test_so_many_keys_can_be_undone_and_no_more(desk: Desk) -> None:
    async with desk.ready():
        desk.type("x" * (UNDOABLE + 7) + "\x1f" * (UNDOABLE + 7) + "\r")
        while not desk.heard:
            await anyio.lowlevel.checkpoint()
    assert desk.heard == [("enter", "x" * 8)]
