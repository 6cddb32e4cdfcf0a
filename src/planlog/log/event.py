"""What an event is: one immutable fact on a session's log, and the bytes that were written of it.

The stored truth is the line. `Event.data` is a slice of it, so unknown fields, key order and number spelling
survive; a typed struct is only a view, read when somebody wants it. A `Fact` is an event that has no place yet:
it is made by the checking factory of its `EventType` and gets `seq` and `time` when it is committed.
"""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from planlog.kernel.errors import ConfigError, PlanlogError
from planlog.log import lossless

D = TypeVar("D", bound=msgspec.Struct)

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
"""Names of every dsh v0 and planlog type. A known name whose feature is absent is kept as its bytes and skipped."""


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


class EventType(Generic[D]):
    """A name with its meaning: the struct of its data, the rule that every such datum keeps, and who brought it.

    `in_turn` says that such an event is only ever written inside an open turn; the turn rule of `planlog.agent`
    enforces it.
    """

    def __init__(
        self,
        name: str,
        data: type[D],
        *,
        feature: str,
        check: Callable[[D], str | None] | None = None,
        explain: Callable[[Any], str | None] | None = None,
        in_turn: bool = False,
    ) -> None:
        """`check` and `explain` return the broken rule in words, or None.

        `explain` gets plain JSON data that does not have the struct's shape at all, for rules that speak of shape.
        """
        self.name = name
        self.data = data
        self.feature = feature
        self.in_turn = in_turn
        self.ignorable = name not in KNOWN_TYPES
        self._check = check
        self._explain = explain
        self._decoder = msgspec.json.Decoder(data)

    def fact(self, data: D, *, surface_op: SurfaceOp | None = None, sources: Iterable[int] = ()) -> Fact:
        """A checked fact with a snapshot of `data`. Raises `Violation` or `NotLossless`."""
        if (surface_op is not None) != (self.name in SURFACE_TYPES):
            need = "needs" if surface_op is None else "may not have"
            raise Violation(self.feature, f"{self.name} {need} a surfaceOp")
        encoded = lossless.encode(data)
        copy = self._decode(encoded)
        lossless.prove(data, encoded, copy)
        self._keep_rules(copy)
        return Fact(self.name, encoded, copy, surface_op, tuple(sources), self.ignorable)

    def read(self, event: Event) -> D:
        """The typed view of an event's data. Raises `Violation` where this type cannot have written it."""
        if type(event.view) is self.data:
            return event.view
        view = self._decode(event.data, event.seq)
        msgspec.structs.force_setattr(event, "view", view)
        return view

    def check(self, event: Event) -> D:
        """`read`, and every rule of the type: for what is read back from a store or a file."""
        data = self.read(event)
        if self._check is not None:
            self._keep_rules(data)
        return data

    def _keep_rules(self, data: D) -> None:
        if self._check and (broken := self._check(data)):
            raise Violation(self.feature, broken)

    def _decode(self, data: bytes | msgspec.Raw, seq: int | None = None) -> D:
        try:
            return self._decoder.decode(data)
        except (msgspec.MsgspecError, RecursionError) as error:
            where = self.name if seq is None else f"{self.name} at seq {seq}"
            raise Violation(self.feature, self._misfit(data) or f"{where}: {error}") from error

    def _misfit(self, data: bytes | msgspec.Raw) -> str | None:
        if self._explain is None:
            return None
        try:
            return self._explain(msgspec.json.decode(data))
        except (msgspec.MsgspecError, RecursionError):
            return None


S = TypeVar("S")


class Rule(Generic[S]):
    """A law over the order of events: a fold that refuses. It reads each log from its last `turn/start` on.

    `begin(first)` is the state before `first`, the event where reading starts (None: an empty log or no turn yet);
    `advance(state, event, event_type)` returns the next state or raises `Violation`.
    """

    def __init__(
        self,
        name: str,
        *,
        begin: Callable[[Event | None], S],
        advance: Callable[[S, Event, EventType[Any] | None], S],
    ) -> None:
        self.name = name
        self.begin = begin
        self.advance = advance


class Vocabulary:
    """The event types and rules that features have taught this program."""

    def __init__(self) -> None:
        self._types: dict[str, EventType[Any]] = {}
        self._rules: dict[str, Rule[Any]] = {}

    @contextmanager
    def learn(self, *types: EventType[Any], rules: Iterable[Rule[Any]] = ()) -> Generator[None]:
        """Knows `types` and `rules` until the block ends. A name that two features claim is refused."""
        rules = tuple(rules)
        for event_type in types:
            if event_type.name in self._types:
                raise ConfigError(f'event type "{event_type.name}" is defined twice')
        for rule in rules:
            if rule.name in self._rules:
                raise ConfigError(f'rule "{rule.name}" is defined twice')
        self._types.update({t.name: t for t in types})
        self._rules.update({r.name: r for r in rules})
        try:
            yield
        finally:
            for event_type in types:
                del self._types[event_type.name]
            for rule in rules:
                del self._rules[rule.name]

    def get(self, name: str) -> EventType[Any] | None:
        """The type of that name, or None where its feature is not mounted."""
        return self._types.get(name)

    def types(self) -> tuple[EventType[Any], ...]:
        """All learned types, in the order of their names."""
        return tuple(self._types[name] for name in sorted(self._types))

    def rules(self) -> tuple[Rule[Any], ...]:
        """All rules, in the order in which they were learned."""
        return tuple(self._rules.values())
