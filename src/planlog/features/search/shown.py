"""Words what was found for a model: whole lines, as many as fit, and nothing in them that looks like another line."""

import re
from collections.abc import Iterable, Sequence

from planlog.features.search.answers import Found
from planlog.tools.workspace import quoted

LINES = 200
"""Lines of a result, at most."""
ROOM = 28_000
"""Characters: what is left of the cap of a result is for the notices at its end."""

# Characters that end a line for somebody, move a cursor, cannot be seen or turn the direction of writing, as signs.
_SIGNS = (
    {code: chr(0x2400 + code) for code in range(0x20) if chr(code) != "\t"}
    | {0x7F: "\u2421"}
    | {
        code: f"<U+{code:04X}>"
        for code in (*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    }
)
# A name with a colon or a number between dashes could be read as another name with the number of a line behind it.
_AMBIGUOUS = re.compile(r'[:"\\]|-\d+-|^[\[\s]|\s$|^--$')


def named(path: str) -> str:
    """`path` as it is, or in quotes where it could be mistaken for something else."""
    return quoted(path) if not path.isprintable() or _AMBIGUOUS.search(path) else path


def worded(found: Found) -> str:
    """`path:12:text` for a match, `path-11-text` for a line beside one."""
    sign = ":" if found.is_match else "-"
    return f"{named(found.path)}{sign}{found.number or '?'}{sign}{found.text.translate(_SIGNS)}"


def blocks(lines: Sequence[Found]) -> Iterable[str]:
    """The lines in order, with `--` where some are left out between lines that are shown with those around them."""
    last: Found | None = None
    for line in lines:
        if last is not None and (line.path != last.path or line.number > last.number + 1):
            yield "--"
        yield worded(line)
        last = line


def fitting(lines: Iterable[str]) -> list[str]:
    """The first lines that fit in a result: always whole ones, and at least one."""
    kept: list[str] = []
    room = ROOM
    for line in lines:
        room -= len(line) + 1
        if kept and (room < 0 or len(kept) >= LINES):
            break
        kept.append(line)
    return kept


def counted(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
