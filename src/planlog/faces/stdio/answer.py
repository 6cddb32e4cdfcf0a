"""Makes of an answer, live and from the log, text that is printed exactly once."""

from planlog.agent.heard import Heard
from planlog.model.model import Chunk, ReasoningDelta


class Answer:
    """The answer of one step as it arrives; every method returns the text to print now.

    The message at the end is the truth. A model that starts again after a failure often repeats itself: as long as it
    does, nothing is printed twice.
    """

    def __init__(self) -> None:
        self._heard = Heard()
        self._printed: list[str] = []
        self._repeated: str | None = None

    def live(self, offset: int, chunk: Chunk) -> str:
        """A live delta that begins at `offset`."""
        return self._hear(chunk, self._heard.live(offset, chunk))

    def logged(self, chunk: Chunk) -> str:
        """The next chunk on the log."""
        return self._hear(chunk, self._heard.logged(chunk))

    def whole(self, text: str) -> str:
        """The message's text: the rest of it, or all of it on a new line where something else was printed."""
        printed = "".join(self._printed)
        self._printed = [text]
        self._repeated = None
        return text[len(printed) :] if text.startswith(printed) else f"\n{text}"

    def start_again(self) -> None:
        """The model begins its answer anew; positions go on counting."""
        self._repeated = "" if self._printed else None

    def _hear(self, chunk: Chunk, fresh: str) -> str:
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
