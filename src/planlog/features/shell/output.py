"""Keeps the head and the tail of a command's output as text, in memory that does not grow with what is printed."""

from codecs import getincrementaldecoder
from collections import deque

from planlog.log.text import clean_text

_decoder_of = getincrementaldecoder("utf-8")


class Output:
    """Output of any length, of which the first and the last characters stay: together at most `limit`.

    Bytes that are not UTF-8 become U+FFFD, NUL becomes U+2400, and no character is cut in two, wherever the pieces
    were. Carriage returns and escape sequences stay as they are. Holding a piece costs the same whatever came before.
    """

    def __init__(self, limit: int) -> None:
        self._decoder = _decoder_of("replace")
        self._head: list[str] = []
        self._head_room = limit - limit // 2
        self._tail: deque[str] = deque()
        self._tail_limit = limit // 2
        self._tail_size = 0
        self._passed = 0

    def feed(self, data: bytes) -> str:
        """Takes the next bytes; the text that became certain with them, for those who watch."""
        return self._keep(clean_text(self._decoder.decode(data)))

    def end(self) -> str:
        """No bytes will follow: what was held back, as half of a character, becomes U+FFFD."""
        return self._keep(self._decoder.decode(b"", final=True))

    def _keep(self, text: str) -> str:
        rest = text
        if self._head_room:
            self._head.append(text[: self._head_room])
            rest = text[self._head_room :]
            self._head_room -= len(text) - len(rest)
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
            while self._tail_size - len(self._tail[0]) >= self._tail_limit and len(self._tail) > 1:
                gone = len(self._tail.popleft())
                self._tail_size -= gone
                self._passed += gone
        return text

    @property
    def dropped(self) -> int:
        """How many characters between head and tail are not kept."""
        return self._passed + max(0, self._tail_size - self._tail_limit)

    def text(self) -> str:
        """What is kept, and in the gap how much is missing there."""
        head, tail = "".join(self._head), "".join(self._tail)
        if not self.dropped:
            return head + tail
        return f"{head}\n[… {self.dropped} characters dropped …]\n{tail[len(tail) - self._tail_limit :]}"
