"""Cuts what a server prints into lines, none of them longer than any that can be meant."""

LONGEST = 16 << 20
"""Bytes of one line."""


class LineTooLong(Exception):
    """A server has begun a line that is longer than `LONGEST`."""


class Lines:
    """Takes bytes in any portions."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their ends; blank ones are left out. Raises `LineTooLong`."""
        first, *others = data.split(b"\n")
        self._rest += first
        lines: list[bytes] = []
        for other in others:
            lines.append(bytes(self._rest))
            self._rest[:] = other
        if len(self._rest) > LONGEST:
            raise LineTooLong(f"it prints a line of more than {LONGEST >> 20} MiB")
        return [line for line in lines if not line.isspace() and line]
