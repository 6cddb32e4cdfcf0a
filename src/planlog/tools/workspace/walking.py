"""Goes from the workspace to a folder in it, one name at a time, through no link and onto no other mount."""

import errno
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace.mounts import PATH_ONLY, Mount, mount_of
from planlog.tools.workspace.wording import failed, kind_of_file, moved, outside, plain, quoted

# A folder that may be entered but not listed can still be walked through, where the system has a way to ask for that.
FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | (PATH_ONLY or os.O_RDONLY | os.O_NONBLOCK)
LINK = (errno.ELOOP, errno.EMLINK)
"""What an opening that follows no link fails with at one; not every system says the same."""
NO_FOLDER = (errno.ENOTDIR, *LINK)


def parts_of(root: Path, place: str) -> tuple[str, ...]:
    """The names on the way to `place`, which `confine` gave; anything else is refused."""
    if place == ".":
        return ()
    parts = tuple(place.split("/"))
    if any(part in ("", ".", "..") for part in parts):
        raise outside(place, root)
    return parts


@contextmanager
def open_root(root: Path) -> Generator[tuple[int, Mount]]:
    """A descriptor of the workspace itself, and its mount."""
    try:
        descriptor = os.open(root, FOLDER)
    except OSError as error:
        raise ToolFailure(f"the workspace {plain(str(root))} is not there: {error.strerror}") from error
    try:
        yield descriptor, mount_of(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def open_folder(root: Path, parts: Sequence[str]) -> Generator[tuple[int, Mount]]:
    """A descriptor of the folder at `parts`, good for reaching what is in it and no more, and the workspace's mount.

    Raises `ToolFailure` where one of the names is missing or no folder, a link by now, or a mount point.
    """
    with open_root(root) as (here, mount):
        opened: list[int] = []
        try:
            for index in range(len(parts)):
                here = step_into(root, here, parts[: index + 1], mount)
                opened.append(here)
            yield here, mount
        finally:
            for descriptor in opened:
                os.close(descriptor)


def step_into(root: Path, folder: int, parts: Sequence[str], mount: Mount) -> int:
    """A descriptor of the last of `parts`, a folder in the open `folder`, which the others led to."""
    place = "/".join(parts)
    try:
        descriptor = os.open(parts[-1], FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    except OSError as error:
        if error.errno not in NO_FOLDER:
            raise failed(place, error) from error
        kind = _kind_of(folder, parts[-1])
        if kind in ("a link", "a folder", "nothing"):
            raise moved(place) from error
        raise ToolFailure(f"{quoted(place)} is {kind}, not a folder") from error
    if mount_of(descriptor) != mount:
        os.close(descriptor)
        raise outside(place, root)
    return descriptor


def _kind_of(folder: int, name: str) -> str:
    try:
        return kind_of_file(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return "nothing"
