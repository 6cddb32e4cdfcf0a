"""When an append is refused, decided apart from where the log is kept: every store asks here."""

from collections.abc import Sequence

from planlog.log.store import ClaimGone, HeadMoved, LeaseLost, Row, SessionUnknown, StoreError


def check_rows(rows: Sequence[Row]) -> None:
    """Raises `ValueError` where `rows` do not follow on each other: a programming error, whatever the log holds."""
    if len(rows) > 1 and any(row.seq != rows[0].seq + index for index, row in enumerate(rows)):
        raise ValueError(f"rows are not contiguous: seqs {[row.seq for row in rows]}")


def check_append(session: str, rows: Sequence[Row], *, head: int, epoch: int, lease: int, gone: Sequence[str]) -> None:
    """Raises `LeaseLost`, `ClaimGone` or `HeadMoved` unless `rows` may be written now.

    `epoch` is the current one, `lease` the writer's; `gone` are the commands that it claims and that nobody keeps.
    """
    if lease != epoch:
        raise taken_over(session)
    if gone:
        raise ClaimGone(f"session {session}: command {gone[0]} is gone, somebody withdrew or claimed it")
    if rows and rows[0].seq != head:
        raise HeadMoved(f"session {session} has grown: the next event is seq {head}, not {rows[0].seq}")


def taken_over(session: str) -> LeaseLost:
    """Somebody else has the lease now."""
    return LeaseLost(f"session {session} was taken over by another process; nothing more is written from here")


def unknown(session: str) -> SessionUnknown:
    """No session has that whole id."""
    return SessionUnknown(f'no session "{session}"; planlog sessions lists them')


def exists(session: str) -> StoreError:
    """A session of that id is kept already."""
    return StoreError(f'session "{session}" exists already; nothing was changed')


def waiting(session: str, command: str) -> StoreError:
    """A command of that id waits already."""
    return StoreError(f'session {session} has a command "{command}" waiting already; nothing was changed')
