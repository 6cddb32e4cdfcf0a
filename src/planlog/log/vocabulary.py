"""What events mean: the types and rules that features teach a program, and the checking factories of facts."""

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import msgspec

from planlog.kernel.errors import ConfigError
from planlog.log import lossless
from planlog.log.event import KNOWN_TYPES, SURFACE_TYPES, Event, Fact, SurfaceOp, Violation

D = TypeVar("D", bound=msgspec.Struct)
S = TypeVar("S")


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
        sources = tuple(sources)
        if sources and surface_op is None:
            raise Violation(self.feature, f"{self.name} may not cite other events")
        encoded = lossless.encode(data)
        copy = self._decode(encoded)
        lossless.prove(data, encoded, copy)
        self._keep_rules(copy)
        return Fact(self.name, encoded, copy, surface_op, sources, self.ignorable)

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
