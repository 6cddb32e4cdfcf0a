"""What must be true of a home after anything: the acknowledged is there, every session opens and goes on."""

import json
from typing import Any

import msgspec

from planlog.agent.agent import Agent
from planlog.agent.event import TYPES, Completed
from planlog.agent.live import Live
from planlog.agent.nesting import NESTING
from planlog.log.sessions import Sessions
from planlog.log.store.sqlite import open_store
from planlog.log.vocabulary import Vocabulary
from planlog.model.model import Request
from planlog.model.scripted import Reply, ScriptedModel
from planlog.tools.tool import Tools
from tests.faults.scene import LISTS, Scene
from tests.request_checker import faults_of


class Recorder(ScriptedModel):
    """A model that says "Going on." and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__([Reply(text="Going on.")], "recorder")
        self.asked: list[dict[str, Any]] = []

    def stream(self, request: Request) -> Any:
        self.asked.append(msgspec.to_builtins(request))
        return super().stream(request)


def acknowledged(stdout: str) -> list[dict[str, Any]]:
    """The events that a run said were saved; a line that a kill tore is none."""
    return [json.loads(line) for line in stdout.splitlines(keepends=True) if line.endswith("\n")]


def lists_possible(events: list[dict[str, Any]]) -> list[Any]:
    """The list that stands after `events`, or the one that was being written.

    A list whose write failed without the process dying was refused to the model, which went on to the next.
    """
    written = [LISTS.index(event["data"]["todos"]) for event in events if event["type"] == "todo/write"]
    assert written == sorted(set(written))
    last = written[-1] if written else -1
    return [LISTS[last] if written else None, *LISTS[last + 1 :][:1]]


def standing_list(events: list[dict[str, Any]]) -> Any:
    """The list that stands after `events`, None for none; read from the log, as anybody might who knows its format."""
    last = next((event for event in reversed(events) if event["type"] in ("todo/write", "turn/start")), None)
    return last["data"]["todos"] if last and last["type"] == "todo/write" else None


async def check_what_is_left(scene: Scene, said: list[dict[str, Any]]) -> None:
    """Opens every session of the scene's home, compares it with what was acknowledged, and goes on in it."""
    words = Vocabulary()
    with words.learn(*TYPES, rules=(NESTING,)):
        async with open_store(scene.home) as store:
            sessions = Sessions(store, words)
            records = await store.find("")
            assert len(records) <= 1
            assert records or not said, "a session that was acknowledged is gone"
            for record in records:
                session = await sessions.open(record.id)
                kept = [json.loads(event.line) for event in await session.read()]
                assert kept[: len(said)] == said, "an acknowledged event is gone"
                assert standing_list(kept) in lists_possible(said)
                model, agent = Recorder(), Agent(Tools(), Live(), max_steps=5, policy="auto")
                prompt = await agent.prompt(session, "go on")
                end = await agent.run(session, model, until=prompt)
                assert end == Completed(), end
                assert model.asked
                for request in model.asked:
                    assert faults_of(request) == []
                events = [json.loads(event.line) for event in await session.read()]
                assert events[: len(kept)] == kept, "a repair removed something"
