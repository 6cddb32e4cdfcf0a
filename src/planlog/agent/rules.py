"""Rules say which calls run without a question and which never run: `bash git diff`, `edit src/**`, `write`.

A rule is the name of a tool and, after a space, a pattern that the tool itself understands: the first words of a
command, a glob of paths. One that allows has to cover all that a call does; one that forbids, any part of it. Rules
come from the composition, and those that allow also from a person who says "always": these are facts on the log and
count for the rest of the session.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import msgspec

from planlog.agent.event import APPROVAL_DECIDED, Policy
from planlog.kernel.errors import ConfigError
from planlog.log.event import Event
from planlog.log.projection import Projection
from planlog.tools.servers import SERVED
from planlog.tools.tool import Coverage, Tool, Tools

Verdict = Literal[
    "run", "ask", "a rule of this program forbids it", "the approval policy of this session allows no such calls"
]
"""What becomes of a call; the long ones are why it never runs."""


class Rules(msgspec.Struct, frozen=True):
    """Those of a composition. What is in both is denied."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


NO_RULES = Rules()


def read_rules(allow: Iterable[str], deny: Iterable[str]) -> Rules:
    """Rules with their white space put in order. Raises `ConfigError` for one that names no tool."""
    return Rules(tuple(map(_tidy, allow)), tuple(map(_tidy, deny)))


def _tidy(rule: str) -> str:
    words = rule.strip().split(maxsplit=1)
    if not words:
        raise ConfigError(
            'a rule is the name of a tool and perhaps a pattern, as in "bash git diff"; this one is empty'
        )
    return " ".join(words)


def check_named(rules: Iterable[str], tools: Tools) -> None:
    """Raises `ConfigError` for a rule about a tool that is not there: nothing would come of it, and nobody notice.

    Tools of servers come and go with sessions, so a rule about one of these may wait for it.
    """
    for rule in rules:
        if tools.get(named(rule)) is None and not rule.startswith(SERVED):
            known = ", ".join(tools.names()) or "none"
            raise ConfigError(f'the rule "{rule}" names no tool; it begins with one of: {known}')


def named(rule: str) -> str:
    """The tool that a rule is about."""
    return rule.partition(" ")[0]


def verdict(
    tool: Tool[Any, Any], params: Any, folder: Path, policy: Policy, rules: Rules, granted: Iterable[str]
) -> Verdict:
    """What becomes of a call whose arguments are in order; `granted` are the rules that a person allowed."""
    if any(_coverage(rule, tool, params, folder) != "none" for rule in rules.deny):
        return "a rule of this program forbids it"
    if not tool.needs_approval or policy == "auto":
        return "run"
    if policy == "deny":
        return "the approval policy of this session allows no such calls"
    return "run" if allowed(tool, params, folder, (*rules.allow, *granted)) else "ask"


def allowed(tool: Tool[Any, Any], params: Any, folder: Path, rules: Iterable[str]) -> bool:
    """Whether one of the rules covers all that the call does."""
    return any(_coverage(rule, tool, params, folder) == "all" for rule in rules)


def _coverage(rule: str, tool: Tool[Any, Any], params: Any, folder: Path) -> Coverage:
    """What nobody can judge counts as "some": no rule allows it, and one that forbids does."""
    name, _, pattern = rule.partition(" ")
    if name != tool.name:
        return "none"
    if tool.covered is None:
        return "some" if pattern else "all"
    try:
        return tool.covered(pattern, params, folder)
    except Exception:
        return "some"


def _apply(granted: tuple[str, ...], event: Event) -> tuple[str, ...]:
    decided = APPROVAL_DECIDED.read(event)
    if decided.outcome != "allowed" or not decided.rule or decided.rule in granted:
        return granted
    return (*granted, decided.rule)


GRANTED: Projection[tuple[str, ...]] = Projection("granted", (), _apply, types=("approval/decided",))
"""The rules that a person allowed for the rest of the session."""
