"""The tables of the database, and how an older one becomes the present one."""

from pathlib import Path

import apsw

from planlog.log.store import StoreDamaged, StoreError

APPLICATION_ID = 0x706C6F67
"""The letters `plog`, in the header of each of our databases."""

MIGRATIONS = (
    # Sessions have small keys, for these are repeated in each row and each index entry of the log.
    # A key is never given twice: whoever still thinks of a session that was deleted must not meet its successor.
    # In an event, `line` comes last: whoever wants only the time of a row reads no overflow pages.
    """
    CREATE TABLE session (
        key INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, cwd TEXT NOT NULL,
        header BLOB NOT NULL, epoch INTEGER NOT NULL DEFAULT 0, holder_pid INTEGER, holder_host TEXT
    ) STRICT;
    CREATE TABLE event (
        session INTEGER NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL, line BLOB NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT;
    CREATE INDEX event_by_type ON event (session, type, seq);
    CREATE TABLE command (
        position INTEGER PRIMARY KEY, session INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL,
        payload BLOB NOT NULL, time INTEGER NOT NULL, UNIQUE (session, id)
    ) STRICT;
    """,
)
"""Each brings a database from the version that is its place here to the next. Released ones are never changed."""

VERSION = len(MIGRATIONS)


def version_of(connection: apsw.Connection, path: Path) -> int:
    """The version that the database has, 0 for an empty one. Refuses what is not ours and what is newer."""
    # In one statement, for another process may be making the tables at this moment.
    ((application, version, tables),) = connection.execute(
        """
        SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
            (SELECT count(*) FROM sqlite_schema)
        """
    )
    if application == APPLICATION_ID and version > VERSION:
        raise StoreError(
            f"cannot use {path}: written by a newer planlog (database version {version}, this one knows {VERSION}); "
            "update planlog"
        )
    if application == APPLICATION_ID or (application == 0 and version == 0 and tables == 0):
        return version
    raise StoreDamaged(f"cannot use {path}: it is another program's database; choose another home with --home")


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Brings the database to the present version, in one transaction."""
    if version_of(connection, path) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[version_of(connection, path) :]:
            connection.execute(step)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
