"""A small house for tests of the agent: the real loop, registry and log, a scripted model, a store that forgets.

Async tests run on a virtual clock: retries wait for seconds, the tests do not.
"""

import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
import pytest
from tests.request_checker import faults_of

from planlog.agent.agent import Agent
from planlog.agent.conversation import CONVERSATION, request_of
from planlog.agent.event import TYPES, EndReason, Policy
from planlog.agent.live import Live
from planlog.agent.nesting import NESTING
from planlog.kernel.virtual_clock import VirtualLoop
from planlog.log.event import Event
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store import Row
from planlog.log.store.memory import MemoryStore
from planlog.log.vocabulary import Vocabulary
from planlog.model.model import Request
from planlog.model.scripted import Reply, ScriptedModel
from planlog.tools.tool import Execution, Tool, ToolFailure, Tools


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"loop_factory": VirtualLoop}


class Say(msgspec.Struct, forbid_unknown_fields=True):
    """What the tools of this house take."""

    text: Annotated[str, msgspec.Meta(description="What to say.")] = ""
    seconds: Annotated[float, msgspec.Meta(description="How long it takes.")] = 0.0


class Script(ScriptedModel):
    """A scripted model that remembers what it was asked, and refuses what a provider would refuse."""

    def __init__(self, replies: Iterable[dict[str, Any]]) -> None:
        super().__init__([msgspec.convert(reply, Reply) for reply in replies], "script.jsonl")
        self.asked: list[dict[str, Any]] = []
        self.bytes: list[bytes] = []

    def stream(self, request: Request) -> Any:
        sent = msgspec.to_builtins(request)
        assert faults_of(sent) == []
        self.asked.append(sent)
        self.bytes.append(msgspec.json.encode(request.messages))
        return super().stream(request)


def call(name: str, id: str | None = None, /, **arguments: Any) -> dict[str, Any]:
    """One call of a reply."""
    return {"name": name, "arguments": arguments, **({} if id is None else {"id": id})}


def calls(*made: dict[str, Any], **reply: Any) -> dict[str, Any]:
    """A reply that makes calls."""
    return {"tool_calls": list(made), **reply}


class Process:
    """One process over a store: its own sessions, tools and agent."""

    def __init__(self, store: MemoryStore, stack: ExitStack, max_steps: int = 50, policy: Policy = "auto") -> None:
        words = Vocabulary()
        stack.enter_context(words.learn(*TYPES, rules=(NESTING,)))
        ticks = itertools.count(1000)
        self.store = store
        self.tools = Tools()
        self.live = Live()
        self.sessions = Sessions(store, words, clock=lambda: next(ticks))
        self.agent = Agent(self.tools, self.live, max_steps=max_steps, policy=policy, clock=lambda: 0)
        self.done: list[str] = []
        self.waits: dict[str, float] = {}
        """How long a tool takes to say a text, beside what its call asks for."""
        for tool in self._tools():
            stack.enter_context(self.tools.add(tool))

    def _tools(self) -> Iterable[Tool[Any, Any]]:
        async def say(params: Say, execution: Execution) -> str:
            execution.progress(f"{params.text}…")
            await anyio.sleep(params.seconds + self.waits.get(params.text, 0))
            self.done.append(params.text)
            return params.text

        async def fail(params: Say, execution: Execution) -> str:
            raise ToolFailure(params.text or "no luck")

        yield Tool("say", "Says it.", Say, say, str)
        yield Tool("read", "Reads it.", Say, say, str, concurrency_safe=True)
        yield Tool("risk", "Dares it.", Say, say, str, needs_approval=True)
        yield Tool("fail", "Fails.", Say, fail, str)

    async def run(self, session: Session, model: ScriptedModel, prompt: str = "go", **options: Any) -> EndReason:
        """Prompts and runs to the end of that turn."""
        message = await self.agent.prompt(session, prompt, options.get("policy"))
        return await self.agent.run(session, model, until=message, **options)


