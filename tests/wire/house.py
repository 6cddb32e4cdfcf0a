"""A whole agent over a store in memory, whose models are real ones at a provider on this machine."""

import json
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from planlog.agent.agent import Agent
from planlog.agent.event import TYPES, EndReason
from planlog.agent.live import Live
from planlog.agent.nesting import NESTING
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store.memory import MemoryStore
from planlog.log.vocabulary import Vocabulary
from planlog.model.models import Models
from planlog.tools.tool import Execution, Tool, Tools
from tests import chat_checker, messages_checker
from tests.provider import Provider
from tests.wire.says import SETTINGS, Dialect, environment

CHECKERS = {"chat": partial(chat_checker.faults, vendor="compatible"), "messages": messages_checker.faults}
"""A fake on this machine is spoken to as any server is that is compatible with OpenAI."""


class Item(msgspec.Struct, forbid_unknown_fields=True):
    """One entry of a list."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class Todos(msgspec.Struct, forbid_unknown_fields=True):
    """What the tool `todo_write` of this house takes."""

    todos: list[Item]


class Command(msgspec.Struct, forbid_unknown_fields=True):
    """What the tool `bash` of this house takes."""

    command: str


class WireHouse:
    """Turns against `provider`, whose every request has to pass the checker of its dialect.

    `done` holds the arguments of every call that was run, as JSON: its tools do nothing else.
    """

    def __init__(self, provider: Provider, dialect: Dialect, models: Models, sessions: Sessions) -> None:
        tools = Tools()
        self.done: list[str] = []
        self.provider = provider
        self.dialect: Dialect = dialect
        self.sessions = sessions
        self._models = models
        self._agent = Agent(tools, Live(), max_steps=50, policy="auto", first_wait=0.0)
        self._checked = 0

        async def run(params: msgspec.Struct, execution: Execution) -> str:
            self.done.append(msgspec.json.encode(params).decode())
            return "done"

        self._tools = ExitStack()
        self._tools.enter_context(tools.add(Tool("todo_write", "Writes the list.", Todos, run, str)))
        self._tools.enter_context(tools.add(Tool("bash", "Runs a command.", Command, run, str)))

    async def session(self) -> Session:
        """A new one."""
        return await self.sessions.create(Path("/work"))

    async def turn(self, session: Session, prompt: str = "go on", model: str = "") -> EndReason:
        """One prompt, answered by what the provider says; checks what it was asked."""
        opened = self._models.open(model or SETTINGS[self.dialect][0])
        message = await self._agent.prompt(session, prompt)
        end = await self._agent.run(session, opened, until=message, cwd=Path("/"))
        self.check()
        return end

    def check(self) -> None:
        """Every request that has not been looked at is valid, in the dialect of its path."""
        for asked in self.provider.asked[self._checked :]:
            faults = CHECKERS["messages" if asked.path.endswith("/messages") else "chat"](asked.body)
            assert not faults, (faults, asked.body)
        self._checked = len(self.provider.asked)


@asynccontextmanager
async def wire_house(provider: Provider, dialect: Dialect, **env: str) -> AsyncGenerator[WireHouse]:
    """A house whose models are at `provider`, which is serving."""
    words = Vocabulary()
    models = Models({**environment(dialect, provider.url), **env})
    with words.learn(*TYPES, rules=(NESTING,)):
        try:
            yield WireHouse(provider, dialect, models, Sessions(MemoryStore(), words))
        finally:
            await models.aclose()


async def events_of(session: Session) -> list[dict[str, Any]]:
    """The log, as its lines say it."""
    await session.refresh()
    return [json.loads(event.line) async for page in session.pages() for event in page]
