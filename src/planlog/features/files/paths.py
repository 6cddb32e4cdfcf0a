"""Matches places of the workspace with the patterns of rules: `src/**`, `*.env`, `docs/README.md`."""

from fnmatch import fnmatchcase
from pathlib import Path

from planlog.tools.tool import Coverage, ToolFailure
from planlog.tools.workspace import confine

GIT = ".git"
"""What is in there runs commands (hooks, aliases), so nobody allows it by the way."""


def matches(pattern: str, place: str) -> bool:
    """Whether the glob `pattern` means `place`, a path below the workspace.

    `*` and `?` stay in one name, `**` crosses folders, `[…]` is one of some characters. A pattern without a slash
    means files of that name in any folder, one with a slash begins at the workspace; so `/a` is only the `a` right in
    it. `src/` is all below `src`. The empty pattern means everything.
    """
    if not pattern:
        return True
    if pattern.endswith("/"):
        pattern += "**"
    if "/" not in pattern:
        pattern = f"**/{pattern}"
    return _match(pattern.removeprefix("/").removeprefix("./").split("/"), place.split("/"))


def _match(globs: list[str], names: list[str]) -> bool:
    # For each beginning of the globs: the numbers of names that it can use up.
    reached = {0}
    for index, glob in enumerate(globs):
        if glob == "**":
            # At the end it is all that is in a folder, and not the folder itself.
            least = min(reached, default=len(names) + 1) + (index == len(globs) - 1)
            reached = set(range(least, len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], glob)}
    return len(names) in reached


def coverage(pattern: str, place: str) -> Coverage:
    """What a rule with `pattern` covers of a call that is about `place`.

    Only "some", which is too little for a rule that allows and enough for one that forbids, for what is in a `.git`
    that the pattern does not name.
    """
    if not matches(pattern, place):
        return "none"
    in_git = any(name.casefold() == GIT for name in place.split("/"))
    return "some" if in_git and GIT not in pattern.casefold().split("/") else "all"


def covers(pattern: str, path: str, folder: Path) -> Coverage:
    """The same for a `path` as a model wrote it: what counts is the place in `folder` that it leads to.

    A path that leads nowhere is covered by nothing; whatever is done with it fails.
    """
    try:
        return coverage(pattern, confine(folder, path))
    except ToolFailure:
        return "none"


def literal(place: str) -> str:
    """The pattern that means exactly `place`, for a rule that a person is offered."""
    escaped = "".join(f"[{sign}]" if sign in "*?[" or sign.isspace() else sign for sign in place)
    return escaped if "/" in escaped else f"/{escaped}"
