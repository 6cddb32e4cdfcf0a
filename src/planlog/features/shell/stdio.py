"""How a command looks in the terminal: the command, how it ended, and the last lines that it printed."""

import re
from collections.abc import AsyncGenerator, Sequence

from planlog.faces.renders import Call, Line, Renders, Row, Span
from planlog.faces.stdio import StdioRenders
from planlog.features.shell.tool import NAME, Command, first_line
from planlog.tools.schema import Violations, check_arguments

LINES = 10
"""How many lines of output are shown."""
DROPPED = re.compile(r"^\[… (\d+) characters dropped …\]$", re.MULTILINE)
"""The mark of `Output`, where the middle of what was printed is missing."""
WIDTH = 500
"""How many characters of a line."""


def bash_row(call: Call) -> Row:
    """`$ command`, `exit code 3`, and the output's last `LINES` lines under a count of the hidden ones."""
    params = check_arguments(Command, call.arguments)
    title = NAME if isinstance(params, Violations) else f"$ {first_line(params.command)}"
    if call.result is None:
        return Row(title)
    if not call.is_error:
        return Row(title, "exit code 0", body=last_lines(call.result))
    ending, _, output = call.result.removeprefix("Error: ").partition("\n")
    return Row(title, ending, body=last_lines(output))


def totals(calls: Sequence[Call]) -> str:
    """`3 commands (1 failed)`."""
    commands = [call for call in calls if call.name == NAME]
    if not commands:
        return ""
    failed = sum(call.is_error for call in commands)
    counted = f"{len(commands)} command{'' if len(commands) == 1 else 's'}"
    return f"{counted} ({failed} failed)" if failed else counted


def last_lines(output: str) -> tuple[Line, ...]:
    """The end of the output, each line as a terminal would leave it after the last carriage return."""
    lines = output.rsplit("\n", LINES) if output else []
    above = lines.pop(0) if len(lines) > LINES else None
    shown: list[Line] = [(Span(_settled(line)),) for line in lines]
    if above is not None:
        hidden = above.count("\n") + 1
        dropped = DROPPED.search(above)
        more = f", and {dropped[1]} characters between them that nobody kept" if dropped else ""
        shown.insert(0, (Span(f"… {hidden} more line{'s' if hidden > 1 else ''} above{more}", "dim"),))
    return tuple(shown)


def _settled(line: str) -> str:
    last = line.rstrip("\r").rpartition("\r")[2]
    return last if len(last) <= WIDTH else f"{last[:WIDTH]}…"


async def plugin(screen: StdioRenders) -> AsyncGenerator[None]:
    """Draws `bash` on the terminal."""
    with screen.add(Renders(rows={NAME: bash_row}, totals=totals)):
        yield
