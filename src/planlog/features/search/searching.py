"""Carries out a search: finds the place, chooses the engine, and keeps what it answers within bounds. Blocks."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from signal import Signals

from planlog.features.search.child import Cut, run
from planlog.features.search.mounted import mounted_below
from planlog.features.search.request import Request
from planlog.features.search.ripgrep import command, find_ripgrep
from planlog.tools.globs import GlobError, matcher
from planlog.tools.tool import ToolFailure
from planlog.tools.workspace import confine, open_file, quoted
from planlog.tools.workspace.walking import open_folder, parts_of

SECONDS = 20.0
"""For which an engine may search."""
HOUSE = Path(__file__).parents[3]
"""The folder that planlog lies in."""
_START = (
    "import json, sys; sys.path.append(sys.argv[2]); "
    "from planlog.features.search.without_ripgrep import main; sys.exit(main(json.loads(sys.argv[1])))"
)

Take = Callable[[bytes], bool]
Stopped = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Searched:
    """How a search ended.

    `place` is where; `cut` why it was stopped, after `seconds` at the latest; `unread`, that some of it could not be
    read.
    """

    place: str
    cut: Cut
    unread: bool
    seconds: float


def wanted(glob: str) -> Callable[[str], bool]:
    """Whether a path counts; every path where `glob` is empty. Raises `ToolFailure` for a text that is no glob."""
    try:
        return matcher(glob) if glob else lambda path: True
    except GlobError as error:
        raise ToolFailure(f"{quoted(glob)} is no glob: {error}") from error


def search(
    root: Path,
    path: str,
    request: Request,
    take: Take,
    stopped: Stopped,
    seconds: float = SECONDS,
) -> Searched:
    """Searches the folder or the file `path` of the workspace `root`, and gives `take` what the engine answers."""
    place = confine(root, path)
    with _entered(root, place, for_names=request.pattern is None) as (folder, given):
        asked = replace(request, in_file=given != subprocess.DEVNULL, left_out=mounted_below(_real(root, place)))
        rg = find_ripgrep(root)
        line = command(rg, asked) if rg else [*_python(), json.dumps(asdict(asked)), str(HOUSE)]
        ended = run(line, folder=folder, given=given, seconds=seconds, stopped=stopped, take=take)
    if ended.cut or ended.status in (0, 1) or (ended.status == 2 and not ended.complaint.strip()):
        return Searched(place, ended.cut, ended.status == 2, seconds)
    raise ToolFailure(_reason(ended.status, ended.complaint))


def _python() -> list[str]:
    # Isolated, and without a look at what is installed: it starts in half the time.
    return [sys.executable, "-I", "-S", "-c", _START]


def _real(root: Path, place: str) -> str:
    return os.path.normpath(os.path.join(os.path.realpath(root), place))


@contextmanager
def _entered(root: Path, place: str, *, for_names: bool) -> Generator[tuple[str, int]]:
    """The folder to start the engine in and its input: the file, where the place is one.

    Both are reached without following a link, and handed over open, so that nobody can exchange them.
    """
    with ExitStack() as stack:
        parts = parts_of(root, place)
        try:
            descriptor, _ = stack.enter_context(open_folder(root, parts))
        except ToolFailure:
            if for_names or not parts:
                raise
            given = open_file(root, place)
            stack.callback(os.close, given)
            yield str(root), given
        else:
            entered = f"/proc/self/fd/{descriptor}"
            yield entered if os.path.isdir(entered) else _real(root, place), subprocess.DEVNULL


def _reason(status: int, complaint: str) -> str:
    """What the engine says, in one line."""
    if status < 0:
        return f"the search was ended by {Signals(-status).name}; narrow the path"
    lines = [line.strip().removeprefix("rg: ") for line in complaint.splitlines() if line.strip()]
    said = next(
        (line.removeprefix("error: ") for line in lines if line.startswith("error: ")), lines[0] if lines else ""
    )
    if 'literal "\\n"' in said:
        said = "a match lies within one line, so it can have no line feed in it"
    return f"the pattern cannot be used: {said[:300]}" if said else f"the search failed with exit code {status}"
