"""What a chat needs of the place where its lines are typed."""

from typing import Protocol

from planlog.app.questions import Asker


class Front(Protocol):
    """Where a chat's lines are typed. `asker` asks about calls, None: stdin does.

    With `repeats` prompts are shown when they are heard: nobody has seen them typed.
    """

    asker: Asker | None
    repeats: bool

    @property
    def text(self) -> str:
        """What is typed and not sent."""
        ...

    def take(self) -> str:
        """What is typed; it is gone there."""
        ...

    def put_back(self, text: str) -> None:
        """Gives a text that nobody has heard back to its person."""
        ...

    def complete(self, words: tuple[str, ...]) -> None:
        """Completes what is typed to one of `words`."""
        ...

    def changed(self) -> None:
        """Something may look different now."""
        ...
