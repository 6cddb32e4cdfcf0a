"""A model plans through the real loop: the scripted model speaks, the log says what came of it."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from planlog.agent.agent import Agent
from planlog.agent.event import TOOL_RESULT, Completed, EndReason, MaxTokens
from planlog.agent.live import Live
from planlog.features.todo.event import Todo
from planlog.features.todo.fold import TODOS
from planlog.features.todo.history import PLAN_HISTORY
from planlog.kernel.composition import ROLES, Row
from planlog.kernel.features import load_row
from planlog.kernel.plugin import mount_plugin
from planlog.kernel.scope import open_scope
from planlog.log import sessions as sessions_service
from planlog.log.projection import Projections
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store import Store
from planlog.log.store.memory import MemoryStore
from planlog.log.vocabulary import Vocabulary
from planlog.model.message import Text, ToolResult
from planlog.model.scripted import open_script
from planlog.tools.tool import Tools


class Program:
    """An agent with `todo_write` and nothing else, over a store that outlives it."""

    def __init__(self, agent: Agent, sessions: Sessions, folder: Path) -> None:
        self.agent = agent
        self.sessions = sessions
        self.folder = folder

    async def turn(self, session: Session, *replies: dict[str, Any]) -> EndReason:
        """One prompt that is answered with `replies`."""
        script = self.folder / "script.jsonl"
        script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
        message = await self.agent.prompt(session, "go on")
        return await self.agent.run(session, open_script(script), until=message, cwd=self.folder)


@asynccontextmanager
async def open_program(store: MemoryStore, folder: Path, *, parallel: bool = True) -> AsyncGenerator[Program]:
    rows = [
        Row("agent", "planlog.agent", {"max_steps": 20, "approval": "deny"}),
        Row("todo", "planlog.features.todo", {"allow_parallel_in_progress": parallel}),
    ]
    mounts = [mount for row in rows for mount in load_row(row, ("event", "fold", "service", "tool"), ROLES)]
    given = {
        Store: store,
        Vocabulary: Vocabulary(),
        Projections: Projections(),
        Tools: Tools(),
        Live: Live(),
    }
    async with open_scope([mount_plugin("sessions", sessions_service.plugin), *mounts], given) as scope:
        await scope.ready()
        yield Program(scope.get(Agent), scope.get(Sessions), folder)


def write(*lines: str) -> dict[str, Any]:
    """A call that writes the list which `lines` show."""
    statuses = {"[x]": "completed", "[~]": "in_progress", "[ ]": "pending"}
    todos = [{"content": line[4:], "status": statuses[line[:3]]} for line in lines]
    return {"name": "todo_write", "arguments": {"todos": todos}}


def calls(*made: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"tool_calls": list(made), **more}


DONE = {"text": "Done."}


async def types_of(session: Session) -> list[str]:
    wanted = ("assistant/message", "tool/call", "todo/write", "tool/result", "turn/end")
    return [event.type async for page in session.pages() for event in page if event.type in wanted]


async def results_of(session: Session) -> list[str]:
    """What the model was told by each result."""
    told: list[str] = []
    async for page in session.pages(types=frozenset({"tool/result"})):
        for event in page:
            (block,) = TOOL_RESULT.read(event).message.content
            assert isinstance(block, ToolResult)
            told += [part.text for part in block.content if isinstance(part, Text)]
    return told


async def test_the_model_writes_a_plan_and_the_next_turn_clears_it(tmp_path: Path) -> None:
    async with open_program(MemoryStore(), tmp_path) as program:
        session = await program.sessions.create(tmp_path)
        assert (
            await program.turn(session, calls(write("[~] a", "[ ] b")), calls(write("[x] a", "[x] b")), DONE)
            == Completed()
        )
        assert await session.view(TODOS) == [Todo("a", "completed"), Todo("b", "completed")]
        assert await types_of(session) == [
            *("assistant/message", "tool/call", "todo/write", "tool/result") * 2,
            "assistant/message",
            "turn/end",
        ]
        assert await results_of(session) == [
            "Updated todo list: 1 pending, 1 in progress, 0 completed.",
            "Updated todo list: 0 pending, 0 in progress, 2 completed.",
        ]
        await program.turn(session, DONE)
        assert await session.view(TODOS) is None
        assert [one.turn for one in await session.view(PLAN_HISTORY)] == [1, 1]


async def test_of_two_calls_in_one_answer_the_last_one_stands(tmp_path: Path) -> None:
    async with open_program(MemoryStore(), tmp_path) as program:
        session = await program.sessions.create(tmp_path)
        await program.turn(session, calls(write("[~] a", "[ ] b"), write("[x] a", "[~] b")), DONE)
        assert await session.view(TODOS) == [Todo("a", "completed"), Todo("b", "in_progress")]
        assert await results_of(session) == [
            "Updated todo list: 1 pending, 1 in progress, 0 completed.",
            "Updated todo list: 0 pending, 1 in progress, 1 completed.",
        ]


async def test_a_refused_call_leaves_only_itself_and_its_result(tmp_path: Path) -> None:
    async with open_program(MemoryStore(), tmp_path, parallel=False) as program:
        session = await program.sessions.create(tmp_path)
        wrong = write("[~] a", "[~] b")
        assert (
            await program.turn(session, calls(write("[~] a")), calls(wrong), calls(write("[x] a")), DONE) == Completed()
        )
        assert await types_of(session) == [
            *("assistant/message", "tool/call", "todo/write", "tool/result"),
            *("assistant/message", "tool/call", "tool/result"),
            *("assistant/message", "tool/call", "todo/write", "tool/result"),
            *("assistant/message", "turn/end"),
        ]
        assert (await results_of(session))[1] == "Error: invalid todos: at most one task may be in_progress, got 2"


async def test_arguments_that_were_cut_off_never_become_a_plan(tmp_path: Path) -> None:
    async with open_program(MemoryStore(), tmp_path) as program:
        session = await program.sessions.create(tmp_path)
        half = {"name": "todo_write", "arguments": '{"todos":[{"content":"A","status":"completed"},{"content":"B","st'}
        whole = write("[x] a")
        reason = await program.turn(session, calls(write("[~] a", "[ ] b")), calls(half, finish="length"), DONE)
        assert isinstance(reason, MaxTokens | Completed)
        await program.turn(session, calls(write("[~] a")), calls(whole, finish="length"), DONE)
        assert await session.view(TODOS) == [Todo("a", "in_progress")]
        assert (await types_of(session)).count("todo/write") == 2


@pytest.mark.parametrize(
    "raw", ["", "null", '"[]"', '{"todos":"x"}', '{"todos":[{"content":"a\nb","status":"pending"}]}']
)
async def test_whatever_the_model_sends_the_session_goes_on(tmp_path: Path, raw: str) -> None:
    async with open_program(MemoryStore(), tmp_path) as program:
        session = await program.sessions.create(tmp_path)
        odd = {"name": "todo_write", "arguments": raw}
        assert await program.turn(session, calls(odd), calls(write("[x] a")), DONE) == Completed()
        assert await session.view(TODOS) == [Todo("a", "completed")]


async def test_a_log_of_parallel_work_stays_good_where_only_one_at_a_time_is_allowed(tmp_path: Path) -> None:
    store = MemoryStore()
    async with open_program(store, tmp_path, parallel=True) as program:
        session = await program.sessions.create(tmp_path)
        await program.turn(session, calls(write("[~] a", "[~] b")), DONE)
    async with open_program(store, tmp_path, parallel=False) as program:
        again = await program.sessions.open(session.id)
        assert await again.view(TODOS) == [Todo("a", "in_progress"), Todo("b", "in_progress")]
        assert (
            await program.turn(again, calls(write("[~] a", "[~] b")), calls(write("[x] a", "[~] b")), DONE)
            == Completed()
        )
        assert await again.view(TODOS) == [Todo("a", "completed"), Todo("b", "in_progress")]
        assert len(await again.view(PLAN_HISTORY)) == 2
