"""Call ids as a vendor takes them: its own as they are, others by a replacement that is the same in every request."""

import hashlib
import re
import string

_SIGNS = string.digits + string.ascii_letters
_LENGTH = 9
_PORTABLE = re.compile(r"[A-Za-z0-9_-]{1,40}")
"""What every vendor that has rules takes, but for Mistral; gateways hand ids on to several."""


class CallIds:
    """The ids of one request. A replacement depends on the conversation up to its call, and on nothing after it."""

    def __init__(self, fits: str) -> None:
        self._fits = re.compile(fits)
        self._sent: dict[str, str] = {}
        self._taken: set[str] = set()

    def of_call(self, id: str, own: bool) -> str:
        """What to send for the call `id`; `own` says that the model that is asked made it, and knows it by this id."""
        sent = id
        fits = self._fits.fullmatch(id) and (own or _PORTABLE.fullmatch(id))
        attempt = 0
        while not fits or sent in self._taken:
            sent, fits = _replacement(id, attempt), True
            attempt += 1
        self._taken.add(sent)
        self._sent[id] = sent
        return sent

    def of_result(self, id: str) -> str:
        """The id of the call that the result with this id answers."""
        return self._sent[id] if id in self._sent else self.of_call(id, own=False)


def _replacement(id: str, attempt: int) -> str:
    number = int.from_bytes(hashlib.sha256(f"{attempt}:{id}".encode()).digest())
    digits: list[str] = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, len(_SIGNS))
        digits.append(_SIGNS[digit])
    return "".join(digits)
