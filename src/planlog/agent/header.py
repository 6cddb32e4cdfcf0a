"""What every request begins with: the system prompt, the tools, and which model is asked."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from planlog.agent.conversation import Config, Conversation, Header
from planlog.agent.event import REQUEST_CONTEXT, REQUEST_HEADER, RequestContext, RequestHeader
from planlog.log.event import Fact
from planlog.log.text import clean_text
from planlog.model.model import Model

SYSTEM_PROMPT = """\
You are planlog, an agent that works for a person in the folder {cwd}.

Find things out with your tools instead of guessing, and do what was asked: no more, no less. \
When something fails, read why, and try another way instead of the same again. \
When the work is done, or you cannot go on without an answer, say so in a few plain sentences."""


def header_of(model: Model, tools: Iterable[dict[str, Any]], cwd: Path, agent: str | None) -> Header:
    """The header of requests to `model` from here; `tools` are definitions sorted by name."""
    config = Config(model.provider, model.name, agent, model.max_tokens, model.effort)
    return Header(config, SYSTEM_PROMPT.format(cwd=clean_text(str(cwd))), list(tools))


def header_facts(conversation: Conversation, header: Header, model: Model, *, resumed: bool) -> list[Fact]:
    """What has to be logged before a request with `header`: nothing where the log says the same already.

    `resumed` says that this process has sent nothing in this session yet.
    """
    facts: list[Fact] = []
    if msgspec.json.encode(header) != conversation.header:
        reason = "initial" if conversation.header is None else "resume" if resumed else "change"
        facts.append(REQUEST_HEADER.fact(RequestHeader(msgspec.to_builtins(header), reason)))
    context = RequestContext(model.provider, model.name, model.context_window)
    if context != conversation.context:
        facts.append(REQUEST_CONTEXT.fact(context))
    return facts
