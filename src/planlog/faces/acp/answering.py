"""One step's answer as an editor gets it: each piece of text and of thinking once, under an id that replay repeats."""

from collections.abc import Sequence

from planlog.agent.heard import Heard
from planlog.faces.acp.updates import AgentChunk, TextBlock, ThoughtChunk, Update
from planlog.faces.acp.wording import pieces
from planlog.model.message import Block, Reasoning, Text
from planlog.model.model import Chunk, ReasoningDelta


class Answering:
    """The answer of the step `name`, such as "3.1".

    Ids of messages follow from where they stand in the log, so that live and replayed ones are the same. An answer
    that the model begins anew after a failure is another message.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._attempt = 0
        self._heard = Heard()
        self._said = ""
        self._thought = ""

    def live(self, offset: int, chunk: Chunk) -> list[Update]:
        """A live delta, see `LiveDelta`."""
        return self._hear(chunk, self._heard.live(offset, chunk))

    def logged(self, chunk: Chunk) -> list[Update]:
        """A chunk on the log."""
        return self._hear(chunk, self._heard.logged(chunk))

    def whole(self, content: Sequence[Block]) -> list[Update]:
        """The message on the log: what is missing of it."""
        thought = "".join(block.text for block in content if isinstance(block, Reasoning))
        said = "".join(block.text for block in content if isinstance(block, Text))
        updates = self._think(_rest(thought, self._thought)) + self._say(_rest(said, self._said))
        self._thought, self._said = thought, said
        return updates

    def start_again(self, why: str) -> list[Update]:
        """The model begins anew; `why` is a line for the person."""
        self._attempt += 1
        self._said = self._thought = ""
        return [ThoughtChunk(TextBlock(why), f"{self._id}-retry")]

    @property
    def _id(self) -> str:
        return f"{self._name}.{self._attempt}" if self._attempt else self._name

    def _hear(self, chunk: Chunk, fresh: str) -> list[Update]:
        if isinstance(chunk, ReasoningDelta):
            self._thought += fresh
            return self._think(fresh)
        self._said += fresh
        return self._say(fresh)

    def _think(self, text: str) -> list[Update]:
        return [ThoughtChunk(TextBlock(piece), f"{self._id}-thought") for piece in pieces(text)]

    def _say(self, text: str) -> list[Update]:
        return [AgentChunk(TextBlock(piece), self._id) for piece in pieces(text)]


def _rest(whole: str, shown: str) -> str:
    return whole[len(shown) :] if whole.startswith(shown) else f"\n{whole}"
