"""What an event is: one immutable fact on a session's log, and the bytes that were written of it.

The stored truth is the line. `Event.data` is a slice of it, so unknown fields, key order and number spelling
survive; a typed struct is only a view, read when somebody wants it. A `Fact` is an event that has no place yet:
it is made by the checking factory of its `EventType` (see `vocabulary`) and gets `seq` and `time` when it is committed.
"""

from typing import Annotated, Literal

import msgspec

from planlog.kernel.errors import PlanlogError

SURFACE_TYPES = frozenset({"user/message", "assistant/message", "tool/result"})
"""Types that join the ordered list of messages which the model sees, and no others."""

KNOWN_TYPES = frozenset(
    (
        "agent-preset/selected",
        "agent/inbox/spliced",
        "approval/asked",
        "approval/decided",
        "approval/policy",
        "assistant/chunk",
        "assistant/message",
        "command/done",
        "command/run",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "feedback/record",
        "goal/change",
        "hook/invoked",
        "hook/result",
        "llm/retry",
        "llm/retry-started",
        "permission/preset",
        "plan/mode",
        "request/context",
        "request/header",
        "sandbox/mode",
        "schedule/change",
        "session/end-seed",
        "session/title",
        "session/title-llm-request",
        "step/end",
        "step/start",
        "subagent/descriptor",
        "team/member",
        "team/message/delivered",
        "team/message/queued",
        "team/task",
        "todo/write",
        "tool-workflow/agent-end",
        "tool-workflow/agent-start",
        "tool-workflow/run-end",
        "tool-workflow/run-start",
        "tool/call",
        "tool/code-dispatch",
        "tool/code-dispatch-start",
        "tool/result",
        "turn/end",
        "turn/start",
        "user/message",
        "web/deepseek-search-llm-request",
    )
)
"""Names of every dsh v0 type, whose events need no mark: where the feature is absent they are kept and skipped.

A type of ours that is not among them is written as ignorable, so that dsh and older programs may skip it too.
"""


class EventDamaged(PlanlogError):
    """What stands on a log is not what could have been written."""


class Violation(PlanlogError):
    """A fact breaks a rule that was true of every such fact ever written."""

    def __init__(self, feature: str, message: str) -> None:
        super().__init__(f'invariant violated by "{feature}": {message}')


class Replace(msgspec.Struct, frozen=True, gc=False, tag_field="op", tag="replace", forbid_unknown_fields=True):
    """Takes the place of the surface nodes from seq `start` to seq `end`, both inclusive."""

    start: int
    end: int


SurfaceOp = Literal["append"] | Replace
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Envelope(msgspec.Struct, frozen=True, gc=False, rename="camel", forbid_unknown_fields=True):
    """The keys of a log line; any other is refused."""

    type: str
    seq: int
    time: Int64
    data: msgspec.Raw
    surface_op: SurfaceOp | None = None
    source_event_seqs: list[int] | None = None
    ignorable: Literal[True] | None = None


class Event(msgspec.Struct, frozen=True, gc=False):
    """One committed fact. `time` is epoch milliseconds and may go backwards; order is `seq` alone.

    `view` is the typed view of `data` where somebody has made it already, so that many readers decode once; it is
    shared, so nobody changes it.
    """

    type: str
    seq: int
    time: int
    data: msgspec.Raw
    surface_op: SurfaceOp | None
    source_event_seqs: list[int] | None
    ignorable: bool
    line: bytes
    view: msgspec.Struct | None = None


_envelopes = msgspec.json.Decoder(Envelope)
_ops = msgspec.json.Encoder()


def read_line(line: bytes) -> Event:
    """The event of one stored line (no line break). Raises `EventDamaged` with the reason."""
    try:
        e = _envelopes.decode(line)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise EventDamaged(f"not an event: {error}") from error
    return Event(e.type, e.seq, e.time, e.data, e.surface_op, e.source_event_seqs, e.ignorable is True, line)


def check_envelope(event: Event) -> None:
    """What an envelope alone must satisfy: surface types, and only they, say how they join the surface."""
    if event.type in SURFACE_TYPES:
        if event.surface_op is None:
            raise EventDamaged(f"{event.type} at seq {event.seq} has no surfaceOp")
    elif event.surface_op is not None or event.source_event_seqs is not None:
        raise EventDamaged(f"{event.type} at seq {event.seq} may not join the surface")


class Fact(msgspec.Struct, frozen=True, gc=False):
    """What will be written: `data` is the snapshot, `value` the typed view of it."""

    type: str
    data: bytes
    value: msgspec.Struct
    surface_op: SurfaceOp | None = None
    source_event_seqs: tuple[int, ...] = ()
    ignorable: bool = False

    def placed(self, seq: int, time: int) -> Event:
        """The event that this fact becomes, with its line in the order of keys that dsh v0 writes."""
        parts = [b'{"type":"%b","seq":%d,"time":%d,"data":' % (self.type.encode(), seq, time), self.data]
        if self.source_event_seqs:
            parts.append(b',"sourceEventSeqs":' + _ops.encode(self.source_event_seqs))
        if self.surface_op is not None:
            parts.append(b',"surfaceOp":' + _ops.encode(self.surface_op))
        parts.append(b',"ignorable":true}' if self.ignorable else b"}")
        seqs = list(self.source_event_seqs) or None
        data = msgspec.Raw(self.data)
        line = b"".join(parts)
        return Event(self.type, seq, time, data, self.surface_op, seqs, self.ignorable, line, self.value)
