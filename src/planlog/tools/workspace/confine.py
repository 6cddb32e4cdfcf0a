"""Finds the real place of a path below the workspace, or says that it leads out of it."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from planlog.tools.tool import ToolFailure
from planlog.tools.workspace.mounts import mount_at
from planlog.tools.workspace.walking import FOLDER, open_root
from planlog.tools.workspace.wording import failed, outside, quoted

LINKS = 40
"""Links on one path, at most: as many as Linux follows."""
LONGEST = 4096
"""Bytes of a path, at most."""


def confine(root: Path, path: str) -> str:
    """The place of `path`, relative to `root` or absolute: a relative path without links, "." for `root` itself.

    It is spelled as its folders list it, and need not exist. Raises `ToolFailure` for what is no path, and for all
    that ends outside: by "..", by a link, by another mount. What is found holds for this moment only, so
    whoever opens the place walks there without following links.
    """
    _check_text(path)
    with open_root(root) as (folder, mount):
        names = _below(os.fstat(folder), _resolve(os.path.realpath(root), path))
        if names is None:
            raise outside(path, root)
        place: list[str] = []
        here = os.dup(folder)
        try:
            for name in names:
                place.append(_spelled(here, name))
                if mount_at(here, place[-1]) != mount:
                    raise outside(path, root)
                deeper = os.open(place[-1], FOLDER | os.O_NOFOLLOW, dir_fd=here)
                os.close(here)
                here = deeper
        except OSError as error:  # nothing is there, or no folder, or not for us: what follows is as it was written
            if path.endswith("/") and error.errno in (errno.ENOENT, errno.ENOTDIR):
                raise ToolFailure(f"{quoted(path)} is no folder that exists") from error
            place.extend(names[len(place) :])
        finally:
            os.close(here)
    found = "/".join(place) or "."
    if not found.isprintable() and any("\ud800" <= character <= "\udfff" for character in found):
        raise ToolFailure(f"{quoted(path)} leads to a name that is not UTF-8; a command can reach it")
    return found


def _check_text(path: str) -> None:
    if not path:
        raise ToolFailure("the path is empty")
    try:
        encoded = path.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure(f"{quoted(path)} is no path: it is not text") from error
    if "\0" in path:
        raise ToolFailure(f"{quoted(path)} is no path: it has a NUL in it")
    if len(encoded) > LONGEST:
        raise ToolFailure(f"{quoted(path)} is too long for a path")


def _resolve(base: str, path: str) -> str:
    """The absolute path without links that `path` stands for. What does not exist is taken to be no link.

    As `os.path.realpath`, which hides a link that leads back to itself, and goes on behind it with what it cannot see.
    """
    here = "/" if path.startswith("/") else base
    names = path.split("/")[::-1]
    links = 0
    while names:
        name = names.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = os.path.dirname(here)
            continue
        there = os.path.join(here, name)
        try:
            target = os.readlink(there)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise failed(path, error) from error
            here = there
            continue
        links += 1
        if links > LINKS:
            raise failed(path, OSError(errno.ELOOP, os.strerror(errno.ELOOP)))
        names.extend(target.split("/")[::-1])
        if target.startswith("/"):
            here = "/"
    return here


def _below(root: os.stat_result, real: str) -> Sequence[str] | None:
    """The names between the workspace and `real`; None where it is not above it.

    The folder is recognised by what it is, not by its name: it may be written in other letters, or be mounted twice.
    """
    names: list[str] = []
    while True:
        try:
            if os.path.samestat(os.lstat(real), root):
                return names[::-1]
        except OSError:
            pass
        real, name = os.path.split(real)
        if not name:
            return None
        names.append(name)


def _spelled(folder: int, name: str) -> str:
    """`name` as the open `folder` lists it where case does not count: rules and stamps go by names."""
    other = name.swapcase()
    if other == name:
        return name
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not os.path.samestat(found, os.stat(other, dir_fd=folder, follow_symlinks=False)):
            return name
        listing = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return name
    try:
        listed = os.listdir(listing)
        if name in listed:
            return name
        alike = (one for one in listed if one.casefold() == name.casefold())
        same = (one for one in alike if os.path.samestat(found, os.stat(one, dir_fd=folder, follow_symlinks=False)))
        return next(same, name)
    finally:
        os.close(listing)
