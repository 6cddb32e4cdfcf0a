"""Signals every process of a POSIX session, whatever process groups it has made.

A shell with job control (`set -m`) and GNU `timeout` put what they start into groups of their own, which a signal to
the leader's group does not reach. All of them stay in the session of the shell that leads it; only `setsid` leaves.

Numbers are safe to use while the leader is not reaped: until then its number, and so the session's, belongs to nobody
else. The number of another group is read right before it is used; the system hands numbers out in a circle, so that
one which is given up at this very moment is the last to be given away again.
"""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

PROC = Path("/proc")
LOOKS = 100
"""Nothing that is killed can start anything more, so few are needed; more than these only for what outruns us."""


def signal_session(leader: int, number: int) -> frozenset[int]:
    """Sends the signal once to each group of the session that `leader` leads; the groups that were found.

    What belongs to another user is passed over. A process counts as found until it was reaped.
    """
    _signal_group(leader, number)
    groups = {leader}
    for process in process_ids():
        # It may have ended since; some systems tell nothing about a process of another session.
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(process) == leader and (group := os.getpgid(process)) not in groups:
                _signal_group(group, number)
                groups.add(group)
    return frozenset(groups)


def kill_session(leader: int) -> None:
    """KILL to each group of the session, until a look finds no group that the looks before it had not found."""
    found: frozenset[int] = frozenset()
    for _ in range(LOOKS):
        groups = signal_session(leader, SIGKILL)
        if groups <= found:
            return
        found |= groups


def process_ids() -> list[int]:
    """All processes that the system shows; none if it cannot be asked."""
    with suppress(OSError):
        if listed := [int(name) for name in os.listdir(PROC) if name.isdigit()]:
            return listed
    # macOS and most BSDs have no /proc.
    with suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(["ps", "-A", "-o", "pid="], capture_output=True, timeout=5, check=True)
        return [int(word) for word in listed.stdout.split()]
    return []


def _signal_group(group: int, number: int) -> None:
    # Nobody is left, or those left belong to another user.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
