"""What faces need of the details of a change; those of a foreign log may be anything."""

from typing import Any

import msgspec


class Change(msgspec.Struct, frozen=True):
    """A file's change: `diff` is unified, empty where nothing changed; the counts are of lines."""

    path: str
    diff: str
    added: int
    removed: int


def change_of(details: Any) -> Change | None:
    """The change that a result tells of, if it tells of one."""
    match details:
        case {"file": {"path": str(path)}, "diff": str(diff), "added": int(added), "removed": int(removed)}:
            return Change(path, diff, added, removed)
        case _:
            return None
