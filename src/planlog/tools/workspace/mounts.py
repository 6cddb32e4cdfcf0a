"""Tells whether two open files lie on the same mount: what is mounted in a workspace is not part of it."""

import os

Mount = tuple[str, int]
PATH_ONLY: int = getattr(os, "O_PATH", 0)
"""Opens what a path leads to without touching it; 0 where there is no such thing (macOS)."""


def mount_of(descriptor: int) -> Mount:
    """The mount that a descriptor was opened on.

    Where the system tells it (Linux), even a part of the same file system that is mounted a second time counts as
    another; elsewhere only another device does.
    """
    if PATH_ONLY:
        try:
            with open(f"/proc/self/fdinfo/{descriptor}", "rb") as info:
                for line in info:
                    if line.startswith(b"mnt_id:"):
                        return "mount", int(line[7:])
        except OSError:  # no /proc here
            pass
    return "device", os.fstat(descriptor).st_dev


def mount_at(folder: int, name: str) -> Mount:
    """The same for `name` in an open folder, which need not be readable. A link is not followed."""
    if not PATH_ONLY:  # opening a FIFO or a device could wait or do something
        return "device", os.stat(name, dir_fd=folder, follow_symlinks=False).st_dev
    descriptor = os.open(name, PATH_ONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        return mount_of(descriptor)
    finally:
        os.close(descriptor)
