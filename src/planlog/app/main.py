"""The door of the program: a fast answer to `--version`; behind it the commands, and a line for what goes wrong."""

import sys
from collections.abc import Sequence

from planlog import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        try:
            sys.stdout.write(f"planlog {__version__}\n")
            sys.stdout.flush()
            return 0
        except (AttributeError, OSError):
            pass  # stdout is closed or full: the way below says so
    try:
        from planlog.app.running import run_command_line
    except KeyboardInterrupt:
        return 130
    return run_command_line(arguments)
