"""A plan in one line: how many items there are, how many are done, what is being worked on."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from planlog.features.todo.blank import TOOL_SPACE, find_visible
from planlog.features.todo.event import Todo


class Counts(msgspec.Struct, frozen=True, rename="camel"):
    """How many items of a list have each status."""

    pending: int
    in_progress: int
    completed: int


class Summary(msgspec.Struct, frozen=True):
    """`active` is the text of the first active item that has one, and may be shortened where it is shown.

    `others` is how many more items are active; it stands apart from `active` so that it is never cut off with it.
    """

    done: int
    total: int
    active: str | None
    others: int


def count(todos: Iterable[Todo]) -> Counts:
    """Counts a list."""
    tally = {"pending": 0, "in_progress": 0, "completed": 0}
    for todo in todos:
        tally[todo.status] += 1
    return Counts(tally["pending"], tally["in_progress"], tally["completed"])


def summarize(todos: Sequence[Todo]) -> Summary:
    """Sums up a list that stands."""
    return _sum_up([(todo.status, todo.content) for todo in todos])


def summarize_arguments(arguments: str) -> Summary | None:
    """Sums up what a model wrote as the tool's arguments, which may be anything; None where no list is in it.

    Like the tool it reads a list that was sent as a string of JSON.
    """
    todos = entries(arguments)
    return None if todos is None else _sum_up([(entry.get("status"), entry.get("content")) for entry in todos])


def entries(arguments: str) -> list[dict[str, Any]] | None:
    """The list in the raw arguments, an empty object for each entry that is none; None where there is no list."""
    value = _objects(_decoded(arguments), dict)
    todos = _objects(value.get("todos"), list) if value is not None else None
    return None if todos is None else [_objects(entry, dict) or {} for entry in todos]


def _sum_up(items: list[tuple[Any, Any]]) -> Summary:
    active = [content for status, content in items if status == "in_progress"]
    named = next((text for content in active if (text := _text(content))), None)
    done = sum(status == "completed" for status, _ in items)
    return Summary(done, len(items), named, len(active) - (named is not None))


def _text(content: Any) -> str | None:
    return content.strip(TOOL_SPACE) if isinstance(content, str) and find_visible(content) else None


def _objects(value: Any, kind: type[Any]) -> Any:
    """`value`, or what the string `value` holds, when it is of that kind."""
    if isinstance(value, str):
        value = _decoded(value)
    return value if isinstance(value, kind) else None


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
