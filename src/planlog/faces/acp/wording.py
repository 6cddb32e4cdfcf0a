"""Puts text into shapes that an editor shows as it is meant: fenced, and in pieces that fit on a line of the wire."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from planlog.model.message import Block, Text

PIECE = 100_000
"""Characters of a message in one update: even where each takes six bytes, a line stays below 1 MB."""
RAW_BYTES = 200_000
"""Bytes of the arguments that an update tells; a longer one keeps the beginnings of its texts."""
TEXT = 60_000
"""Characters of one text that belongs to a call."""
_SHORTENED = 2_000


def pieces(text: str) -> list[str]:
    """`text` in pieces that fit into an update each."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def fenced(text: str, language: str = "") -> str:
    """`text` as Markdown that shows it as it is, whatever it holds."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{bounded_text(text).rstrip()}\n{fence}"


def bounded_text(text: str) -> str:
    """`text`, without its middle where it is too long."""
    dropped = len(text) - TEXT
    if dropped <= 0:
        return text
    half = TEXT // 2
    return f"{text[:half]}\n[… {dropped} characters are not shown here …]\n{text[-half:]}"


def bounded(value: Any) -> Any:
    """A JSON value, with its texts shortened where all of it is too long for one update."""
    try:
        if len(msgspec.json.encode(value)) <= RAW_BYTES:
            return value
    except (TypeError, ValueError, RecursionError):  # half of a surrogate pair, a number beyond JSON's
        pass
    return _shortened(value)


def _shortened(value: Any, depth: int = 0) -> Any:
    match value:
        case str():
            text = value.encode(errors="replace").decode()
            return text if len(text) <= _SHORTENED else f"{text[:_SHORTENED]}…"
        case dict() if depth < 3:
            return {str(key): _shortened(one, depth + 1) for key, one in list(value.items())[:20]}
        case list() | tuple() if depth < 3:
            return [_shortened(one, depth + 1) for one in value[:20]]
        case None | bool() | int():
            return value
        case _:
            return "…"


def blocks_text(content: Sequence[Block]) -> str:
    """What the blocks of a message say; other blocks by their kind."""
    return "\n".join(
        block.text if isinstance(block, Text) else f"[{type(block).__name__.lower()}]" for block in content
    )
