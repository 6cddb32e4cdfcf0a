"""Translates a session's log into what an editor is told of it, in version 1 of the protocol.

Live traffic and replay go through the same translation. What differs is only that a replay tells no views on its way:
those that stand at its end are told once, after all else. Another version of the protocol is a sibling of this module.
"""

from collections.abc import Callable, Container, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import UNSET

from planlog.agent.event import (
    APPROVAL_ASKED,
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    LLM_RETRY,
    REQUEST_CONTEXT,
    SESSION_TITLE,
    STEP_START,
    TOOL_CALL,
    TOOL_RESULT,
    TURN_END,
    TURN_START,
    USER_MESSAGE,
)
from planlog.agent.live import LiveDelta, LiveNews, LiveProgress
from planlog.faces.acp.answering import Answering
from planlog.faces.acp.calls import Calls
from planlog.faces.acp.registry import AcpRenders
from planlog.faces.acp.updates import (
    SessionInfo,
    TextBlock,
    ThoughtChunk,
    Update,
    UsageUpdate,
    UserChunk,
)
from planlog.faces.acp.views import Views
from planlog.faces.acp.wording import blocks_text, pieces
from planlog.faces.renders import Call
from planlog.log.event import Event, Replace
from planlog.log.projection import Projection
from planlog.model.message import ToolCall, ToolResult, Usage, UserSource
from planlog.tools.tool import Tools

MOST = 500
"""Characters of what a provider says about a failure."""


