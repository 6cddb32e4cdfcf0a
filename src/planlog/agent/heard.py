"""Joins what is heard of one step's answer, live and from the log, so that each piece comes once."""

from planlog.model.model import Chunk, ReasoningDelta, TextDelta


class Heard:
    """Every method returns what is new in a chunk, "" where nothing is.

    Live deltas come early and may be missing; chunks on the log come late and are complete. Both say where they stand
    (characters of the step's text and thinking before them), so what one of them brought is dropped from the other.
    """

    def __init__(self) -> None:
        self._heard = 0
        self._logged = 0

    def live(self, offset: int, chunk: Chunk) -> str:
        """A live delta that begins at `offset`; where something before it is missing, the log will bring both."""
        if isinstance(chunk, TextDelta | ReasoningDelta) and offset <= self._heard:
            return self._hear(offset, chunk.text)
        return ""

    def logged(self, chunk: Chunk) -> str:
        """The next chunk on the log."""
        if not isinstance(chunk, TextDelta | ReasoningDelta):
            return ""
        offset, self._logged = self._logged, self._logged + len(chunk.text)
        return self._hear(offset, chunk.text)

    def _hear(self, offset: int, text: str) -> str:
        fresh = text[self._heard - offset :]
        self._heard += len(fresh)
        return fresh
