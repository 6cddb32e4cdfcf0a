"""Shows a session as it happens or happened: what was committed, and the text of an answer a moment before that."""

import time
from collections.abc import Callable, Container, Sequence

from planlog.agent.event import (
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    LLM_RETRY,
    STEP_START,
    TOOL_CALL,
    TOOL_RESULT,
    TURN_END,
    TURN_START,
    USER_MESSAGE,
    EndReason,
)
from planlog.agent.live import LiveDelta, LiveNews, LiveNotice, LiveProgress
from planlog.faces.renders import Call, Row, Span, Style
from planlog.faces.stdio.answer import Answer
from planlog.faces.stdio.console import Console
from planlog.faces.stdio.endings import said
from planlog.faces.stdio.painting import lay_out
from planlog.faces.stdio.registry import StdioRenders
from planlog.faces.stdio.running import Running
from planlog.faces.stdio.screen import Screen
from planlog.faces.stdio.summary import Tally, summary_lines
from planlog.log.event import Event
from planlog.model.message import Block, Text, ToolResult, UserSource
from planlog.model.model import ReasoningDelta
from planlog.tools.outcome import NEVER_RAN

_SHOWN_ARGUMENTS = 4000
"""Characters of a call's arguments where no feature draws it; no row is as long."""
_PROGRESS = 0.1
"""Seconds between two looks at a call's output, however fast it comes."""
_DONE = Span("✓", "good")
FAILED = Span("✗", "bad")
_RUNNING = Span("…", "busy")


