"""What is asked of the database and written to it: functions of a connection and nothing else."""

from collections.abc import Sequence

import apsw
import msgspec

from planlog.log.store import Command, Owner, Row, SessionRecord
from planlog.log.store.refusals import check_append, exists, unknown, waiting

PAGE_BYTES = 4 * 1024 * 1024
"""A page of lines ends when it holds so much, for memory's sake."""

RECORDS = """
    SELECT session.id, session.created_at, session.cwd, session.header,
        ifnull(last.seq + 1, 0), ifnull(last.time, session.created_at)
    FROM session LEFT JOIN event AS last
        ON last.session = session.key AND last.seq = (SELECT max(seq) FROM event WHERE session = session.key)
"""

MERGED = 64
"""Of up to so many types the rows are merged from the index; with more of them nearly each row is wanted anyway."""


def key_of(connection: apsw.Connection, session: str) -> int:
    """The small number that stands for a session in every other row."""
    key = connection.execute("SELECT key FROM session WHERE id = ?", (session,)).get
    if key is None:
        raise unknown(session)
    return key


def record_of(connection: apsw.Connection, session: str) -> SessionRecord:
    row = connection.execute(RECORDS + "WHERE session.id = ?", (session,)).fetchone()
    if row is None:
        raise unknown(session)
    return SessionRecord(*row)


def records_after(connection: apsw.Connection, prefix: str, after: str, limit: int) -> list[SessionRecord]:
    """Up to `limit` sessions with that prefix whose id comes after `after`, in the order of ids."""
    rows = connection.execute(
        RECORDS + "WHERE session.id > ?1 AND session.id >= ?2 AND session.id < ?3 AND session.id NOT LIKE '.%'"
        " ORDER BY session.id LIMIT ?4",
        (after, prefix, prefix + chr(0x10FFFF), limit),
    )
    return [SessionRecord(*row) for row in rows]


def lines(connection: apsw.Connection, key: int, start: int, types: frozenset[str] | None, limit: int) -> list[bytes]:
    """A page of lines from seq `start` on; shorter than `limit` where they are long."""
    if types is not None and not types:
        return []
    query = "SELECT line FROM event WHERE session = ?1 AND seq >= ?2"
    bound: list[int | str] = [key, start, limit]
    if types is not None and len(types) <= MERGED:
        # Each part comes in the order of the index: SQLite merges them without sorting, and stops at the limit.
        bound += sorted(types)
        parts = (
            f"SELECT line, seq FROM event WHERE session = ?1 AND type = ?{4 + n} AND seq >= ?2"
            for n in range(len(types))
        )
        query = " UNION ALL ".join(parts)
    elif types is not None:
        query += " AND type IN (SELECT value FROM json_each(?4))"
        bound.append(msgspec.json.encode(sorted(types)).decode())
    cursor = connection.execute(query + " ORDER BY seq LIMIT ?3", bound)
    page, size = [], 0
    for line, *_ in cursor:
        page.append(line)
        size += len(line)
        if size >= PAGE_BYTES:
            cursor.close()
            break
    return page


def last_line(connection: apsw.Connection, key: int, types: Sequence[str]) -> bytes | None:
    """The newest line of those types: one look into the index for each."""
    return connection.execute(
        """
        SELECT line FROM event WHERE session = ?1 AND seq = (
            SELECT max((SELECT max(seq) FROM event WHERE session = ?1 AND type = wanted.value))
            FROM json_each(?2) AS wanted
        )
        """,
        (key, msgspec.json.encode(list(types)).decode()),
    ).get


def types_of(connection: apsw.Connection, key: int) -> set[str]:
    """The distinct types: a leap through the index from each to the next."""
    rows = connection.execute(
        """
        WITH RECURSIVE found(type) AS (
            SELECT min(type) FROM event WHERE session = ?1
            UNION ALL
            SELECT (SELECT min(type) FROM event WHERE session = ?1 AND type > found.type)
            FROM found WHERE found.type IS NOT NULL
        )
        SELECT type FROM found WHERE type IS NOT NULL
        """,
        (key,),
    )
    return {name for (name,) in rows}


