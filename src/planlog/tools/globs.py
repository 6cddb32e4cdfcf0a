"""Matches paths with globs: `*.py`, `src/**/*.{ts,tsx}`. Standard library only: the engine without ripgrep runs it."""

import re
from collections.abc import Callable
from fnmatch import translate

MOST = 100
"""How many globs one with braces may stand for."""

# What means the same to ripgrep, whatever bytes a name is made of.
_ALIKE = re.compile(r"[\w.*+-]+")


class GlobError(ValueError):
    """A text that is no glob."""


def alternatives(pattern: str) -> list[str]:
    """The globs without braces that `pattern` stands for. Braces that do not close are what they are."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        one = todo.pop()
        parts = _first_braces(one)
        if parts is None:
            done.append(one)
        else:
            before, inner, after = parts
            todo.extend(f"{before}{choice}{after}" for choice in reversed(inner))
        if len(todo) + len(done) > MOST:
            raise GlobError(f"it stands for more than {MOST} globs")
    return done


def _first_braces(glob: str) -> tuple[str, list[str], str] | None:
    start = -1
    depth = 0
    commas: list[int] = []
    for at, sign in enumerate(glob):
        if sign == "{":
            if depth == 0:
                start, commas = at, [at]
            depth += 1
        elif sign == "," and depth == 1:
            commas.append(at)
        elif sign == "}" and depth:
            depth -= 1
            if depth == 0:
                ends = [*commas[1:], at]
                choices = [glob[a + 1 : b] for a, b in zip(commas, ends, strict=True)]
                return glob[:start], choices, glob[at + 1 :]
    return None


def matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a relative path is meant by `pattern`.

    `*`, `?` and `[…]` stay in one name, `**` crosses folders. A pattern without a slash means files of that name in any
    folder; one that ends in a slash, all that is below. The time grows with pattern and path alone, whatever they are.
    """
    globs = [_one(glob) for glob in alternatives(pattern)]
    return globs[0] if len(globs) == 1 else lambda path: any(glob(path) for glob in globs)


def names(pattern: str) -> list[str]:
    """Globs of names, one of which each path that `pattern` means has at its end; none where that says too little."""
    found = [glob.rpartition("/")[2] for glob in alternatives(pattern)]
    if all(_ALIKE.fullmatch(name) and name.strip("*") for name in found):
        return found
    return []


def _one(glob: str) -> Callable[[str], bool]:
    parts = _parts(glob)
    if len(parts) == 2 and parts[0] is None and parts[1] is not None:
        name = parts[1]
        return lambda path: bool(name(path.rpartition("/")[2]))
    return lambda path: _match(parts, path.split("/"))


_Part = Callable[[str], object] | None


def _parts(glob: str) -> list[_Part]:
    if glob.endswith("/"):
        glob += "**"
    if "/" not in glob:
        glob = f"**/{glob}"
    parts: list[_Part] = []
    for part in glob.removeprefix("./").removeprefix("/").split("/"):
        if part != "**":
            parts.append(re.compile(translate(part.replace("[^", "[!"))).match)
        elif not parts or parts[-1] is not None:
            parts.append(None)
    return parts


def _match(parts: list[_Part], path: list[str]) -> bool:
    # For each beginning of the glob: the numbers of names that it can use up.
    reached = {0}
    for index, part in enumerate(parts):
        if part is None:
            # At the end it is all that is in a folder, and not the folder itself.
            least = min(reached, default=len(path) + 1) + (index == len(parts) - 1)
            reached = set(range(least, len(path) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(path) and part(path[at])}
    return len(path) in reached
