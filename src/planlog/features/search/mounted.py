"""Tells where something else is mounted below a folder: that is not part of the workspace."""

import os
import re

_OCTAL = re.compile(rb"\\([0-7]{3})")


def mounted_below(folder: str) -> tuple[str, ...]:
    """The paths below `folder`, a real path, where something is mounted; where the system does not tell, none.

    Another device is left out by the engines themselves, so this is about parts of the same one.
    """
    try:
        with open("/proc/self/mountinfo", "rb") as table:
            points = [_OCTAL.sub(_byte, line.split(b" ", 5)[4]) for line in table]
    except OSError:
        return ()
    above = os.fsencode(folder).rstrip(b"/") + b"/"
    return tuple(sorted({os.fsdecode(point[len(above) :]) for point in points if point.startswith(above)}))


def _byte(match: "re.Match[bytes]") -> bytes:
    return bytes([int(match[1], 8)])