class House:
    """Processes over one store, and a session to work in."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.store = MemoryStore()
        self.first = self.process()

    def process(self, **settings: Any) -> Process:
        return Process(self.store, self._stack, **settings)

    def close(self) -> None:
        self._stack.close()

    async def session(self) -> Session:
        return await self.first.sessions.create(Path("/work"))

    async def copied(self, events: Sequence[Event]) -> Session:
        """A new session whose log holds `events`, as if its process had died after the last of them."""
        session = await self.session()
        lease = await self.store.acquire(session.id)
        rows = [Row(event.seq, event.type, event.time, event.line) for event in events]
        await self.store.append(session.id, rows, lease=lease)
        await lease.release()
        await session.refresh()
        return session

    async def cut_after(self, session: Session, kind: str, which: int = -1) -> Session:
        """A copy of the log up to one of its events of that type, the last one unless `which` says another."""
        events = await events_of(session)
        seqs = [event.seq for event in events if event.type == kind]
        return await self.copied(events[: seqs[which] + 1])

    async def run(self, session: Session, model: ScriptedModel, prompt: str = "go", **options: Any) -> EndReason:
        return await self.first.run(session, model, prompt, **options)


@pytest.fixture
def house() -> Generator[House]:
    house = House()
    yield house
    house.close()


async def events_of(session: Session) -> list[Event]:
    """All that is committed."""
    await session.refresh()
    return [event async for page in session.pages() for event in page]


async def told(session: Session, start: int = 0) -> str:
    """The log as a person would tell it: one line an event, with what matters in it."""
    return "\n".join(line_of(event) for event in await events_of(session) if event.seq >= start)


async def next_request(session: Session) -> dict[str, Any]:
    """The request that the log asks for after one more prompt, as JSON."""
    request = msgspec.to_builtins(request_of(await session.view(CONVERSATION)))
    request["messages"].append({"role": "user", "content": [{"type": "text", "text": "next"}]})
    return request


def line_of(event: Event) -> str:
    data = msgspec.json.decode(event.data)
    tell: Callable[[Any], str] = _TELL.get(event.type, lambda data: "")
    cites = f" <- {event.source_event_seqs}" if event.source_event_seqs else ""
    return f"{event.seq} {event.type} {tell(data)}".rstrip() + cites


def _content(content: list[dict[str, Any]]) -> str:
    parts: list[str] = []
    for block in content:
        if block["type"] == "tool-call":
            parts.append(f"{block['name']}#{block['id']}({block['arguments']})")
        elif block["type"] == "tool-result":
            parts.append(f"{block['toolCallId']}: {_content(block['content'])}")
        else:
            parts.append(repr(block["text"]))
    return " ".join(parts)


def _answer(data: dict[str, Any]) -> str:
    return ("interrupted " if data.get("interrupted") else "") + _content(data["message"]["content"])


def _result(data: dict[str, Any]) -> str:
    code = f"[{data['error']['code']}] " if "error" in data else ""
    return code + _content(data["message"]["content"])


def _reason(reason: dict[str, Any]) -> str:
    detail = reason.get("reason", {}).get("kind") or reason.get("error", {}).get("code") or ""
    text = reason.get("error", {}).get("message", "")
    return " ".join(filter(None, (reason["kind"], detail, text)))


def _spliced(data: dict[str, Any]) -> str:
    inserted = [_content(message["content"]) for message in data["inserted"]]
    return f"{data['target']} -{data.get('removedCount', 0)} +{inserted} {data.get('outcome', '')}"


_TELL: dict[str, Callable[[Any], str]] = {
    "turn/start": lambda data: str(data["turn"]),
    "turn/end": lambda data: f"{data['turn']} {_reason(data['reason'])}",
    "step/start": lambda data: f"{data['turn']}.{data['step']}",
    "step/end": lambda data: f"{data['turn']}.{data['step']}",
    "user/message": lambda data: _content(data["content"]),
    "assistant/message": _answer,
    "assistant/chunk": lambda data: " ".join(str(data["chunk"].get(k)) for k in ("type", "text") if k in data["chunk"]),
    "tool/call": lambda data: f"{data['name']}#{data['callId']}({data['arguments']})",
    "tool/result": _result,
    "request/header": lambda data: data["reason"],
    "request/context": lambda data: f"{data['provider']}:{data['model']}",
    "agent/inbox/spliced": _spliced,
    "session/title": lambda data: f"{data['title']!r} of {data['messageSeqs']}",
    "approval/asked": lambda data: f"{data['toolName']}#{data['callId']}",
    "approval/decided": lambda data: data["outcome"],
    "approval/policy": lambda data: data["policy"],
    "llm/retry": lambda data: (
        f"{data['retry']}/{data['maxRetries']} in {data['delayMs']} ms: {data['failure']['message']}"
    ),
    "llm/retry-started": lambda data: str(data["retry"]),
}
