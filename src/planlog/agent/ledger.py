"""Holds facts that are decided but not written yet: the next commit takes them along, in the same append."""

from collections.abc import Callable, Sequence

from planlog.log.event import Event, Fact
from planlog.log.session import Session

Placing = Fact | Callable[[int], Fact]
"""A fact, or what makes it once its seq is known."""


class Ledger:
    """The pen of whoever holds a session's lease."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: list[Placing] = []

    @property
    def pending(self) -> Sequence[Placing]:
        """What the next commit will write first."""
        return tuple(self._pending)

    def add(self, *facts: Placing) -> None:
        """Decides `facts`; nobody may act on them before the next commit."""
        self._pending.extend(facts)

    async def commit(self, *facts: Placing, claims: Sequence[str] = ()) -> tuple[Event, ...]:
        """Writes what is pending and `facts`, all or none; returns the events of both.

        Where it fails or is cancelled, what was pending still is, and `facts` are the caller's again: what must not be
        lost is added first.
        """
        mine, self._pending = self._pending, []
        try:
            return await self._session.append(*mine, *facts, claims=claims)
        except BaseException:
            self._pending[:0] = mine
            raise
