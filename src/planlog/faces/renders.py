"""What a feature may draw, for all faces: an event, a view, a row for a call with its result.

Features return plain data; the face that mounts them cleans every text of control characters, paints and lays out.
So no feature can put an escape sequence on a terminal or markup on a page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from planlog.log.event import Event

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


class Renders(msgspec.Struct, frozen=True):
    """A feature's drawings for one face, by event type, projection key and tool name.

    `totals` says in a few words what calls of one turn came to, "3 commands"; empty for calls that are not its own.
    """

    events: Mapping[str, Callable[[Event], list[Line]]] = {}
    views: Mapping[str, Callable[[Any], list[Line]]] = {}
    rows: Mapping[str, Callable[[Call], Row]] = {}
    totals: Callable[[Sequence[Call]], str] | None = None
