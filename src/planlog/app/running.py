"""Runs one command line: from its words to an exit code, whatever happens in between."""

import os
from collections.abc import Sequence

from planlog.app.failure import report
from planlog.app.program import TerminalProgram
from planlog.app.tree import tree
from planlog.kernel.errors import ConfigError


def run_command_line(arguments: Sequence[str]) -> int:
    """The exit code of the command; what it raises becomes one line on stderr."""
    program = TerminalProgram(os.environ)
    try:
        if program.env.get("_PLANLOG_COMPLETE", "").endswith("_complete") and "COMP_WORDS" not in program.env:
            raise ConfigError("_PLANLOG_COMPLETE is for shells, which set COMP_WORDS with it; unset it")
        return tree.main(list(arguments), prog_name="planlog", standalone_mode=False, obj=program) or 0
    except BaseException as error:
        return report(error, program)
    finally:
        program.close()
