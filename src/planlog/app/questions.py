"""Asks the person at the terminal whether a call may run, or says no where nobody can be asked."""

import os
import sys
import termios
from collections.abc import Iterator
from typing import Any, Protocol

import anyio
import msgspec
from anyio.abc import TaskGroup

from planlog.agent.agent import Agent
from planlog.agent.event import APPROVAL_ASKED, APPROVAL_DECIDED, ASSISTANT_MESSAGE, TURN_END, ApprovalAsked
from planlog.faces.renders import Line, Span
from planlog.faces.stdio.console import Console
from planlog.log.event import Event
from planlog.log.session import Session
from planlog.model.message import ToolCall
from planlog.tools.schema import Violations, check_arguments
from planlog.tools.tool import Tool, Tools

PAGE = 60
"""Lines of a question that are shown before its person asks for more."""
YES = ("y", "yes")
NO = ("n", "no")


class Asker(Protocol):
    """Whoever puts a question to a person."""

    @property
    def can_ask(self) -> bool:
        """Whether a person would see it and could answer."""
        ...

    async def ask(self, lines: list[Line], prompt: str) -> str:
        """What is typed behind `prompt`, below `lines`, from the moment both stand there; "n" at the end of input."""
        ...


class Questions:
    """Answers what is asked while this process runs the session; another process asks its own person."""

    def __init__(
        self,
        console: Console,
        agent: Agent,
        tools: Tools,
        session: Session,
        tasks: TaskGroup,
        asker: Asker | None = None,
    ) -> None:
        self._console = console
        self._asker = asker or StdinAsker(console)
        self._agent = agent
        self._tools = tools
        self._session = session
        self._tasks = tasks
        self._one_at_a_time = anyio.Lock()
        self._calls: dict[str, ToolCall] = {}
        self._open: dict[str, anyio.CancelScope] = {}
        self._shown = ""

    def event(self, event: Event) -> None:
        """Takes notice of calls, questions and answers."""
        if event.type == ASSISTANT_MESSAGE.name:
            content = ASSISTANT_MESSAGE.read(event).message.content
            self._calls.update({block.id: block for block in content if isinstance(block, ToolCall)})
        elif event.type == APPROVAL_ASKED.name:
            asked = APPROVAL_ASKED.read(event)
            self._open[asked.id] = anyio.CancelScope()
            self._tasks.start_soon(self._settle, asked, self._open[asked.id])
        elif event.type == APPROVAL_DECIDED.name:
            decided = APPROVAL_DECIDED.read(event).id
            if scope := self._open.pop(decided, None):
                scope.cancel()
                if decided == self._shown:
                    self._console.note("answered elsewhere")
        elif event.type == TURN_END.name:
            for scope in self._open.values():
                scope.cancel()
            self._open.clear()
            self._calls.clear()

    async def _settle(self, asked: ApprovalAsked, scope: anyio.CancelScope) -> None:
        with scope:
            allowed = await self._decide(asked)
            # From here on the decision on the log is this one.
            self._open.pop(asked.id, None)
            if allowed is not None:
                await self._agent.answer(self._session, asked.id, "allowed" if allowed else "denied")

    async def _decide(self, asked: ApprovalAsked) -> bool | None:
        """What this process says to the question; None where it is another one's to answer."""
        if not self._agent.runs(self._session):
            return None
        if not self._asker.can_ask:
            self._console.note(
                f"{asked.tool_name} needs approval and nobody can be asked here, so it is denied; "
                "--approve auto lets every call run"
            )
            return False
        lines = self._question(asked)
        if lines is None:
            self._console.note(f"what {asked.tool_name} would run cannot be shown, so it is denied")
            return False
        async with self._one_at_a_time:
            self._shown = asked.id
            return await self._ask(lines)

    def _question(self, asked: ApprovalAsked) -> list[Line] | None:
        call, tool = self._calls.get(asked.call_id or ""), self._tools.get(asked.tool_name)
        return question(asked, tool, call.arguments) if call and tool else None

    async def _ask(self, lines: list[Line]) -> bool:
        """Shows it all, a page at a time, and takes an answer only below the last one."""
        while len(lines) > PAGE:
            page, lines = lines[:PAGE], lines[PAGE:]
            if (
                _word(await self._asker.ask(page, f"{len(lines)} more lines; return shows them, n denies the call: "))
                in NO
            ):
                return False
        return _word(await self._asker.ask(lines, "Allow it? [y/N] ")) in YES


class StdinAsker:
    """Asks on stderr and reads a line of stdin."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def can_ask(self) -> bool:
        """A question that goes into a file is seen by nobody, and would be waited for by everybody."""
        return bool(sys.stdin and sys.stdin.isatty() and self._console.err.is_terminal)

    async def ask(self, lines: list[Line], prompt: str) -> str:
        """See `Asker`."""
        self._console.note_lines(lines)
        await self._console.flushed()
        # What was typed before the question was no answer to it; what is typed from the moment it stands there is.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        self._console.ask(prompt)
        return await typed_line() or NO[0]


def _word(typed: str) -> str:
    return typed.strip().lower()


def question(asked: ApprovalAsked, tool: Tool[Any, Any], arguments: str) -> list[Line] | None:
    """What is asked, with every parameter as the tool will get it: what is hidden cannot be judged.

    None where that is not known, because the tool would refuse the arguments.
    """
    params = check_arguments(tool.params, arguments)
    if isinstance(params, Violations):
        return None
    lines: list[Line] = [(Span(f"{asked.tool_name} wants to run:", "busy"),)]
    lines += [(Span(f"  {row}"),) for row in _parameter_lines(msgspec.to_builtins(params))]
    if asked.reason:
        lines.append((Span(f"  ({asked.reason})", "dim"),))
    return lines


def _parameter_lines(values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        first, *rest = text.split("\n")
        yield f"{name}: {first}"
        yield from (f"    {line}" for line in rest)


async def typed_line() -> str:
    """The next line that is typed on stdin; empty at its end."""
    descriptor = sys.stdin.fileno()
    await anyio.wait_readable(descriptor)
    return os.read(descriptor, 1024).decode(errors="replace")
