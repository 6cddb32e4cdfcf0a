"""The fact that a plan was written: `todo/write`, its shape, and what was true of every such fact ever written."""

from collections.abc import AsyncGenerator
from typing import Any, Literal

import msgspec

from planlog.features.todo.blank import SCRIPT_SPACE
from planlog.log.vocabulary import EventType, Vocabulary

FEATURE = "todo"

Status = Literal["pending", "in_progress", "completed"]
STATUSES: tuple[Status, ...] = ("pending", "in_progress", "completed")


class Todo(msgspec.Struct, frozen=True, gc=False):
    """One item of a plan. Within a list `content` is unique; an item's identity is its place."""

    content: str
    status: Status


class TodosWritten(msgspec.Struct, frozen=True):
    """The whole list from here on; empty: there is nothing to do any more."""

    todos: list[Todo]


def _broken_rule(data: TodosWritten) -> str | None:
    # Whole columns at once, since nearly every list keeps the rules; only one that does not is walked.
    contents = [todo.content for todo in data.todos]
    different = set(contents)
    trimmed = [content.strip(SCRIPT_SPACE) for content in contents]
    if len(different) == len(contents) and "" not in different and trimmed == contents:
        return None
    return _misfit(msgspec.to_builtins(data))


def _misfit(data: Any) -> str | None:
    """The first broken rule, entry by entry, of any JSON at all. Silent on how many items are in progress."""
    todos = data.get("todos") if isinstance(data, dict) else None
    if not isinstance(todos, list):
        return "todo/write todos must be an array"
    seen: set[str] = set()
    for entry in todos:
        if not isinstance(entry, dict):
            return "todo/write entries must be objects"
        content = entry.get("content")
        if not isinstance(content, str) or not content or content.strip(SCRIPT_SPACE) != content:
            return "todo/write content must be non-empty and already trimmed"
        if content in seen:
            return f"todo/write repeats content {quoted(content)}"
        seen.add(content)
        if entry.get("status") not in STATUSES:
            return f"todo/write carries unknown status {_spelled(entry)}"
    return None


def quoted(text: str) -> str:
    """`text` between double quotes, escaped as in JSON, so that it stays one line and one word."""
    return msgspec.json.encode(text).decode()


def _spelled(entry: dict[str, Any]) -> str:
    if "status" not in entry:
        return '"undefined"'
    status = entry["status"]
    return quoted(status if isinstance(status, str) else msgspec.json.encode(status).decode())


TODO_WRITE: EventType[TodosWritten] = EventType(
    "todo/write", TodosWritten, feature=FEATURE, check=_broken_rule, explain=_misfit, in_turn=True
)


async def plugin(words: Vocabulary) -> AsyncGenerator[None]:
    """Teaches the event."""
    with words.learn(TODO_WRITE):
        yield
