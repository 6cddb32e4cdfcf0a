"""Joins what is heard of one answer, live and from the log, into text that is printed exactly once."""

from planlog.model.model import Chunk, ReasoningDelta, TextDelta


class Answer:
    """The answer of one step as it arrives; every method returns the text to print now.

    Live deltas come early and may be missing; chunks on the log come late and are complete; the message at the end is
    the truth. Live and logged pieces say where they stand (characters of the step's text and thinking before them), so
    what one of them brought is dropped from the other. A model that starts again after a failure often repeats itself:
    as long as it does, nothing is printed twice.
    """

    def __init__(self) -> None:
        self._heard = 0
        self._logged = 0
        self._printed: list[str] = []
        self._repeated: str | None = None

    def live(self, offset: int, chunk: Chunk) -> str:
        """A live delta that begins at `offset`; where something before it is missing, the log will bring both."""
        if isinstance(chunk, TextDelta | ReasoningDelta) and offset <= self._heard:
            return self._hear(offset, chunk)
        return ""

    def logged(self, chunk: Chunk) -> str:
        """The next chunk on the log."""
        if not isinstance(chunk, TextDelta | ReasoningDelta):
            return ""
        offset, self._logged = self._logged, self._logged + len(chunk.text)
        return self._hear(offset, chunk)

    def whole(self, text: str) -> str:
        """The message's text: the rest of it, or all of it on a new line where something else was printed."""
        printed = "".join(self._printed)
        self._printed = [text]
        self._repeated = None
        return text[len(printed) :] if text.startswith(printed) else f"\n{text}"

    def start_again(self) -> None:
        """The model begins its answer anew; positions go on counting."""
        self._repeated = "" if self._printed else None

    def _hear(self, offset: int, chunk: TextDelta | ReasoningDelta) -> str:
        fresh = chunk.text[self._heard - offset :]
        self._heard += len(fresh)
        if not fresh or isinstance(chunk, ReasoningDelta):
            return ""
        if self._repeated is None:
            self._printed.append(fresh)
            return fresh
        self._repeated += fresh
        printed = "".join(self._printed)
        if printed.startswith(self._repeated):
            return ""
        return self.whole(self._repeated)
