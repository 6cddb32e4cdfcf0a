"""Views of a log: pure folds of its events to a value that faces show."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from planlog.kernel.errors import ConfigError
from planlog.log.event import Event

S = TypeVar("S")


def _identity(state: Any) -> Any:
    return state


class Projection(Generic[S]):
    """A fold: `apply(state, event)` gives the next state, the SAME object when the event means nothing to it.

    `types` names the events that can change the state (None: any), so that a store may read only those. `last_of`
    says more: the state follows from the last event of these types alone, whatever came before. `state_version`
    grows whenever a stored state of an older program could no longer be continued.
    """

    def __init__(
        self,
        key: str,
        init: S,
        apply: Callable[[S, Event], S],
        *,
        types: Iterable[str] | None = None,
        last_of: Iterable[str] = (),
        state_version: int = 1,
        view: Callable[[S], Any] = _identity,
    ) -> None:
        self.key = key
        self.init = init
        self.apply = apply
        self.last_of = tuple(last_of)
        wanted = self.last_of or types
        self.types = None if wanted is None else frozenset(wanted)
        self.state_version = state_version
        self.view = view

    def fold(self, events: Iterable[Event]) -> S:
        """The state of a log that holds `events`."""
        return self.go_on(self.init, events)

    def go_on(self, state: S, events: Iterable[Event]) -> S:
        """The state after `events`, where `state` was before them."""
        for event in events:
            state = self.apply(state, event)
        return state


class Projections:
    """The projections that are mounted now, by key; a carrier offers exactly these."""

    def __init__(self) -> None:
        self._mounted: dict[str, Projection[Any]] = {}

    @contextmanager
    def add(self, *projections: Projection[Any]) -> Generator[None]:
        """Offers `projections` until the block ends."""
        for projection in projections:
            if projection.key in self._mounted:
                raise ConfigError(f'projection "{projection.key}" is defined twice')
        self._mounted.update({p.key: p for p in projections})
        try:
            yield
        finally:
            for projection in projections:
                del self._mounted[projection.key]

    def get(self, key: str) -> Projection[Any] | None:
        """The projection of that key, or None when its feature is not mounted."""
        return self._mounted.get(key)

    def __iter__(self) -> Iterator[Projection[Any]]:
        return iter(tuple(self._mounted.values()))
