"""Tells how much of a search a rule's pattern covers: `grep src/**`, `glob secrets/`."""

from pathlib import Path

from planlog.tools.globs import alternatives, matcher
from planlog.tools.tool import Coverage, ToolFailure
from planlog.tools.workspace import confine


def covers(pattern: str, path: str, folder: Path) -> Coverage:
    """A search of a file covers that file; one of a folder, all that is in it.

    So a rule that forbids some of what is in a folder forbids to search the folder.
    """
    if not pattern:
        return "all"
    try:
        place = confine(folder, path)
    except ToolFailure:
        return "none"
    means = matcher(pattern)
    if place != "." and (means(place) or (means(f"{place}/*") and pattern.endswith(("/", "/**")))):
        return "all"
    if place == "." and pattern in ("**", "/**"):
        return "all"
    return "some" if any(_reaches(glob, place) for glob in alternatives(pattern)) else "none"


def _reaches(glob: str, place: str) -> bool:
    """Whether something below `place` could be meant: what is literal at the beginning of the glob lies on the way."""
    if "/" not in glob.rstrip("/") or place == ".":
        return True
    names = glob.removeprefix("./").removeprefix("/").split("/")
    literal = [name for name, sign in zip(names, names, strict=True) if sign]
    for own, name in zip(place.split("/"), literal, strict=False):
        if any(sign in name for sign in "*?["):
            return True
        if own != name:
            return False
    return True
