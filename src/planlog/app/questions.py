"""Asks the person at the terminal whether a call may run, or says no where nobody can be asked."""

import os
import sys
import termios
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec
from anyio.abc import TaskGroup

from planlog.agent.agent import Agent
from planlog.agent.event import APPROVAL_ASKED, APPROVAL_DECIDED, ASSISTANT_MESSAGE, TURN_END, ApprovalAsked
from planlog.agent.rules import allowed
from planlog.faces.renders import Line
from planlog.faces.stdio.console import Console
from planlog.faces.stdio.pages import Window, cut_page, rows_of, window_of
from planlog.faces.stdio.question import NO, Answer, answer_of, final_prompt, next_prompt, question, refusal, said
from planlog.log.event import Event
from planlog.log.session import Session
from planlog.model.message import ToolCall
from planlog.tools.schema import Violations, check_arguments
from planlog.tools.thread import in_thread
from planlog.tools.tool import Tool, Tools


class Allowed(msgspec.Struct, frozen=True):
    """What a person has said yes to before anything was asked: rules, for calls that work in `folder`."""

    rules: tuple[str, ...] = ()
    folder: Path = Path()

    def covers(self, tool: Tool[Any, Any], arguments: str) -> bool:
        """Whether one of the rules is about all of the call."""
        params = check_arguments(tool.params, arguments)
        return not isinstance(params, Violations) and allowed(tool, params, self.folder, self.rules)


NOTHING = Allowed()
PROMPT_ROWS = 2
"""What a prompt takes of a window, at least."""


class Asker(Protocol):
    """Whoever puts a question to a person; `allowed` needs none."""

    allowed: Allowed

    @property
    def can_ask(self) -> bool:
        """Whether a person would see it and could answer."""
        ...

    @property
    def encoding(self) -> str:
        """Of the terminal."""
        ...

    def window(self) -> Window:
        """What can be seen of a question and its prompt at once, at this moment."""
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
            answer = await self._decide(asked)
            # From here on the decision on the log is this one.
            self._open.pop(asked.id, None)
            if answer is not None:
                outcome = "denied" if answer == "no" else "allowed"
                await self._agent.answer(self._session, asked.id, outcome, always=answer == "always")

    async def _decide(self, asked: ApprovalAsked) -> Answer | None:
        """What this process says to the question; None where it is another one's to answer."""
        if not self._agent.runs(self._session):
            return None
        call, tool = self._calls.get(asked.call_id or ""), self._tools.get(asked.tool_name)
        if call and tool and await self._is_allowed(tool, call.arguments):
            return "yes"
        if not self._asker.can_ask:
            self._console.note(refusal(asked))
            return "no"
        lines = None
        if call and tool:
            arguments = call.arguments
            # In a thread: a diff of a megabyte takes longer than others should wait.
            lines = await in_thread(lambda _: question(asked, tool, arguments))
        if lines is None:
            self._console.note(f"what {asked.tool_name} would run cannot be shown, so it is denied")
            return "no"
        async with self._one_at_a_time:
            self._shown = asked.id
            return await answered(self._asker, lines, asked.rule)

    async def _is_allowed(self, tool: Tool[Any, Any], arguments: str) -> bool:
        rules = self._asker.allowed
        return bool(rules.rules) and await in_thread(lambda _: rules.covers(tool, arguments))


async def answered(asker: Asker, lines: list[Line], rule: str | None) -> Answer:
    """Shows it all, a page at a time, and takes an answer only below the last one."""
    final = final_prompt(rule, lines, asker.window().columns)
    lines = [*lines, *final.above]
    while True:
        columns, rows = asker.window()
        more = next_prompt(len(lines), columns)
        below = max(PROMPT_ROWS, *(rows_of(f"{prompt}y", columns) for prompt in (final.text, more)))
        page, lines = cut_page(lines, Window(columns, max(1, rows - below)), asker.encoding)
        if not lines:
            return answer_of(await asker.ask(page, final.text), rule)
        if said(await asker.ask(page, next_prompt(len(lines), columns))) in NO:
            return "no"


class StdinAsker:
    """Asks on stderr and reads a line of stdin."""

    def __init__(self, console: Console, allowed: Allowed = NOTHING) -> None:
        self.allowed = allowed
        self._console = console

    @property
    def encoding(self) -> str:
        """See `Asker`."""
        return self._console.err.encoding

    def window(self) -> Window:
        """See `Asker`."""
        return window_of(sys.stderr.fileno())

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


async def typed_line() -> str:
    """The next line that is typed on stdin; empty at its end."""
    descriptor = sys.stdin.fileno()
    await anyio.wait_readable(descriptor)
    return os.read(descriptor, 1024).decode(errors="replace")
