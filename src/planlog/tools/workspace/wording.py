"""Words what is wrong with a path, for a model: one line, whatever the path has in it."""

import errno
import re
import stat

from planlog.tools.tool import ToolFailure

LONGEST = 300
"""Characters of a path that are shown."""

# Whatever moves a cursor, ends a line or turns the direction of writing, and halves of characters.
_UNSEEN = re.compile('[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"\\\\]')
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def quoted(path: str) -> str:
    """`path` in double quotes, on one line, with nothing in it that a terminal obeys."""
    return f'"{plain(path)}"'


def plain(path: str) -> str:
    """The same without the quotes."""
    return _UNSEEN.sub(_escape, path if len(path) <= LONGEST else f"{path[:LONGEST]}…")


def _escape(match: "re.Match[str]") -> str:
    character = match[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def kind_of_file(mode: int) -> str:
    """What a file of this `st_mode` is: "a file", "a folder", "a FIFO", …"""
    for is_kind, kind in (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
    ):
        if is_kind(mode):
            return kind
    return "a device"


def outside(path: str, root: object) -> ToolFailure:
    """The path leads out of the workspace."""
    return ToolFailure(f"{quoted(path)} is outside of the workspace {plain(str(root))}")


def moved(path: str) -> ToolFailure:
    """What was looked at is not what is there now."""
    return ToolFailure(f"{quoted(path)} changed meanwhile; read it again")


def failed(path: str, error: OSError) -> ToolFailure:
    """What the operating system refused."""
    match error.errno:
        case errno.ENOENT:
            reason = " does not exist"
        case errno.EACCES | errno.EPERM:
            reason = ": permission denied"
        case errno.ENAMETOOLONG:
            reason = " is too long for a path"
        case errno.ELOOP:
            reason = " is a link that leads back to itself"
        case _:
            reason = f": {error.strerror or error}"
    return ToolFailure(f"{quoted(path)}{reason}")
