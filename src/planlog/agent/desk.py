"""What a turn works with: one session, one model, the tools, and the rules of this run."""

from dataclasses import dataclass
from pathlib import Path

from planlog.agent.event import AbortKind, Policy
from planlog.agent.live import Live
from planlog.agent.retry import FIRST_WAIT
from planlog.agent.rules import NO_RULES, Rules
from planlog.log.session import Session
from planlog.model.model import Model
from planlog.tools.tool import Tools


@dataclass(frozen=True, slots=True)
class Desk:
    """`cwd` is where tools work; `agent` the description of the subagent that works here, None for the first one.

    `cancelled_by` is what it means when the task that runs the turn is cancelled, `first_wait` how many
    seconds lie before the first retry of a request.
    """

    session: Session
    model: Model
    tools: Tools
    live: Live
    policy: Policy
    max_steps: int
    cwd: Path
    agent: str | None = None
    cancelled_by: AbortKind = "user"
    first_wait: float = FIRST_WAIT
    rules: Rules = NO_RULES
