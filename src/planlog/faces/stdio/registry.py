"""What the features that are mounted now can draw on the plain terminal."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from planlog.faces.renders import Call, Line, Renders, Row
from planlog.kernel.errors import ConfigError
from planlog.log.event import Event


class StdioRenders:
    """Drawings by event type, projection key and tool name."""

    def __init__(self) -> None:
        self._events: dict[str, Callable[[Event], list[Line]]] = {}
        self._views: dict[str, Callable[[Any], list[Line]]] = {}
        self._rows: dict[str, Callable[[Call], Row]] = {}
        self._totals: list[Callable[[Sequence[Call]], str]] = []

    @contextmanager
    def add(self, renders: Renders) -> Generator[None]:
        """Draws with `renders` until the block ends. What two features want to draw is a `ConfigError`."""
        pairs: list[tuple[dict[str, Any], Any]] = [
            (self._events, renders.events),
            (self._views, renders.views),
            (self._rows, renders.rows),
        ]
        for known, more in pairs:
            for name in more:
                if name in known:
                    raise ConfigError(f'two plugins draw "{name}" on stdio')
        for known, more in pairs:
            known.update(more)
        totals = [renders.totals] if renders.totals else []
        self._totals += totals
        try:
            yield
        finally:
            for counting in totals:
                self._totals.remove(counting)
            for known, more in pairs:
                for name in more:
                    del known[name]

    def event(self, event: Event) -> list[Line]:
        """The lines for an event, none where no feature draws it."""
        draw = self._events.get(event.type)
        return draw(event) if draw else []

    def view(self, key: str, value: Any) -> list[Line]:
        """The lines for a projection's value, none where no feature draws it."""
        draw = self._views.get(key)
        return draw(value) if draw else []

    def row(self, call: Call) -> Row | None:
        """The row for a call, None where no feature draws it."""
        draw = self._rows.get(call.name)
        return draw(call) if draw else None

    def totals(self, calls: Sequence[Call]) -> list[str]:
        """What the features count of a turn's calls, each in a few words."""
        return [said for counting in self._totals if (said := counting(calls))]
