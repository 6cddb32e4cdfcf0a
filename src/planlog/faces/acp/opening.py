"""A session as it is open on the connection."""

from pathlib import Path

import msgspec

from planlog.faces.acp.telling import Telling
from planlog.log.session import Session
from planlog.tools.tool import Tools


class OpenSession(msgspec.Struct, frozen=True):
    """`folder` is where tools work, `tools` are those of the house and of the editor's servers.

    `own` are ids of messages on the log that the editor has sent, and so shows already.
    """

    session: Session
    folder: Path
    tools: Tools
    telling: Telling
    own: set[str]


def is_folder(path: Path) -> bool:
    """Whether there is a folder; where that cannot be found out there is none."""
    try:
        return path.is_dir()
    except OSError:
        return False
