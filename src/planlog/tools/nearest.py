"""Finds the tool that a model probably meant when it used a name that does not exist."""

import re
from collections.abc import Iterable

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LIKE_ENOUGH = 0.75
_NAME_READ = 100


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of `names` most like `name`, or None when none is like it; of equals the first.

    A namespace before the last dot, colon or slash, the case, the separators, the order of the words and a plural do
    not count: `TodoWrite`, `functions.todo_write` and `write_todos` are all `todo_write`.
    """
    from difflib import SequenceMatcher  # only a wrong name pays for it

    wanted = _words(name)
    best, best_likeness = None, _LIKE_ENOUGH
    for candidate in names:
        words = _words(candidate)
        likeness = max(
            SequenceMatcher(None, "".join(wanted), "".join(words), autojunk=False).ratio(),
            SequenceMatcher(None, " ".join(sorted(wanted)), " ".join(sorted(words)), autojunk=False).ratio(),
        )
        if likeness > best_likeness or (best is None and likeness == best_likeness):
            best, best_likeness = candidate, likeness
    return best


def _words(name: str) -> list[str]:
    own = re.split(r"[.:/]", name[:_NAME_READ].strip())[-1]
    words = [word.lower() for word in _WORD.findall(own)]
    return [word.removesuffix("s") if len(word) > 3 else word for word in words]
