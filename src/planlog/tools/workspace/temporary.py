"""A file that is written before it has its name, so that whoever looks finds the old content or the new."""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress


class Temporary:
    """An open file in the open `folder`; it is gone when its block ends, unless it got a name.

    On Linux it has no name before, so nothing is left of it even where the program is killed. Other systems, and some
    file systems, can only give it one that nobody else uses.
    """

    def __init__(self, folder: int, descriptor: int, name: str | None) -> None:
        self.descriptor = descriptor
        self._folder = folder
        self._name = name

    def take(self, name: str) -> None:
        """Becomes the file of that name. Raises `FileExistsError` where there is one."""
        if self._name is None:
            # The only way to name what has none; the link in /proc stands for the open file itself.
            os.link(f"/proc/self/fd/{self.descriptor}", name, dst_dir_fd=self._folder, follow_symlinks=True)
            return
        try:
            os.link(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS):
                raise
            # A file system without hard links, such as FAT: what remains is to look first.
            with suppress(FileNotFoundError):
                os.stat(name, dir_fd=self._folder, follow_symlinks=False)
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from error
            self._rename(name)

    def replace(self, name: str) -> None:
        """Becomes the file of that name, in place of the one that is there."""
        if self._name is None:
            passing = _unused_name()
            self.take(passing)
            self._name = passing
        self._rename(name)

    def _rename(self, name: str) -> None:
        assert self._name is not None
        os.rename(self._name, name, src_dir_fd=self._folder, dst_dir_fd=self._folder)

    def close(self) -> None:
        """Ends it; a name that was only for the meantime goes."""
        os.close(self.descriptor)
        if self._name is not None:
            with suppress(FileNotFoundError):
                os.unlink(self._name, dir_fd=self._folder)


@contextmanager
def temporary_file(folder: int, mode: int) -> Generator[Temporary]:
    """A new file in the open `folder`, for writing, with what the umask and the folder leave of `mode`."""
    temporary = _nameless(folder, mode) or _named(folder, mode)
    try:
        yield temporary
    finally:
        temporary.close()


def _nameless(folder: int, mode: int) -> Temporary | None:
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        descriptor = os.open(".", flag | os.O_WRONLY | os.O_CLOEXEC, mode, dir_fd=folder)
    except OSError:  # a file system that cannot; whatever else is wrong is met again with a name
        return None
    if os.path.lexists(f"/proc/self/fd/{descriptor}"):
        return Temporary(folder, descriptor, None)
    os.close(descriptor)
    return None


def _named(folder: int, mode: int) -> Temporary:
    name = _unused_name()
    creating = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return Temporary(folder, os.open(name, creating, mode, dir_fd=folder), name)


def _unused_name() -> str:
    return f".planlog-{os.urandom(8).hex()}.tmp"
