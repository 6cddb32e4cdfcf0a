"""Tells an editor about one session: updates in their order, and words of our own between them."""

from collections.abc import Iterable

import msgspec

from planlog.faces.acp.connection import Connection
from planlog.faces.acp.updates import AgentChunk, TextBlock, ThoughtChunk, Update
from planlog.faces.acp.wording import pieces
from planlog.log.header import new_id


class Telling:
    """Sends updates of the session `session`."""

    def __init__(self, connection: Connection, session: str) -> None:
        self._connection = connection
        self._session = session

    @property
    def is_held_up(self) -> bool:
        """Whether the client does not keep up."""
        return self._connection.is_full

    def tell(self, updates: Iterable[Update]) -> None:
        """Sends them; never waits."""
        for update in updates:
            self._connection.update(self._session, update)

    async def room(self) -> None:
        """Waits until the client keeps up."""
        if self._connection.is_full:
            await self._connection.room()

    def say(self, text: str) -> None:
        """Says something that is not on the log."""
        self.tell([AgentChunk(TextBlock(piece), new_id()) for piece in pieces(text)])


def coalesced(updates: Iterable[Update]) -> Iterable[Update]:
    """Neighbouring chunks of one message as one, as far as they fit; everything stays in its order."""
    held: Update | None = None
    for update in updates:
        if joined := _joined(held, update):
            held = joined
        else:
            if held:
                yield held
            held = update
    if held:
        yield held


def _joined(one: Update | None, other: Update) -> Update | None:
    """Both as one chunk, None where they are none."""
    if not isinstance(one, AgentChunk | ThoughtChunk) or not isinstance(other, AgentChunk | ThoughtChunk):
        return None
    if (type(one), one.message_id) != (type(other), other.message_id):
        return None
    text = one.content.text + other.content.text
    return msgspec.structs.replace(one, content=TextBlock(text)) if len(pieces(text)) == 1 else None
