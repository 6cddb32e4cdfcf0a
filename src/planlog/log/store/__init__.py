"""Where logs are kept: the protocol that every store speaks. Nothing above it knows how.

A store keeps, for each session, a header line, the event lines by seq, the commands that no turn has claimed yet,
and who holds the lease. It promises that `append` is one transaction, durable before it returns, fenced by the
lease's epoch; it knows nothing of what the lines mean.
"""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from planlog.kernel.errors import PlanlogError


class StoreError(PlanlogError):
    """The store could not do what was asked; the text names path and cause. Nothing was changed."""


class StoreFull(StoreError):
    """No space left; after the cause is gone the same call succeeds."""


class StoreLocked(StoreError):
    """Another process kept the database locked for longer than the store is willing to wait."""


class StoreDamaged(StoreError):
    """What is on disk is not a database of ours, or not whole."""


class HeadMoved(StoreError):
    """The log has grown since the caller last looked; read on and decide again."""


class LeaseLost(StoreError):
    """Somebody else has taken the session over; whatever this writer still wants to say is refused."""


class ClaimGone(StoreError):
    """A command that an append claims was withdrawn or claimed by somebody else; look again and decide again."""


class SessionUnknown(PlanlogError):
    """No session has that id."""


class Owner(msgspec.Struct, frozen=True):
    """Who holds a lease: shown to people, never trusted (a pid may be reused)."""

    pid: int
    host: str


class SessionBusy(PlanlogError):
    """Another holder runs a turn in this session."""

    def __init__(self, session: str, owner: Owner | None) -> None:
        where = f" by process {owner.pid} on {owner.host}" if owner else ""
        super().__init__(f"session {session} is being run{where}")
        self.owner = owner


class Row(msgspec.Struct, frozen=True):
    """One event as it is kept: `line` is the truth; `seq`, `type` and `time` repeat what it says, for finding it."""

    seq: int
    type: str
    time: int
    line: bytes


class SessionRecord(msgspec.Struct, frozen=True):
    """A session as listed. `header` is the first line of its exported file; times are epoch milliseconds.

    `head` is the seq that the next event will get; `updated_at` the time of the last event, or `created_at`.
    """

    id: str
    created_at: int
    cwd: str
    header: bytes
    head: int = 0
    updated_at: int = 0


class Command(msgspec.Struct, frozen=True):
    """A wish that any process may leave for whoever runs the session next: kept until a turn claims it.

    `kind` is one of prompt, steer, withdraw, cancel, approve; `payload` is JSON that the claimer understands.
    """

    id: str
    kind: str
    payload: bytes
    time: int


class Lease(Protocol):
    """The right to write to one session, for as long as it is held and this process lives."""

    @property
    def session(self) -> str: ...
    @property
    def epoch(self) -> int:
        """Grows with each holder; an append with an older epoch is refused."""
        ...

    async def release(self) -> None:
        """Gives the right back; safe to call twice. The kernel does it when the process dies."""
        ...


class Store(Protocol):
    """See the module's first paragraph. All methods may raise `StoreError`; those with an id, `SessionUnknown`.

    A session whose id begins with a dot is still being made: nobody sees it until it is renamed.
    """

    async def create(self, record: SessionRecord) -> None:
        """Adds an empty session; durable when it returns."""
        ...

    async def rename(self, session: str, name: str) -> None:
        """Gives a session another id; durable when it returns."""
        ...

    async def delete(self, session: str) -> None:
        """Removes a session with its log and commands, a bounded number of rows a commit; last of all its record.

        Cut short, it is finished by another call. A session that is not there is no error.
        """
        ...

    async def find(self, prefix: str) -> list[SessionRecord]:
        """Sessions whose id starts with `prefix`, newest activity first; none whose id begins with a dot."""
        ...

    async def record(self, session: str) -> SessionRecord:
        """One session by its whole id."""
        ...

    async def append(self, session: str, rows: Sequence[Row], *, lease: Lease, claims: Sequence[str] = ()) -> None:
        """Writes `rows` and removes the commands `claims` in one durable transaction, all or none.

        Raises `HeadMoved` unless rows[0].seq is the head, `LeaseLost` when the lease's epoch is no longer current,
        `ClaimGone` when one of `claims` is gone. When it returns, a crash loses nothing of it. Not cut short by
        cancellation: it comes after the call has returned, at the caller's next wait.
        """
        ...

    async def read(
        self, session: str, start: int, *, types: frozenset[str] | None = None, limit: int = 500
    ) -> list[bytes]:
        """Up to `limit` lines with seq >= `start`, in order, only of `types` if given; fewer where lines are long.

        Empty only at the end.
        """
        ...

    async def last_of(self, session: str, types: Sequence[str]) -> bytes | None:
        """The line with the highest seq among those of `types`; its cost does not grow with the log."""
        ...

    async def types(self, session: str) -> set[str]:
        """The distinct event types on the log; its cost grows with their number only."""
        ...

    async def send(self, session: str, command: Command) -> None:
        """Leaves a command; durable when it returns."""
        ...

    async def commands(self, session: str) -> list[Command]:
        """Commands that nobody has claimed, oldest first."""
        ...

    async def withdraw(self, session: str, command: str) -> bool:
        """Removes an unclaimed command; False when it was claimed already."""
        ...

    async def acquire(self, session: str) -> Lease:
        """The lease, with a new epoch. Raises `SessionBusy` at once while another live holder has it."""
        ...

    async def owner(self, session: str) -> Owner | None:
        """Who runs a turn right now, seen without disturbing them; None when nobody does."""
        ...

    def version(self) -> int:
        """A number that differs from the last one whenever anybody, in any process, has committed anything.

        Cheap enough to be asked every few milliseconds.
        """
        ...
