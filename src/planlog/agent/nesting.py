"""The rule of order: turns hold steps, steps hold requests and calls, and each result answers a call that is open."""

from typing import Any

import msgspec

from planlog.log.event import Event, Replace, Violation
from planlog.log.vocabulary import EventType, Rule

FEATURE = "agent"


class Nesting(msgspec.Struct, frozen=True):
    """Where a log stands. `turns` counts those begun, `steps` those begun in the open turn; 0 means none open.

    `calls` are the ids of logged calls without a result, with the seq of their `tool/call`, in call order.
    `step_seq` is the seq of the open step's `step/start`.
    """

    turns: int = 0
    turn: int = 0
    steps: int = 0
    step: int = 0
    step_seq: int = -1
    calls: dict[str, int] = {}

    @property
    def open(self) -> bool:
        """Whether a turn is open."""
        return self.turn > 0


class _Mark(msgspec.Struct):
    turn: int


_marks = msgspec.json.Decoder(_Mark)


def _begin(first: Event | None) -> Nesting:
    return Nesting(turns=_marks.decode(first.data).turn - 1) if first else Nesting()


def _advance(state: Nesting, event: Event, event_type: EventType[Any] | None) -> Nesting:
    if event_type is None:
        return state
    if event_type.in_turn and not state.turn:
        raise Violation(
            event_type.feature,
            f"{event.type} appended outside any open turn (core execution events must be turn-enclosed)",
        )
    move = _MOVES.get(event.type)
    return move(state, event, event_type.read(event)) if move else state


# The data below is what `planlog.agent.event` defines for each type; that module learns this rule with them.


def _turn_start(state: Nesting, event: Event, data: Any) -> Nesting:
    if state.turn:
        raise Violation(FEATURE, f"turn/start {data.turn} inside turn {state.turn}")
    if data.turn != state.turns + 1:
        raise Violation(FEATURE, f"turn/start {data.turn} after turn {state.turns}")
    return Nesting(turns=data.turn, turn=data.turn)


def _turn_end(state: Nesting, event: Event, data: Any) -> Nesting:
    if data.turn != state.turn:
        raise Violation(FEATURE, f"turn/end {data.turn} while {_where(state)}")
    if state.step:
        raise Violation(FEATURE, f"turn/end {data.turn} inside step {state.step}")
    return Nesting(turns=state.turns)


def _step_start(state: Nesting, event: Event, data: Any) -> Nesting:
    if data.turn != state.turn or state.step or data.step != state.steps + 1:
        raise Violation(FEATURE, f"step/start {data.turn}.{data.step} while {_where(state)}")
    return Nesting(state.turns, state.turn, data.step, data.step, event.seq)


def _step_end(state: Nesting, event: Event, data: Any) -> Nesting:
    if data.turn != state.turn or data.step != state.step or not state.step:
        raise Violation(FEATURE, f"step/end {data.turn}.{data.step} while {_where(state)}")
    return Nesting(state.turns, state.turn, state.steps)


def _tool_call(state: Nesting, event: Event, data: Any) -> Nesting:
    if data.call_id in state.calls:
        raise Violation(FEATURE, f'tool/call "{data.call_id}" while the call of that id has no result')
    return _with_calls(state, {**state.calls, data.call_id: event.seq})


def _tool_result(state: Nesting, event: Event, data: Any) -> Nesting:
    call = getattr(data.message.source, "call_id", None)
    if call in state.calls:
        return _with_calls(state, {other: seq for other, seq in state.calls.items() if other != call})
    not_started = data.error is not None and data.error.code == "TOOL_NOT_STARTED"
    if isinstance(event.surface_op, Replace) or not_started:
        return state
    raise Violation(FEATURE, f'tool/result for "{call}", which no open call has as its id')


def _with_calls(state: Nesting, calls: dict[str, int]) -> Nesting:
    return Nesting(state.turns, state.turn, state.steps, state.step, state.step_seq, calls)


def _where(state: Nesting) -> str:
    if not state.turn:
        return "no turn is open"
    return f"turn {state.turn}, step {state.step} is open" if state.step else f"turn {state.turn} is open, no step"


_MOVES = {
    "turn/start": _turn_start,
    "turn/end": _turn_end,
    "step/start": _step_start,
    "step/end": _step_end,
    "tool/call": _tool_call,
    "tool/result": _tool_result,
}

NESTING: Rule[Nesting] = Rule("nesting", begin=_begin, advance=_advance)
