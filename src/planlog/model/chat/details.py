"""OpenRouter's `reasoning_details`: puts together what was streamed in pieces, so that its signatures hold.

A signature is for the whole text of a block: pieces that are sent back one by one are refused (agno issue 8794).
"""

from collections.abc import Iterable
from typing import Any

Detail = dict[str, Any]

_GROWING = ("text", "summary")


def merged(pieces: Iterable[Detail]) -> list[Detail]:
    """The blocks that `pieces` make, in order."""
    blocks: list[Detail] = []
    grown: dict[str, list[str]] = {}
    for piece in pieces:
        if not blocks or not _is_of(blocks[-1], piece):
            _settle(blocks, grown)
            blocks.append({})
        for key, value in piece.items():
            if key in _GROWING and isinstance(value, str):
                blocks[-1].setdefault(key, "")  # its place among the keys
                grown.setdefault(key, []).append(value)
            elif value is not None or key not in blocks[-1]:
                blocks[-1][key] = value
    _settle(blocks, grown)
    return blocks


def words(detail: Detail) -> str:
    """What a person may read of it."""
    text = detail.get("text") or detail.get("summary")
    return text if isinstance(text, str) else ""


def _settle(blocks: list[Detail], grown: dict[str, list[str]]) -> None:
    for key, parts in grown.items():
        blocks[-1][key] = "".join(parts)
    grown.clear()


def _is_of(block: Detail, piece: Detail) -> bool:
    """Whether they are one block: encrypted ones come whole, so a second one is another."""
    if any(block.get(key) != piece.get(key) for key in ("type", "index")) or piece.get("index") is None:
        return False
    ids = {one["id"] for one in (block, piece) if isinstance(one.get("id"), str)}
    return len(ids) < 2 and not ("data" in block and "data" in piece)
