"""Carries out one call of a model: finds the tool, checks the arguments, runs it in time, words what came of it."""

from typing import Any

from anyio import move_on_after
from anyio.lowlevel import checkpoint_if_cancelled

from planlog.log.text import clean_text
from planlog.tools.nearest import nearest
from planlog.tools.outcome import (
    Outcome,
    capped,
    failed_by,
    invalid_arguments,
    timed_out,
    unknown_tool,
)
from planlog.tools.schema import Unchecked, Violations, check_arguments
from planlog.tools.servers import SERVED, present_served
from planlog.tools.tool import Execution, Presentation, Proposal, Tool, Tools


async def run_call(tools: Tools, name: str, raw_arguments: str, execution: Execution) -> Outcome:
    """What the call of the tool `name` with the model's argument text came to; every failure is an outcome too.

    Only cancellation and what ends the program travel up. A tool that finishes although it was cancelled keeps its
    result, since it is true; the caller, in a cancel scope, is cancelled at its own next `await`.
    """
    tool = tools.get(name)
    if tool is None:
        return unknown_tool(name, nearest(name, tools.names()), tools.names())
    params = check_arguments(tool.params, raw_arguments)
    if isinstance(params, Violations):
        return invalid_arguments(str(params), tool.output_limit)
    return await _run(tool, params, execution)


async def _run(tool: Tool[Any, Any], params: Any, execution: Execution) -> Outcome:
    with move_on_after(tool.timeout):
        try:
            value = await tool.execute(params, execution)
            text = capped(clean_text(tool.render(value)), tool.output_limit)
            return Outcome(text, meta=tool.details(value) if tool.details else None, value=value)
        except Exception as error:
            # A tool may turn the cancellation that stops it into an error of its own. That must not hide it.
            await checkpoint_if_cancelled()
            return failed_by(error, tool.output_limit)
    assert tool.timeout is not None  # only a deadline ends the block above without a return
    return timed_out(tool.timeout)


async def propose(tools: Tools, name: str, raw_arguments: str, execution: Execution) -> Proposal | Outcome:
    """What the call would do, for whoever has to approve it; an outcome where it is clear that it would fail."""
    tool = tools.get(name)
    if tool is None or tool.propose is None:
        return Proposal()
    params = check_arguments(tool.params, raw_arguments)
    if isinstance(params, Violations):
        return invalid_arguments(str(params), tool.output_limit)
    try:
        return await tool.propose(params, execution)
    except Exception as error:
        await checkpoint_if_cancelled()
        return failed_by(error, tool.output_limit)


def present(tools: Tools, name: str, raw_arguments: str) -> Presentation:
    """How the call looks before it runs; a plain card with the raw text where the tool cannot say better."""
    tool = tools.get(name)
    if tool is None or tool.present_call is None:
        return _plain(name, raw_arguments)
    params = check_arguments(tool.params, raw_arguments)
    return _plain(name, raw_arguments) if isinstance(params, Violations) else tool.present_call(params)


def _plain(name: str, raw_arguments: str) -> Presentation:
    if name.startswith(SERVED):
        params = check_arguments(Unchecked, raw_arguments)
        if not isinstance(params, Violations):
            return present_served(name, params.arguments)
    return Presentation(card="generic", title=clean_text(name), kind="other", raw_input=clean_text(raw_arguments))
