"""Draws a plan as lines: a head, then each item behind its mark."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from planlog.faces.renders import Line, Span, Style
from planlog.features.todo.event import Status

MARKS: dict[Status, str] = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}
STYLES: dict[Status, Style] = {"completed": "dim", "in_progress": "busy", "pending": "plain"}


class Drawable(Protocol):
    """An item with a content and a status."""

    @property
    def content(self) -> str: ...
    @property
    def status(self) -> Status: ...


def item_line(item: Drawable, indent: str = "  ") -> Line:
    """`  [~] write the tests`."""
    style = STYLES[item.status]
    return (Span(f"{indent}{MARKS[item.status]} ", style), Span(item.content, style))


def plan_lines(todos: Sequence[Drawable]) -> list[Line]:
    """`[todos]` and a line for each item; `[todos] cleared` for the list that clears."""
    if not todos:
        return [(Span("[todos]", "bold"), Span(" cleared", "dim"))]
    return [(Span("[todos]", "bold"),), *(item_line(todo) for todo in todos)]


def plain_text(todos: Iterable[Drawable]) -> str:
    """The items alone, a line each, as text."""
    return "\n".join(f"{MARKS[todo.status]} {todo.content}" for todo in todos)
