"""The agent as a service of a program: its settings, and what it offers."""

from collections.abc import AsyncGenerator
from typing import Literal

from planlog.agent.agent import Agent
from planlog.agent.live import Live
from planlog.agent.rules import read_rules
from planlog.tools.tool import Tools


async def plugin(
    tools: Tools,
    live: Live,
    *,
    max_steps: int,
    approval: Literal["ask", "auto", "deny"],
    allow: list[str] | None = None,
    deny: list[str] | None = None,
) -> AsyncGenerator[Agent]:
    """`max_steps` is how many requests one turn may make, `approval` who allows calls that need it.

    `allow` and `deny` are rules: calls that need no question, and calls that never run.
    """
    yield Agent(tools, live, max_steps=max_steps, policy=approval, rules=read_rules(allow or (), deny or ()))
