"""Opens a file of the workspace for reading, without waiting and without leaving the workspace."""

import os
import stat
from pathlib import Path

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace.mounts import mount_of
from planlog.tools.workspace.walking import LINK, open_folder, parts_of
from planlog.tools.workspace.wording import failed, kind_of_file, moved, outside, quoted

# No link is followed, no FIFO waited for, no terminal taken over, and no child gets it.
READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NAMES_READ = 5000


def open_file(root: Path, place: str) -> int:
    """A descriptor for reading the file at `place`, which `confine` gave; whoever calls closes it.

    Raises `ToolFailure` for a place that has no file, or one that may not be read.
    """
    parts = parts_of(root, place)
    if not parts:
        raise ToolFailure(f"{quoted(place)} is a folder, not a file")
    with open_folder(root, parts[:-1]) as (folder, mount):
        try:
            descriptor = open_regular(folder, parts[-1], place)
        except FileNotFoundError as error:
            raise ToolFailure(f"{quoted(place)} does not exist{_meant(folder, parts)}") from error
        if mount_of(descriptor) != mount:
            os.close(descriptor)
            raise outside(place, root)
        return descriptor


def open_regular(folder: int, name: str, place: str) -> int:
    """A descriptor for reading the file `name` in an open folder. Only a missing file is left to the caller."""
    try:
        # Asked first, since to open a device can already do something.
        check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), place)
        descriptor = os.open(name, READING, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise moved(place) if error.errno in LINK else failed(place, error) from error
    try:
        check_regular(os.fstat(descriptor), place)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_regular(status: os.stat_result, place: str) -> None:
    """Raises `ToolFailure` for what is no file."""
    if stat.S_ISLNK(status.st_mode):
        raise moved(place)
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{quoted(place)} is {kind_of_file(status.st_mode)}, not a file")


def _meant(folder: int, parts: tuple[str, ...]) -> str:
    """A hint at the name in the folder that is most like the missing one, if there is any."""
    from difflib import get_close_matches  # only a wrong name pays for it

    try:
        listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return ""
    try:
        with os.scandir(listing) as entries:
            names = [entry.name for entry, _ in zip(entries, range(_NAMES_READ), strict=False)]
    finally:
        os.close(listing)
    folded = {name.casefold(): name for name in sorted(names)}
    for like in get_close_matches(parts[-1].casefold(), folded, n=1, cutoff=0.7):
        return f"; did you mean {quoted('/'.join((*parts[:-1], folded[like])))}?"
    return ""
