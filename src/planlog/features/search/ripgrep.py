"""Finds ripgrep, and puts a request into its command line."""

import os
import re
import sys
from pathlib import Path

from planlog.features.search.request import Request
from planlog.tools.globs import names


def find_ripgrep(root: Path) -> str | None:
    """The path of `rg` beside the interpreter or on PATH; never one that lies in the workspace."""
    own = os.path.realpath(root)
    for folder in (os.path.dirname(sys.executable), *os.environ.get("PATH", "").split(os.pathsep)):
        path = os.path.join(folder, "rg")
        # A folder that is not absolute would be looked for wherever somebody stands.
        if not os.path.isabs(path) or not os.access(path, os.X_OK) or not os.path.isfile(path):
            continue
        if all(os.path.commonpath([own, way]) != own for way in (os.path.realpath(path), os.path.realpath(folder))):
            return path
    return None


def command(rg: str, request: Request) -> list[str]:
    """The command line. What is ignored follows the files of git alone, so that it is the same for everybody."""
    line = [rg, "--no-config", "--color=never", "--no-messages", "--no-mmap", "--no-follow", "--one-file-system"]
    line += ["--hidden", "--no-ignore-global", "--no-ignore-dot", "--iglob=!.git"]
    line += [f"--glob=!/{_literal(path)}" for path in request.left_out]
    # Not as --glob: one that says what counts would bring back what is ignored.
    if kinds := names(request.glob):
        line += [f"--type-add=wanted:{name}" for name in kinds] + ["--type=wanted"]
    if request.pattern is None:
        return [*line, "--files", "--null", "--", "./"]
    line += ["--ignore-case"] if request.ignore_case else ["--case-sensitive"]
    # Counted and not only found, so that each file is read to its end and a binary one is known as such.
    line += (
        ["--count", "--with-filename", "--null"] if request.only_names else ["--json", f"--context={request.context}"]
    )
    return [*line, "--crlf", f"--regexp={request.pattern}", "--", "-" if request.in_file else "./"]


def _literal(path: str) -> str:
    return re.sub(r"[\\*?\[\]{}!]", r"\\\g<0>", path)
