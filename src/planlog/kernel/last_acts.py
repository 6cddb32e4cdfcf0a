"""What has to be done even when the program leaves without waiting: plugins add it, whoever leaves performs it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class LastActs:
    """Acts that neither wait nor need anything to go on, such as to kill what was started.

    An orderly end never performs them: there each plugin undoes what it did.
    """

    def __init__(self) -> None:
        self._acts: list[Callable[[], object]] = []

    @contextmanager
    def add(self, act: Callable[[], object]) -> Iterator[None]:
        """Has `act` performed if the program leaves while the block lasts."""
        self._acts.append(act)
        try:
            yield
        finally:
            self._acts.remove(act)

    def perform(self) -> None:
        """All acts, newest first; one that fails keeps nobody from leaving, nor the others from being performed."""
        for act in reversed(self._acts):
            with suppress(Exception):
                act()