def commands_of(connection: apsw.Connection, key: int) -> list[Command]:
    rows = connection.execute("SELECT id, kind, payload, time FROM command WHERE session = ? ORDER BY position", (key,))
    return [Command(*row) for row in rows]


def create(connection: apsw.Connection, record: SessionRecord) -> None:
    if connection.execute("SELECT 1 FROM session WHERE id = ?", (record.id,)).get:
        raise exists(record.id)
    connection.execute(
        "INSERT INTO session (id, created_at, cwd, header) VALUES (?, ?, ?, ?)",
        (record.id, record.created_at, record.cwd, record.header),
    )


def rename(connection: apsw.Connection, session: str, name: str) -> None:
    if connection.execute("SELECT 1 FROM session WHERE id = ?", (name,)).get:
        raise exists(name)
    if not connection.execute("UPDATE session SET id = ? WHERE id = ? RETURNING 1", (name, session)).get:
        raise unknown(session)


def delete_some(connection: apsw.Connection, key: int, limit: int) -> bool:
    """Removes up to `limit` events from the end of a log, or the session where none are left; True once it is gone."""
    connection.execute(
        "DELETE FROM event WHERE rowid IN (SELECT rowid FROM event WHERE session = ? ORDER BY seq DESC LIMIT ?)",
        (key, limit),
    )
    if connection.changes():
        return False
    connection.execute("DELETE FROM command WHERE session = ?", (key,))
    connection.execute("DELETE FROM session WHERE key = ?", (key,))
    return True


def append(
    connection: apsw.Connection, session: str, key: int, rows: Sequence[Row], lease: int, claims: Sequence[str]
) -> None:
    """Writes `rows` and removes `claims`, or refuses."""
    # One statement for both: on a processor that has just been woken a second one costs 40 µs.
    found = connection.execute(
        "SELECT epoch, (SELECT max(seq) FROM event WHERE session = key) FROM session WHERE key = ?", (key,)
    ).fetchone()
    if found is None:
        raise unknown(session)
    epoch, last = found
    gone = [command for command in claims if not _waits(connection, key, command)] if claims else ()
    check_append(session, rows, head=0 if last is None else last + 1, epoch=epoch, lease=lease, gone=gone)
    for command in claims:
        connection.execute("DELETE FROM command WHERE session = ? AND id = ?", (key, command))
    for row in rows:
        connection.execute(
            "INSERT INTO event (session, seq, type, time, line) VALUES (?, ?, ?, ?, ?)",
            (key, row.seq, row.type, row.time, row.line),
        )


def send(connection: apsw.Connection, session: str, key: int, command: Command) -> None:
    if _waits(connection, key, command.id):
        raise waiting(session, command.id)
    connection.execute(
        "INSERT INTO command (session, id, kind, payload, time) VALUES (?, ?, ?, ?, ?)",
        (key, command.id, command.kind, command.payload, command.time),
    )


def withdraw(connection: apsw.Connection, key: int, command: str) -> bool:
    waits = _waits(connection, key, command)
    if waits:
        connection.execute("DELETE FROM command WHERE session = ? AND id = ?", (key, command))
    return waits


def next_epoch(connection: apsw.Connection, session: str, key: int, holder: Owner) -> int:
    """Makes every lease that was given so far an old one, and notes who has the new one."""
    epoch = connection.execute(
        "UPDATE session SET epoch = epoch + 1, holder_pid = ?, holder_host = ? WHERE key = ? RETURNING epoch",
        (holder.pid, holder.host, key),
    ).get
    if epoch is None:
        raise unknown(session)
    return epoch


def holder_of(connection: apsw.Connection, key: int) -> Owner | None:
    """Who had a lease last; None where nobody ever did."""
    found = connection.execute("SELECT holder_pid, holder_host FROM session WHERE key = ?", (key,)).fetchone()
    return None if found is None or found[0] is None else Owner(*found)


def _waits(connection: apsw.Connection, key: int, command: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM command WHERE session = ? AND id = ?", (key, command)).get)
