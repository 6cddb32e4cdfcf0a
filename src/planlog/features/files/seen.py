"""Remembers, on the log, which state of a file the model has seen: the last one that a tool showed or wrote."""

from collections.abc import Mapping

from planlog.agent.event import TOOL_RESULT
from planlog.log.event import Event
from planlog.log.projection import Projection

Seen = Mapping[str, str]
"""The stamp of each file, by its place in the workspace."""


def stamp(data: bytes) -> str:
    """A short text that differs for different contents."""
    from hashlib import blake2b  # starting up needs none

    return blake2b(data, digest_size=12).hexdigest()


def _apply(seen: Seen, event: Event) -> Seen:
    match TOOL_RESULT.read(event).meta if event.type == "tool/result" else None:
        case {"file": {"path": str(path), "stamp": str(stamped)}} if seen.get(path) != stamped:
            return {**seen, path: stamped}
        case _:
            return seen


SEEN: Projection[Seen] = Projection("seen", {}, _apply, types=("tool/result",))
"""What the details of results say: `{"file": {"path": …, "stamp": …}}`. Other details mean nothing here."""