class Transcript:
    """Prints events in the order of the log, each once; what is live comes between them.

    `ended` is told how each turn ended. `own` are ids of prompts, perhaps growing, that their person can still see, so
    that they are not repeated. With `quiet` only the last answer to those is printed, whoever else has prompts in the
    session. What a turn came to is said on `summary_on`, by default stderr.
    """

    def __init__(
        self,
        console: Console,
        renders: StdioRenders,
        ended: Callable[[EndReason], None],
        *,
        own: Container[str] = (),
        quiet: bool = False,
        clock: Callable[[], float] = time.monotonic,
        summary_on: Screen | None = None,
    ) -> None:
        self._console = console
        self._renders = renders
        self._ended = ended
        self._own = own
        self._quiet = quiet
        self._summary_on = summary_on
        self._step = (0, 0)
        self._answer = Answer()
        self._early: list[LiveDelta] = []
        self._calls: dict[str, tuple[str, str]] = {}
        self._last_text = ""
        self._answers_own = False
        self._clock = clock
        self._next_progress = 0.0
        self._tally = Tally(None)
        self.running = Running()
        """The calls that are under way."""
        self.open_turn = 0
        """The turn that is open as far as was shown, 0 when none is."""

    def event(self, event: Event) -> None:
        """Shows one committed event."""
        show = _SHOWN.get(event.type)
        if show:
            show(self, event)
        if not self._quiet:
            self._console.out.lines(self._renders.event(event))

    def live(self, what: LiveNews) -> None:
        """Shows what is not on the log yet, or never will be."""
        if isinstance(what, LiveNotice):
            self._console.note(what.text)
        elif isinstance(what, LiveProgress):
            self._progress(what)
        elif (what.turn, what.step) == self._step:
            self._delta(what)
        elif (what.turn, what.step) > self._step:
            self._early.append(what)

    def finish(self) -> None:
        """Ends the line that is unfinished."""
        self._console.out.end_line()

    def pending(self) -> None:
        """A row for each call that has no result so far."""
        for name, arguments in self._calls.values():
            self._console.out.lines(lay_out(self._row(Call(name, arguments)), _RUNNING, self._console.out.width))

    # Answers

    def _delta(self, delta: LiveDelta) -> None:
        if isinstance(delta.chunk, ReasoningDelta):
            self._status("thinking")
        self._say(self._answer.live(delta.offset, delta.chunk))

    def _say(self, text: str) -> None:
        if text and not self._quiet:
            self._console.out.text(text)

    def _status(self, text: str) -> None:
        if not self._quiet:
            self._console.out.status(text)

    def _on_step_start(self, event: Event) -> None:
        mark = STEP_START.read(event)
        self._step = (mark.turn, mark.step)
        self._answer = Answer()
        self._status("waiting for the model")
        early, self._early = self._early, []
        for delta in early:
            self.live(delta)

    def _on_chunk(self, event: Event) -> None:
        logged = ASSISTANT_CHUNK.read(event)
        if (logged.turn, logged.step) == self._step:
            self._say(self._answer.logged(logged.chunk))

    def _on_answer(self, event: Event) -> None:
        answer = ASSISTANT_MESSAGE.read(event)
        if answer.usage:
            self._tally.use(answer.usage)
        content = answer.message.content
        text = "".join(block.text for block in content if isinstance(block, Text))
        self._say(self._answer.whole(text))
        self._last_text = text or self._last_text
        self._console.out.end_line()

    def _on_retry(self, event: Event) -> None:
        self._answer.start_again()
        retry = LLM_RETRY.read(event)
        self._console.note(f"{said(retry.failure)}; retrying in {retry.delay_ms / 1000:.1f} s")

    # Turns

    def _on_turn_start(self, event: Event) -> None:
        self.open_turn = TURN_START.read(event).turn
        self._tally = Tally(event.time)
        self._last_text = ""
        self._answers_own = False

    def _on_turn_end(self, event: Event) -> None:
        self._console.out.end_line()
        self.running.clear()
        self.open_turn = 0
        if self._quiet and self._answers_own and self._last_text:
            self._console.out.text(self._last_text)
            self._console.out.end_line()
        if not self._quiet:
            parts = self._tally.parts(self._renders.totals(self._tally.calls), event.time)
            # On stderr: what a script reads from stdout is the answer.
            screen = self._console.err if self._summary_on is None else self._summary_on
            screen.lines(summary_lines(parts, screen.width))
        self._ended(TURN_END.read(event).reason)

    def _on_user_message(self, event: Event) -> None:
        message = USER_MESSAGE.read(event)
        if message.id in self._own:
            # What was said before it, in the same turn, answers somebody else.
            self._answers_own, self._last_text = True, ""
        if self._quiet or message.id in self._own:
            return
        style: Style = "bold" if isinstance(message.source, UserSource) else "dim"
        lines = [(Span("> ", "dim"), Span(line, style)) for line in _text(message.content).split("\n")]
        self._console.out.lines(lines)

    # Calls

    def _on_call(self, event: Event) -> None:
        call = TOOL_CALL.read(event)
        self._calls[call.call_id] = (call.name, call.arguments)
        row = self._row(Call(call.name, call.arguments))
        if not self._quiet:
            self.running.begin(call.call_id, row.title, row.summary, self._clock())
            self.tick()

    def _progress(self, progress: LiveProgress) -> None:
        if self._clock() < self._next_progress or progress.call_id not in self._calls:
            return
        last = progress.text.rstrip().rpartition("\n")[2].rpartition("\r")[2]
        if last:
            self.running.say(progress.call_id, last)
            self.tick()
            self._next_progress = self._clock() + _PROGRESS

    def tick(self) -> None:
        """Says anew what is running, and for how long."""
        if status := self.running.status(self._clock(), self._console.out.width):
            self._status(status)

    def _on_result(self, event: Event) -> None:
        if self._quiet:
            return
        result = TOOL_RESULT.read(event)
        for block in result.message.content:
            if isinstance(block, ToolResult):
                name, arguments = self._calls.pop(block.tool_call_id, ("tool", ""))
                call = Call(name, arguments, _text(block.content), block.is_error, result.meta)
                if result.error is None or result.error.code not in NEVER_RAN:
                    self._tally.calls.append(call)
                self.running.end(block.tool_call_id)
                mark = FAILED if call.is_error else _DONE
                self._console.out.lines(lay_out(self._row(call), mark, self._console.out.width))

    def _row(self, call: Call) -> Row:
        return self._renders.row(call) or plain_row(call)


def plain_row(call: Call) -> Row:
    """The row of a call that no feature draws: its arguments, or the first line of its error."""
    said = (call.result or "").strip().partition("\n")[0] if call.is_error else ""
    return Row(call.name, said or " ".join(call.arguments[:_SHOWN_ARGUMENTS].split()))


def _text(content: Sequence[Block]) -> str:
    return "\n".join(
        block.text if isinstance(block, Text) else f"[{type(block).__name__.lower()}]" for block in content
    )


_SHOWN: dict[str, Callable[[Transcript, Event], None]] = {
    "turn/start": Transcript._on_turn_start,
    "turn/end": Transcript._on_turn_end,
    "step/start": Transcript._on_step_start,
    "user/message": Transcript._on_user_message,
    "assistant/chunk": Transcript._on_chunk,
    "assistant/message": Transcript._on_answer,
    "llm/retry": Transcript._on_retry,
    "tool/call": Transcript._on_call,
    "tool/result": Transcript._on_result,
}
