"""Writes a file of the workspace so that nobody ever finds half of it."""

import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace.mounts import Mount, mount_of
from planlog.tools.workspace.opening import open_regular
from planlog.tools.workspace.temporary import Temporary, temporary_file
from planlog.tools.workspace.walking import open_folder, open_root, parts_of, step_into
from planlog.tools.workspace.wording import failed, moved, quoted

PIECE = 1 << 20
"""Bytes that are written or compared at once."""


def replace_file(root: Path, place: str, data: bytes, *, before: bytes | None, stopped: Callable[[], bool]) -> None:
    """Makes `data` the content of the file at `place`, which `confine` gave, with the folders on the way to it.

    Only if the file still holds `before`, or does not exist where that is None; else, and for whatever fails, a
    `ToolFailure`, and all is as it was. The new content is written beside the old one and takes its name in one step.
    So the folder has to be writable; so a file with several names (hard links) becomes one of its own, and the others
    keep the old content: often they are in a package store or a backup that is not ours to change. The mode is kept,
    the owner where the system lets us. A file that may not be written stays, though its folder would let us replace it.

    Between the last look at the old content and the step in which the new one takes its place are microseconds in
    which a change by somebody else is lost. Where there was no file, nothing is ever lost.
    """
    parts = parts_of(root, place)
    if not parts:
        raise ToolFailure(f"{quoted(place)} is a folder, not a file")
    with _made_folder(root, parts[:-1]) as (folder, mount):
        old = _look(folder, parts[-1], place, before, mount)
        with _written(folder, place, data, old, stopped) as temporary:
            with open_folder(root, parts[:-1]) as (now, _):
                if not os.path.samestat(os.fstat(now), os.fstat(folder)):
                    raise moved(place)
            _look(folder, parts[-1], place, before, mount)
            if stopped():
                raise _stopped(place)
            _give_name(folder, temporary, parts[-1], place, is_new=old is None)


@contextmanager
def _made_folder(root: Path, parts: tuple[str, ...]) -> Generator[tuple[int, Mount]]:
    """As `open_folder`, with what is missing made; what was made goes again when the block fails."""
    with ExitStack() as closing:
        here, mount = closing.enter_context(open_root(root))
        made: list[int] = []  # by their numbers in `parts`
        opened = [here]
        try:
            for index, name in enumerate(parts):
                try:
                    os.mkdir(name, dir_fd=here)
                    made.append(index)
                except FileExistsError:
                    pass
                except OSError as error:
                    raise failed("/".join(parts[: index + 1]), error) from error
                here = step_into(root, here, parts[: index + 1], mount)
                closing.callback(os.close, here)
                opened.append(here)
            yield here, mount
            for index in made:
                _sync_folder(opened[index])
        except BaseException:
            for index in reversed(made):
                _remove_folder(opened, index, parts[index])
            raise


def _remove_folder(opened: Sequence[int], index: int, name: str) -> None:
    """Removes a folder that was made; one in which somebody has put something, or that is another by now, stays."""
    with suppress(OSError):
        found = os.stat(name, dir_fd=opened[index], follow_symlinks=False)
        if index + 1 == len(opened) or os.path.samestat(found, os.fstat(opened[index + 1])):
            os.rmdir(name, dir_fd=opened[index])


def _look(folder: int, name: str, place: str, before: bytes | None, mount: Mount) -> os.stat_result | None:
    """The status of the file, None where there is none. Raises `ToolFailure` unless it is as `before` says."""
    try:
        descriptor = open_regular(folder, name, place)
    except FileNotFoundError as error:
        if before is None:
            return None
        raise moved(place) from error
    try:
        status = os.fstat(descriptor)
        if mount_of(descriptor) != mount:
            raise ToolFailure(f"{quoted(place)} is outside of the workspace: something is mounted there")
        if before is None or not _holds(descriptor, before):
            raise moved(place)
    except OSError as error:
        raise failed(place, error) from error
    finally:
        os.close(descriptor)
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=os.access in os.supports_effective_ids):
        raise ToolFailure(f"{quoted(place)} is read-only")
    return status


def _holds(descriptor: int, before: bytes) -> bool:
    at = 0
    while piece := os.read(descriptor, PIECE):
        if before[at : at + len(piece)] != piece:
            return False
        at += len(piece)
    return at == len(before)


@contextmanager
def _written(
    folder: int, place: str, data: bytes, old: os.stat_result | None, stopped: Callable[[], bool]
) -> Generator[Temporary]:
    """A file in the folder of the one to be replaced, with `data` on the disk."""
    with ExitStack() as closing:
        try:
            # Folder and umask decide the mode of a new file; what replaces another is nobody's until it is whole.
            temporary = closing.enter_context(temporary_file(folder, 0o666 if old is None else 0o600))
            rest = memoryview(data)
            while rest:
                if stopped():
                    raise _stopped(place)
                rest = rest[os.write(temporary.descriptor, rest[:PIECE]) :]
            if old is not None:
                _keep_owner_and_mode(temporary.descriptor, old)
            os.fsync(temporary.descriptor)
        except FileNotFoundError as error:  # the folder itself is gone
            raise moved(place) from error
        except OSError as error:
            raise failed(place, error) from error
        yield temporary


def _keep_owner_and_mode(descriptor: int, old: os.stat_result) -> None:
    mode = stat.S_IMODE(old.st_mode)
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError:
            mode &= 0o777  # a program that runs as its owner must not become one that runs as somebody else
    os.fchmod(descriptor, mode)


def _give_name(folder: int, temporary: Temporary, name: str, place: str, *, is_new: bool) -> None:
    try:
        if is_new:
            temporary.take(name)
        else:
            temporary.replace(name)
    except FileExistsError as error:
        raise moved(place) from error
    except OSError as error:
        raise failed(place, error) from error
    _sync_folder(folder)


def _sync_folder(folder: int) -> None:
    """Puts the folder's names on the disk. The file has its new content by now, so a failure here undoes nothing."""
    with suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _stopped(place: str) -> ToolFailure:
    return ToolFailure(f"stopped before {quoted(place)} was written; nothing was changed")
