"""What a feature may draw, for all faces: an event, a view, a row for a call with its result.

Features return plain data; the face that mounts them cleans every text of control characters, paints and lays out.
So no feature can put an escape sequence on a terminal or markup on a page.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, Literal, TypeVar

import msgspec

from planlog.kernel.errors import ConfigError
from planlog.log.event import Event

D = TypeVar("D")
R = TypeVar("R")

Style = Literal["plain", "dim", "bold", "good", "bad", "busy"]


class Span(msgspec.Struct, frozen=True):
    """A piece of a line, as text; `style` is what it means, never how it looks."""

    text: str
    style: Style = "plain"


Line = tuple[Span, ...]


class Call(msgspec.Struct, frozen=True):
    """A call as a row shows it: `arguments` is the model's raw text; `result` is None while it runs.

    `details` is what the tool kept beside the text (`meta` of `tool/result`): JSON, of any shape in a foreign log.
    """

    name: str
    arguments: str
    result: str | None = None
    is_error: bool = False
    details: Any = None


class Row(msgspec.Struct, frozen=True):
    """One line for a call: `summary` may be shortened, `suffix` never; `suffix_name` says the suffix in words.

    `body` is what may stand below, folded or not.
    """

    title: str
    summary: str = ""
    suffix: str = ""
    suffix_name: str = ""
    body: tuple[Line, ...] = ()


class Renders(msgspec.Struct, Generic[D, R], frozen=True):
    """A feature's drawings for one face, by event type, projection key and tool name.

    Of an event or a view the face makes any number of `D` (lines, updates), of a call one `R` (a row, a card). `totals`
    says in a few words what calls of one turn came to, "3 commands"; empty for calls that are not its own.
    """

    events: Mapping[str, Callable[[Event], list[D]]] = {}
    views: Mapping[str, Callable[[Any], list[D]]] = {}
    rows: Mapping[str, Callable[[Call], R]] = {}
    totals: Callable[[Sequence[Call]], str] | None = None


class Registry(Generic[D, R]):
    """What the features that are mounted now can draw on one face; each face has a subclass, its plugins' need."""

    face = "this face"

    def __init__(self) -> None:
        self._events: dict[str, Callable[[Event], list[D]]] = {}
        self._views: dict[str, Callable[[Any], list[D]]] = {}
        self._rows: dict[str, Callable[[Call], R]] = {}
        self._totals: list[Callable[[Sequence[Call]], str]] = []

    @contextmanager
    def add(self, renders: Renders[D, R]) -> Generator[None]:
        """Draws with `renders` until the block ends. What two features want to draw is a `ConfigError`."""
        pairs: list[tuple[dict[str, Any], Any]] = [
            (self._events, renders.events),
            (self._views, renders.views),
            (self._rows, renders.rows),
        ]
        for known, more in pairs:
            for name in more:
                if name in known:
                    raise ConfigError(f'two plugins draw "{name}" on {self.face}')
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

    def event(self, event: Event) -> list[D]:
        """What is drawn for an event, nothing where no feature draws it."""
        draw = self._events.get(event.type)
        return draw(event) if draw else []

    def view(self, key: str, value: Any) -> list[D]:
        """What is drawn for a projection's value, nothing where no feature draws it."""
        draw = self._views.get(key)
        return draw(value) if draw else []

    def viewed(self) -> list[str]:
        """The keys of all projections that are drawn, sorted."""
        return sorted(self._views)

    def row(self, call: Call) -> R | None:
        """What is drawn for a call, None where no feature draws it."""
        draw = self._rows.get(call.name)
        return draw(call) if draw else None

    def totals(self, calls: Sequence[Call]) -> list[str]:
        """What the features count of a turn's calls, each in a few words."""
        return [said for counting in self._totals if (said := counting(calls))]
