"""One `todo_write` of 20 items in memory: check, rules, fact, fold; beside a typed decode with the same rules."""

import json
import re
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from bench.measure import Row, interleaved, ratio_row
from planlog.features.todo.event import TODO_WRITE, TodosWritten
from planlog.features.todo.fold import TODOS
from planlog.features.todo.tool import TodoWrite, check_items
from planlog.tools.schema import Violations, check_arguments

ITEMS = [
    {
        "content": f"Step {n}: read the module, change it, run its tests",
        "status": "completed" if n < 5 else "in_progress" if n == 5 else "pending",
    }
    for n in range(20)
]
RAW = json.dumps({"todos": ITEMS})
TIMES = 500


class PeerItem(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The floor's own item."""

    content: str
    status: Literal["pending", "in_progress", "completed"]


class PeerList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The floor's own list."""

    todos: list[PeerItem]


SPACE = (
    "\t\n\v\f\r \x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
visible = re.compile("[^\\x00-\x20\x7f-\xa0\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]").search

_decoder = msgspec.json.Decoder(PeerList)
_encoder = msgspec.json.Encoder()


def floor(raw: str) -> bytes:
    """The same rules, written down as one would without a harness: decode, trim, look, count, encode.

    Trimming takes Unicode's white space and U+FEFF, and what has nothing visible in it is blank: that is the rule.
    """
    data = _decoder.decode(raw)
    if len(data.todos) > 200:
        raise ValueError("too many")
    seen: set[str] = set()
    active = completed = 0
    trimmed = []
    for item in data.todos:
        if len(item.content) > 1000:
            raise ValueError("too long")
        content = item.content.strip(SPACE)
        if not visible(content) or content in seen:
            raise ValueError("blank or repeated")
        seen.add(content)
        if item.status == "in_progress":
            active += 1
        elif item.status == "completed":
            completed += 1
        trimmed.append(PeerItem(content, item.status))
    if active > 1:
        raise ValueError("too many active")
    return _encoder.encode(PeerList(trimmed))


def ours(raw: str) -> bytes:
    """What happens in the house between the model's text and the line that a store gets, and the fold after it."""
    params = check_arguments(TodoWrite, raw)
    if isinstance(params, Violations):
        raise ValueError(str(params))
    written = check_items(params.todos, allow_parallel_in_progress=False)
    event = TODO_WRITE.fact(TodosWritten(written.todos)).placed(7, 1700000000000)
    TODOS.apply(None, event)
    return event.line


def measure(quick: bool) -> list[Row]:
    """One row."""
    calls = {"todo_write": _timed(ours), "floor": _timed(floor)}
    return [
        ratio_row("todo_write, 20 items, in memory", interleaved(calls, 5 if quick else 41), "todo_write", "floor", 2)
    ]


def _timed(work: Callable[[str], bytes]) -> Callable[[], float]:
    def call() -> float:
        begin = time.perf_counter()
        for _ in range(TIMES):
            work(RAW)
        return (time.perf_counter() - begin) / TIMES

    return call