class Translation:
    """One session as one editor sees it. `own` are ids of messages that the editor has sent, and shows by itself.

    `folds` are the projections that features draw. Events come in the order of the log, from wherever it is read.
    """

    def __init__(
        self,
        renders: AcpRenders,
        folds: Iterable[Projection[Any]],
        tools: Tools,
        folder: Path,
        own: Container[str] = (),
    ) -> None:
        self._renders = renders
        self._own = own
        self._views = Views(renders, folds)
        self._calls = Calls(renders, tools, folder)
        self._turn = 0
        self._step = (0, 0)
        self._answering = Answering("0.0")
        self._early: list[LiveDelta] = []
        self._title: str | None = None
        self._told_title: str | None = None
        self._window: int | None = None
        self._usage: UsageUpdate | None = None
        self._time = 0

    @property
    def calls(self) -> Calls:
        """The calls of the step that is open."""
        return self._calls

    def event(self, event: Event) -> list[Update]:
        """What a committed event tells."""
        told = [] if self._is_own(event) else self._tell(event)
        return [*told, *self._renders.event(event), *self._views.event(event)]

    def replay(self, event: Event) -> list[Update]:
        """The same for one that is history: with what the editor itself has said, without the views on the way."""
        updates = [*self._tell(event), *self._renders.event(event)]
        self._views.fold(event)
        return [update for update in updates if not isinstance(update, UsageUpdate | SessionInfo)]

    def live(self, what: LiveNews) -> list[Update]:
        """What is not on the log yet, or never will be."""
        if isinstance(what, LiveProgress):
            return self._calls.progress(what.call_id, what.text)
        if not isinstance(what, LiveDelta):
            return []
        if (what.turn, what.step) == self._step:
            return self._answering.live(what.offset, what.chunk)
        if (what.turn, what.step) > self._step:
            self._early.append(what)
        return []

    # Coming to a session

    def begin_at(self, states: dict[str, Any], title: str | None) -> None:
        """Begins in the middle of the log, where the projections have these states and the session that title."""
        self._views.begin_at(states)
        self._title = title
        self._calls.forget_announced()

    def recall(self, event: Event) -> None:
        """Learns from an event of history how much of the model's context is filled."""
        if event.type == REQUEST_CONTEXT.name:
            self._on_context(event)
        elif event.type == ASSISTANT_MESSAGE.name:
            self._note_usage(ASSISTANT_MESSAGE.read(event).usage)

    def take_over(self, shown: "Translation") -> None:
        """Goes on from another translation of the same session, whose views the editor still shows."""
        self._views.take_over(shown._views)

    def standing(self) -> list[Update]:
        """The views that stand now, each once; a shown one that no longer stands is cleared."""
        return self._views.standing()

    def about(self) -> list[Update]:
        """What the session is called, and how much of the model's context it fills, as far as that is known."""
        updates: list[Update] = []
        if self._title is not None:
            updates.append(self._info())
        if self._usage:
            updates.append(self._usage)
        return updates

    # Events

    def _tell(self, event: Event) -> list[Update]:
        self._time = event.time
        tell = _TOLD.get(event.type)
        return tell(self, event) if tell else []

    def _is_own(self, event: Event) -> bool:
        return event.type == USER_MESSAGE.name and USER_MESSAGE.read(event).id in self._own

    def _on_turn_start(self, event: Event) -> list[Update]:
        self._turn = TURN_START.read(event).turn
        return []

    def _on_turn_end(self, event: Event) -> list[Update]:
        self._turn = 0
        updates: list[Update] = []
        if self._usage:
            updates.append(self._usage)
        return updates + self._new_title()

    def _on_title(self, event: Event) -> list[Update]:
        self._title = SESSION_TITLE.read(event).title or None
        return [] if self._turn else self._new_title()

    def _new_title(self) -> list[Update]:
        return [] if self._title == self._told_title else [self._info()]

    def _info(self) -> SessionInfo:
        self._told_title = self._title
        return SessionInfo(short(self._title) if self._title else None, iso(self._time) if self._time else UNSET)

    def _on_step_start(self, event: Event) -> list[Update]:
        mark = STEP_START.read(event)
        self._step = (mark.turn, mark.step)
        name = f"{mark.turn}.{mark.step}"
        self._answering = Answering(name)
        self._calls.begin_step(name)
        early, self._early = self._early, []
        return [update for delta in early for update in self.live(delta)]

    def _on_user_message(self, event: Event) -> list[Update]:
        message = USER_MESSAGE.read(event)
        if isinstance(event.surface_op, Replace):
            return []
        kind = UserChunk if isinstance(message.source, UserSource) else ThoughtChunk
        return [kind(TextBlock(piece), message.id) for piece in pieces(blocks_text(message.content))]

    def _on_chunk(self, event: Event) -> list[Update]:
        logged = ASSISTANT_CHUNK.read(event)
        return self._answering.logged(logged.chunk) if (logged.turn, logged.step) == self._step else []

    def _on_answer(self, event: Event) -> list[Update]:
        answer = ASSISTANT_MESSAGE.read(event)
        self._note_usage(answer.usage)
        for block in answer.message.content:
            if isinstance(block, ToolCall):
                self._calls.made(block.id, block.name, block.arguments)
        return self._answering.whole(answer.message.content)

    def _note_usage(self, usage: Usage | None) -> None:
        if usage and self._window:
            self._usage = UsageUpdate(_tokens(usage), self._window)

    def _on_retry(self, event: Event) -> list[Update]:
        retry = LLM_RETRY.read(event)
        return self._answering.start_again(f"{short(retry.failure.message)}; retrying in {retry.delay_ms / 1000:.1f} s")

    def _on_asked(self, event: Event) -> list[Update]:
        return self._calls.wait(APPROVAL_ASKED.read(event).call_id or "")

    def _on_call(self, event: Event) -> list[Update]:
        call = TOOL_CALL.read(event)
        return self._calls.start(call.call_id, call.name, call.arguments)

    def _on_result(self, event: Event) -> list[Update]:
        result = TOOL_RESULT.read(event)
        if isinstance(event.surface_op, Replace):
            return []
        updates: list[Update] = []
        for block in result.message.content:
            if isinstance(block, ToolResult):
                text = blocks_text(block.content)
                updates += self._calls.end(block.tool_call_id, Call("", "", text, block.is_error, result.meta))
        return updates

    def _on_context(self, event: Event) -> list[Update]:
        self._window = REQUEST_CONTEXT.read(event).context_window
        return []


def short(text: str) -> str:
    """What went wrong, as much of it as a person reads."""
    return text if len(text) <= MOST else text[: MOST - 1].rstrip() + "…"


def iso(milliseconds: int) -> str:
    """A moment, in epoch milliseconds, as ISO 8601 in UTC; the nearest that can be written for one beyond all years."""
    seconds = min(max(milliseconds / 1000, -62_135_596_800), 253_402_300_799)
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _tokens(usage: Usage) -> int:
    parts = (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)
    return max(0, sum(part or 0 for part in parts))


_TOLD: dict[str, Callable[[Translation, Event], list[Update]]] = {
    TURN_START.name: Translation._on_turn_start,
    TURN_END.name: Translation._on_turn_end,
    SESSION_TITLE.name: Translation._on_title,
    STEP_START.name: Translation._on_step_start,
    USER_MESSAGE.name: Translation._on_user_message,
    ASSISTANT_CHUNK.name: Translation._on_chunk,
    ASSISTANT_MESSAGE.name: Translation._on_answer,
    LLM_RETRY.name: Translation._on_retry,
    APPROVAL_ASKED.name: Translation._on_asked,
    TOOL_CALL.name: Translation._on_call,
    TOOL_RESULT.name: Translation._on_result,
    REQUEST_CONTEXT.name: Translation._on_context,
}
