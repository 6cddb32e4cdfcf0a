"""The agent as a row of a composition."""

from pathlib import Path

import pytest

from planlog.agent import event, fold, service
from planlog.agent.agent import Agent
from planlog.agent.conftest import House, Script
from planlog.agent.event import Completed
from planlog.agent.live import Live
from planlog.kernel.errors import ConfigError
from planlog.kernel.plugin import mount_plugin
from planlog.kernel.scope import open_scope
from planlog.log import sessions
from planlog.log.projection import Projections
from planlog.log.sessions import Sessions
from planlog.log.store import memory
from planlog.log.vocabulary import Vocabulary
from planlog.tools.tool import Tools


async def test_a_program_with_the_agents_row_answers_prompts() -> None:
    mounts = [
        mount_plugin("store", memory.plugin),
        mount_plugin("sessions", sessions.plugin),
        mount_plugin("agent/event", event.plugin),
        mount_plugin("agent/fold", fold.plugin),
        mount_plugin("agent/service", service.plugin, {"max_steps": 5, "approval": "ask"}),
    ]
    given = {Vocabulary: Vocabulary(), Projections: Projections(), Tools: Tools(), Live: Live()}
    async with open_scope(mounts, given) as scope:
        await scope.ready()
        session = await scope.get(Sessions).create(Path("/work"))
        agent = scope.get(Agent)
        message = await agent.prompt(session, "hello")
        assert await agent.run(session, Script([{"text": "Hi."}]), until=message) == Completed()
        assert [projection.key for projection in scope.get(Projections)] == ["approvals", "granted"]


def test_a_turn_without_steps_is_refused() -> None:
    with pytest.raises(ConfigError, match="max_steps must be at least 1, got 0"):
        Agent(Tools(), Live(), max_steps=0, policy="ask")


async def test_a_subagent_says_who_it_is_in_its_requests(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "for others"}, {"text": "for the scout", "agent": "scout"}])
    assert await house.run(session, model, agent="scout") == Completed()
    assert model.asked[0]["agent"] == "scout"
