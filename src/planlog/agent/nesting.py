"""The rule of order: turns hold steps, steps hold requests and calls, and each result answers a call that is open."""

from typing import Any

import msgspec

from planlog.log.event import Event, EventType, Replace, Rule, Violation

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
    step: int = 0


class _Call(msgspec.Struct, rename="camel"):
    call_id: str


class _Source(msgspec.Struct, rename="camel"):
    call_id: str


class _Answer(msgspec.Struct):
    source: _Source


class _Fault(msgspec.Struct):
    code: str


class _Result(msgspec.Struct):
    message: _Answer
    error: _Fault | None = None


_marks = msgspec.json.Decoder(_Mark)
_calls = msgspec.json.Decoder(_Call)
_results = msgspec.json.Decoder(_Result)


def _begin(first: Event | None) -> Nesting:
    return Nesting(turns=_marks.decode(first.data).turn - 1) if first else Nesting()


def _advance(state: Nesting, event: Event, event_type: EventType[Any] | None) -> Nesting:
    if event_type is not None and event_type.in_turn and not state.turn:
        raise Violation(
            event_type.feature,
            f"{event.type} appended outside any open turn (core execution events must be turn-enclosed)",
        )
    move = _MOVES.get(event.type)
    return move(state, event) if move else state


def _turn_start(state: Nesting, event: Event) -> Nesting:
    turn = _marks.decode(event.data).turn
    if state.turn:
        raise Violation(FEATURE, f"turn/start {turn} inside turn {state.turn}")
    if turn != state.turns + 1:
        raise Violation(FEATURE, f"turn/start {turn} after turn {state.turns}")
    return Nesting(turns=turn, turn=turn)


def _turn_end(state: Nesting, event: Event) -> Nesting:
    turn = _marks.decode(event.data).turn
    if turn != state.turn:
        raise Violation(FEATURE, f"turn/end {turn} while {_where(state)}")
    if state.step:
        raise Violation(FEATURE, f"turn/end {turn} inside step {state.step}")
    return Nesting(turns=state.turns)


def _step_start(state: Nesting, event: Event) -> Nesting:
    mark = _marks.decode(event.data)
    if mark.turn != state.turn or state.step or mark.step != state.steps + 1:
        raise Violation(FEATURE, f"step/start {mark.turn}.{mark.step} while {_where(state)}")
    return Nesting(state.turns, state.turn, mark.step, mark.step, event.seq)


def _step_end(state: Nesting, event: Event) -> Nesting:
    mark = _marks.decode(event.data)
    if mark.turn != state.turn or mark.step != state.step or not state.step:
        raise Violation(FEATURE, f"step/end {mark.turn}.{mark.step} while {_where(state)}")
    return Nesting(state.turns, state.turn, state.steps)


def _tool_call(state: Nesting, event: Event) -> Nesting:
    call = _calls.decode(event.data).call_id
    if call in state.calls:
        raise Violation(FEATURE, f'tool/call "{call}" while the call of that id has no result')
    return msgspec.structs.replace(state, calls={**state.calls, call: event.seq})


def _tool_result(state: Nesting, event: Event) -> Nesting:
    result = _results.decode(event.data)
    call = result.message.source.call_id
    if call in state.calls:
        rest = {other: seq for other, seq in state.calls.items() if other != call}
        return msgspec.structs.replace(state, calls=rest)
    not_started = result.error is not None and result.error.code == "TOOL_NOT_STARTED"
    if isinstance(event.surface_op, Replace) or not_started:
        return state
    raise Violation(FEATURE, f'tool/result for "{call}", which no open call has as its id')


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
