"""Finds out how the turn that answered a prompt has ended, whoever ran it."""

from planlog.agent.event import TURN_END, USER_MESSAGE, EndReason
from planlog.log.session import Session

_TYPES = frozenset((USER_MESSAGE.name, TURN_END.name))


class Ending:
    """Goes through the log once, from the seq `start` on, for the turn that holds the message `message`."""

    def __init__(self, session: Session, message: str, start: int = 0) -> None:
        self._session = session
        self._message = message
        self._next = start
        self.begun = False
        """Whether a turn has taken the message up."""

    async def look(self) -> EndReason | None:
        """How the turn ended, as far as the log has been read by this process; None while it has not."""
        while self._next < self._session.head:
            page = await self._session.read(self._next, types=_TYPES)
            for event in page:
                if event.type == USER_MESSAGE.name:
                    self.begun = self.begun or USER_MESSAGE.read(event).id == self._message
                elif self.begun:
                    return TURN_END.read(event).reason
            self._next = page[-1].seq + 1 if page else self._session.head
        return None
