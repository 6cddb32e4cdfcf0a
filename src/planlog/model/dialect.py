"""What a vendor's HTTP interface looks like, as pure functions: a request to bytes, the events of a reply to chunks."""

from collections.abc import Iterable
from typing import Protocol

from planlog.model.model import Chunk, Replay, Request


class Decoder(Protocol):
    """One reply as it arrives."""

    def take(self, data: str) -> Iterable[Chunk | Replay]:
        """What the data of one server-sent event says. Raises `ModelError` for an error in it, or for nonsense."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether the answer is: what may follow are counts and courtesies."""
        ...

    def end(self) -> Iterable[Chunk | Replay]:
        """What is left to say when the stream has ended. Raises `ModelError` where that was too early."""
        ...


class Dialect(Protocol):
    """How a request is put and a reply is read."""

    @property
    def path(self) -> str:
        """Of requests, below the provider's base URL."""
        ...

    def headers(self, key: str) -> dict[str, str]:
        """What identifies the person; `key` is "" where the provider wants none."""
        ...

    def body(self, model: str, provider: str, request: Request) -> bytes:
        """The request as JSON. A longer conversation begins with the same bytes as a shorter one, but for its end."""
        ...

    def decoder(self, body: bytes) -> Decoder:
        """For the reply to the request `body`."""
        ...
