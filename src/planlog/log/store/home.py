"""Where planlog keeps what it must remember: one folder for each user."""

import os
import sys
from pathlib import Path

import msgspec

from planlog.log.store import StoreError


class Home(msgspec.Struct, frozen=True):
    """The folder of the database, absolute. It need not exist yet."""

    path: Path


def default_home() -> Home:
    """`$PLANLOG_HOME`, else the platform's folder for a user's data. Raises `StoreError` where neither is known."""
    if chosen := os.environ.get("PLANLOG_HOME"):
        return Home(Path(chosen).absolute())
    if sys.platform == "win32":
        return Home(_folder("LOCALAPPDATA") / "planlog")
    if sys.platform == "darwin":
        return Home(_folder("HOME") / "Library" / "Application Support" / "planlog")
    # The XDG specification says that a relative path is to be ignored.
    if os.path.isabs(data := os.environ.get("XDG_DATA_HOME", "")):
        return Home(Path(data) / "planlog")
    return Home(_folder("HOME") / ".local" / "share" / "planlog")


def _folder(variable: str) -> Path:
    if folder := os.environ.get(variable):
        return Path(folder).absolute()
    raise StoreError(f"cannot tell where to keep sessions: {variable} is not set; set PLANLOG_HOME or pass --home")
