"""Takes stdin and stdout for the protocol, so that nothing else in the process can read from it or write into it."""

import os
import select
from contextlib import suppress


def take_stdio() -> tuple[int, int]:
    """Descriptors of what were stdin and stdout.

    From here on stdin is empty and stdout is stderr, for libraries, tools and child processes alike. Raises `OSError`
    where one of the two is closed.
    """
    inlet, outlet = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # there is no stderr either
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    os.close(nothing)
    return inlet, outlet


def write_all(descriptor: int, data: bytes) -> bool:
    """Writes all of it, however long that takes; False where it can no longer be written to."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # somebody else has made it non-blocking
            wait_for(descriptor, select.POLLOUT)
        except OSError:
            return False
    return True


def wait_for(descriptor: int, what: int) -> None:
    """Waits until it can be read from (`select.POLLIN`) or written to (`select.POLLOUT`)."""
    poll = select.poll()
    with suppress(OSError):
        poll.register(descriptor, what)
        poll.poll()
