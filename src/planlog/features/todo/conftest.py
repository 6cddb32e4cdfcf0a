"""A house for the feature's tests: it is mounted by the real loader, over a store in memory."""

import json
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import House as Machine

from planlog.agent import event as conversation
from planlog.agent.event import TURN_END, TURN_START, Completed, TurnEnd, TurnStart
from planlog.faces.stdio import StdioRenders
from planlog.features.todo.event import Status, Todo
from planlog.kernel.composition import ROLES, Row
from planlog.kernel.features import load_row
from planlog.kernel.plugin import Mount, mount_plugin
from planlog.kernel.scope import Scope, open_scope
from planlog.log import sessions as sessions_service
from planlog.log.event import Event
from planlog.log.projection import Projections
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store import memory
from planlog.log.vocabulary import Vocabulary
from planlog.tools.call import run_call
from planlog.tools.outcome import Outcome
from planlog.tools.tool import Execution, Tools


class House:
    """A running program with the feature in it, and one session whose lease is held."""

    def __init__(self, scope: Scope, mounts: Sequence[Mount], session: Session) -> None:
        self.scope = scope
        self.mounts = mounts
        self.session = session
        self.turn = 0

    async def begin_turn(self) -> None:
        self.turn += 1
        await self.session.append(TURN_START.fact(TurnStart(self.turn)))

    async def end_turn(self) -> None:
        await self.session.append(TURN_END.fact(TurnEnd(self.turn, Completed())))

    async def call(self, arguments: object, *, owned: bool = True) -> Outcome:
        """Calls the tool as a model does; `arguments` is its raw text, or what becomes it as JSON."""
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        execution = Execution("c1", self.session if owned else None, Path())
        return await run_call(self.scope.get(Tools), "todo_write", raw, execution)

    async def write(self, *todos: Todo) -> Outcome:
        """Calls the tool with a list."""
        return await self.call({"todos": [{"content": todo.content, "status": todo.status} for todo in todos]})

    async def events(self) -> list[Event]:
        """The whole log."""
        return [event async for page in self.session.pages() for event in page]

    async def written(self) -> list[Any]:
        """The data of each `todo/write` on the log."""
        return [json.loads(bytes(event.data)) for event in await self.events() if event.type == "todo/write"]


OpenHouse = Callable[..., AbstractAsyncContextManager[House]]


@asynccontextmanager
async def _open_house(
    *, parallel: bool = True, roles: Collection[str] = ("event", "fold", "tool", "stdio")
) -> AsyncGenerator[House]:
    row = Row("todo", "planlog.features.todo", {"allow_parallel_in_progress": parallel})
    feature = load_row(row, roles, ROLES)
    services = [
        mount_plugin("store", memory.plugin),
        mount_plugin("sessions", sessions_service.plugin),
        mount_plugin("agent/event", conversation.plugin),
    ]
    given = {
        Vocabulary: Vocabulary(),
        Projections: Projections(),
        Tools: Tools(),
        StdioRenders: StdioRenders(),
    }
    async with open_scope([*services, *feature], given) as scope:
        await scope.ready()
        session = await scope.get(Sessions).create(Path("/somewhere"))
        async with session.lease():
            yield House(scope, feature, session)


@pytest.fixture
def open_house() -> OpenHouse:
    return _open_house


def _items(*lines: str) -> list[Todo]:
    statuses: dict[str, Status] = {"[x]": "completed", "[~]": "in_progress", "[ ]": "pending"}
    return [Todo(line[4:], statuses[line[:3]]) for line in lines]


@pytest.fixture
def items() -> Callable[..., list[Todo]]:
    """`items("[x] a", "[ ] b")` is the list that these lines show."""
    return _items


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A person's machine, for tests of the real program in processes of its own."""
    machine = Machine(tmp_path)
    yield machine
    machine.stop()
