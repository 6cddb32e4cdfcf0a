"""Opens the database file of a home: safely, for several processes at once, and in words when it cannot be done.

The live database is never opened by anything but SQLite: closing any other descriptor of it would drop the locks
that this process holds on it.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import apsw
import msgspec

from planlog.log.store import StoreError
from planlog.log.store.faults import LOCKED, explain, explain_system
from planlog.log.store.patience import Wait
from planlog.log.store.schema import VERSION, migrate, version_of

T = TypeVar("T")

SYNCHRONOUS = "FULL"
"""A commit returns when it is on the disk. Anything less than FULL loses acknowledged events when power fails."""

WAL_PAGES = 1000
"""From this length on the write-ahead log is copied back after a commit."""

WAL_KEPT = 16 * 1024 * 1024
"""Bytes to which a log that had grown longer, for a reader was in the way, is cut back."""


class Database(msgspec.Struct, frozen=True):
    """The open file. `writer` is None where it may only be read. Each connection is used by one thread at a time."""

    path: Path
    reader: apsw.Connection
    writer: apsw.Connection | None

    def close(self) -> None:
        """Closes both, where nothing has been done with them."""
        self.reader.close()
        if self.writer is not None:
            self.writer.close()


def open_database(home: Path, wait: Wait) -> Database:
    """Opens or makes `planlog.db` in the folder `home`; blocks while another process is opening it too.

    Raises `StoreError`. Where the database exists but cannot be written, it is opened for reading.
    """
    path = home / "planlog.db"
    make_folder(home, path)
    writer = patiently(path, wait, lambda: _connect(path))
    if writer is None:
        return Database(path, patiently(path, wait, lambda: _connect_readonly(path)), None)
    try:
        return Database(path, patiently(path, wait, lambda: _connect_reader(path)), writer)
    except BaseException:
        writer.close()
        raise


def make_folder(home: Path, path: Path) -> None:
    """Makes the folder, for its owner alone, where there is none yet."""
    try:
        if home.is_dir():
            return
        if home.is_symlink():
            raise StoreError(
                f"cannot open {path}: {home} is a symbolic link to {os.readlink(home)}, which does not exist; "
                "put that right or choose another home with --home"
            )
        for folder in (home, *home.parents):
            if folder.exists() and not folder.is_dir():
                raise StoreError(
                    f"cannot open {path}: {folder} is a file, not a folder; choose another home with --home"
                )
        home.parent.mkdir(parents=True, exist_ok=True)
        home.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise explain_system(error, home, "make the folder") from error


def patiently(path: Path, wait: Wait, attempt: Callable[[], T]) -> T:
    """What `attempt` returns, tried again while another process has the database locked."""
    while True:
        try:
            return attempt()
        except LOCKED:
            time.sleep(wait.pause())
        except apsw.Error as error:
            raise explain(error, path, "open") from error
        except OSError as error:
            raise explain_system(error, path, "open") from error


def _connect(path: Path) -> apsw.Connection | None:
    """A connection that writes; None where the file may only be read."""
    try:
        connection = _open_private(path)
    except apsw.CantOpenError:
        if path.is_file():
            return None
        raise
    try:
        if connection.readonly("main"):
            connection.close()
            return None
        version_of(connection, path)
        if connection.pragma("journal_mode") != "wal" and connection.pragma("journal_mode", "wal") != "wal":
            raise StoreError(
                f"cannot use {path}: its file system does not let processes share a write-ahead log; "
                "choose a home on a local disk with --home"
            )
        connection.pragma("synchronous", SYNCHRONOUS)
        # On macOS alone: there fsync does not reach the platter.
        connection.pragma("fullfsync", True)
        connection.pragma("journal_size_limit", WAL_KEPT)
        migrate(connection, path)
    except (apsw.ReadOnlyError, apsw.CantOpenError):
        # The file could be written, but its folder takes no log beside it.
        connection.close()
        return None
    except apsw.IOError as error:
        number = connection.system_errno
        connection.close()
        raise explain(error, path, "open", number) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _open_private(path: Path) -> apsw.Connection:
    """Opens the file; one that is made thereby is its owner's alone, and so are its companions."""
    if path.exists():
        return apsw.Connection(os.fspath(path))
    before = os.umask(0o077)
    try:
        return apsw.Connection(os.fspath(path))
    finally:
        os.umask(before)


def _connect_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.pragma("query_only", True)
        version_of(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_readonly(path: Path) -> apsw.Connection:
    """A connection to a file that cannot be written.

    Reading beside a write-ahead log needs a shared index in the same folder. Where that can be neither used nor made,
    the file alone is read, provided that no log lies beside it.
    """
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        try:
            version = version_of(connection, path)
        except (apsw.CantOpenError, apsw.ReadOnlyError) as error:
            connection.close()
            _refuse_log(path, error)
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(path.as_uri() + "?immutable=1", flags=flags)
            version = version_of(connection, path)
        if version < VERSION:
            raise StoreError(
                f"cannot read {path}: it may only be read, and this planlog would have to renew it first "
                f"(database version {version}, needed {VERSION}); open it once where it can be written"
            )
    except BaseException:
        connection.close()
        raise
    return connection


def _refuse_log(path: Path, cause: apsw.Error) -> None:
    log = path.with_name(path.name + "-wal")
    with suppress(FileNotFoundError):
        if log.stat().st_size:
            raise StoreError(
                f"cannot read {path}: it may only be read, and {log.name} beside it holds events that have yet to be "
                "taken over; open it once where it can be written"
            ) from cause
