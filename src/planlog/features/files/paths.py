"""Matches places of the workspace with the patterns of rules: `src/**`, `*.env`, `docs/README.md`."""

import re
from pathlib import Path

from planlog.tools.globs import matcher
from planlog.tools.tool import Coverage, ToolFailure
from planlog.tools.workspace import confine

GIT = ".git"
"""What is in there runs commands (hooks, aliases), so nobody allows it by the way."""


def matches(pattern: str, place: str) -> bool:
    """Whether `pattern` means `place`, a path below the workspace: a glob, see `globs.matcher`, or several with spaces.

    A pattern without a slash means files of that name in any folder, one with a slash begins at the workspace; so `/a`
    is only the `a` right in it. The empty pattern means everything.
    """
    return not pattern or any(matcher(one)(place) for one in _globs(pattern))


def _globs(pattern: str) -> list[str]:
    """The globs of a pattern: spaces part them, except in brackets."""
    return re.findall(r"(?:\[[^\]]*\]|\S)+", pattern)


def _is_below(pattern: str, place: str) -> bool:
    """Whether `pattern` means a folder that `place` is in."""
    names = place.split("/")
    folders = ["/".join(names[:depth]) for depth in range(1, len(names))]
    return any(matches(one.rstrip("/"), folder) for one in _globs(pattern) for folder in folders)


def coverage(pattern: str, place: str) -> Coverage:
    """What a rule with `pattern` covers of a call that is about `place`.

    Only "some", which is too little for a rule that allows and enough for one that forbids, for what is in a folder
    that the pattern means, and for what is in a `.git` that it does not name.
    """
    if not matches(pattern, place):
        return "some" if _is_below(pattern, place) else "none"
    in_git = any(name.casefold() == GIT for name in place.split("/"))
    return "some" if in_git and GIT not in pattern.casefold().split("/") else "all"


def covers(pattern: str, path: str, folder: Path) -> Coverage:
    """The same for a `path` as a model wrote it: what counts is the place in `folder` that it leads to.

    A path that leads nowhere is covered by nothing; whatever is done with it fails.
    """
    try:
        place = confine(folder, path)
    except ToolFailure:
        return "none"
    here = f"{folder}/"
    return coverage(
        " ".join(f"/{one.removeprefix(here)}" if one.startswith(here) else one for one in _globs(pattern)), place
    )


def literal(place: str) -> str:
    """The pattern that means exactly `place`, for a rule that a person is offered."""
    escaped = "".join(f"[{sign}]" if sign in "*?[" or sign.isspace() else sign for sign in place)
    return escaped if "/" in escaped else f"/{escaped}"
