"""Blocks of a reply that are still growing, and whether a piece belongs to one of them."""

from typing import Any, Literal

import msgspec


class GrowingText:
    """A block of text or thinking that is still growing."""

    def __init__(self, kind: Literal["text", "reasoning"], index: int) -> None:
        self.kind = kind
        self.index = index
        self.parts: list[str] = []


class GrowingCall:
    """A call; it has no block, so `block` is None, until its name has come."""

    def __init__(self) -> None:
        self.block: int | None = None
        self.id = ""
        self.name = ""
        self.parts: list[str] = []
        self.extra: dict[str, Any] | None = None
        self.closed = False

    def is_whole(self) -> bool:
        """Whether its arguments are a JSON object, which nothing can be added to."""
        if not self.parts or not self.parts[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(msgspec.json.decode("".join(self.parts)), dict)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return False

    def is_left_by(self, id: str, name: str, arguments: str) -> bool:
        """Whether a piece at the place of this call belongs to another one, which begins with it.

        Only the beginning of a call has a name, and then another id or another name, or it comes where nothing can be
        added. Pieces that repeat id and name are of one call, and so are those whose id changes without a name.
        """
        if not name or not self.name:
            return False
        if id and self.id and id != self.id:
            return True
        same = bool(id) and id == self.id
        return (name != self.name and not same) or (bool(arguments) and self.is_whole())


def argument_text(arguments: Any) -> str:
    """A call's arguments as text, in whatever form they came."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()
