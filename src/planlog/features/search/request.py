"""What an engine is asked for; both engines give the same answer in the same format.

Names come as `path NUL`, where there has to be a match as `path NUL count LF`; lines come as ripgrep's JSON messages:
the format that is unambiguous for every name and every content, and says where in a line a match is.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """A search in the folder that the engine is started in, or in the one file that is its standard input.

    `pattern` None asks for the names of all files. `only_names` wants the names of files that have a match. `glob` says
    which files count. `left_out` are paths below the folder where something else is mounted.
    """

    pattern: str | None = None
    glob: str = ""
    ignore_case: bool = False
    context: int = 0
    only_names: bool = False
    in_file: bool = False
    left_out: tuple[str, ...] = ()

    @property
    def lists_names(self) -> bool:
        """Whether the answer is names and not lines."""
        return self.pattern is None or self.only_names


# An escape with what belongs to it, a set of characters, or a brace that begins no count.
_TOKEN = re.compile(r"\\[pPxuUb]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(?!\d+(?:,\d*)?\}|,\d+\})")


def tolerant(pattern: str) -> str:
    """`pattern` with an escape before each brace that begins no count: programs are full of them, as in `main() {`."""
    return _TOKEN.sub(lambda match: r"\{" if match[0] == "{" else match[0], pattern)
