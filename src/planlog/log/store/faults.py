"""What SQLite and the system report, in words for a person: path, cause, and what to do about it."""

import errno
import os
from pathlib import Path

import apsw

from planlog.log.store import StoreDamaged, StoreError, StoreFull, StoreLocked

NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT))

EFFECTIVE = os.access in os.supports_effective_ids

OF_THE_PLACE = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.NoMemError,
    apsw.PermissionsError,
    apsw.AuthError,
)
"""Faults of the disk or the file, which would meet any write; others are the fault of what was to be written."""

LOCKED = (apsw.BusyError, apsw.ProtocolError)
"""Another process is using the database in a way that excludes us for a moment."""


def explain(error: apsw.Error, path: Path, doing: str, number: int = 0) -> StoreError:
    """The `StoreError` for what SQLite raised while `doing` ("save to", "read") the database at `path`.

    `number` is the errno of the last system call that failed on the connection, 0 if there is none.
    """
    cannot = f"cannot {doing} {path}"
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and number in NO_SPACE):
        return full(cannot)
    if isinstance(error, LOCKED):
        return StoreLocked(f"{cannot}: another process keeps it locked; try again")
    if isinstance(error, apsw.NotADBError):
        return StoreDamaged(f"{cannot}: the file is not a database; move it away or choose another home with --home")
    if isinstance(error, apsw.CorruptError):
        return StoreDamaged(
            f"{cannot}: the database is damaged ({error}); planlog export may save what can still be read, "
            "another home is chosen with --home"
        )
    if isinstance(error, apsw.ReadOnlyError):
        return StoreError(f"{cannot}: it may only be read; make it writable or choose another home with --home")
    if isinstance(error, apsw.IOError):
        cause = os.strerror(number).lower() if number else str(error)
        return StoreError(f"{cannot}: {cause}; check the disk and try again")
    if isinstance(error, apsw.CantOpenError):
        return StoreError(
            f"{cannot}: {obstacle(path) or str(error)}; put that right or choose another home with --home"
        )
    return StoreError(f"{cannot}: {error}")


def explain_system(error: OSError, path: Path, doing: str) -> StoreError:
    """The same for an error of a system call."""
    cannot = f"cannot {doing} {path}"
    if error.errno in NO_SPACE:
        return full(cannot)
    cause = (error.strerror or str(error)).lower()
    return StoreError(f"{cannot}: {cause}; put that right or choose another home with --home")


def full(cannot: str) -> StoreFull:
    """The disk is full; `cannot` says what for."""
    return StoreFull(f"{cannot}: no space left on device; free some space and try again")


def obstacle(path: Path) -> str | None:
    """Why the file at `path` can be neither opened nor made, as far as can be seen from outside; None if unseen."""
    try:
        if path.is_symlink() and not path.exists():
            return f"it is a symbolic link to {os.readlink(path)}, which does not exist"
        if path.is_dir():
            return "it is a folder"
        if os.statvfs(path.parent).f_flag & os.ST_RDONLY:
            return "read-only file system"
        for needed in (path.parent, path):
            if needed.exists() and not os.access(needed, os.R_OK | os.W_OK, effective_ids=EFFECTIVE):
                return "permission denied"
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return None
