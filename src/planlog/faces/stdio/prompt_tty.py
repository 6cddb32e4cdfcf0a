"""The terminal under the prompt line: its size, what was typed too early, and how it is given back."""

import os
import select
import sys
import termios
from collections.abc import Callable

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding import KeyPress

TYPE_AHEAD = 1 << 16
"""Bytes of what was typed too early that count."""
PARTING = b"\x1b[?2004l\x1b[?25h\x1b[0m\r\x1b[J"
"""Ends pasted text's brackets, shows the cursor, and erases the line that is being typed."""


def terminal_size() -> Size:
    """Rows and columns; the usual ones where the terminal says 0 or nothing."""
    try:
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
    except OSError:
        columns = rows = 0
    return Size(rows=rows or 24, columns=columns or 80)


def take_type_ahead(line: Input) -> None:
    """Gives `line` what was typed before it was there: so far the terminal turned the return key into a line feed."""
    keys: list[KeyPress] = []
    if select.select([sys.stdin], [], [], 0)[0]:
        parser = Vt100Parser(keys.append)
        parser.feed(os.read(sys.stdin.fileno(), TYPE_AHEAD).replace(b"\n", b"\r").decode(errors="replace"))
        parser.flush()
    store_typeahead(line, keys)


def restoring() -> Callable[[], None]:
    """An act that gives the terminal back as it is now, for whoever leaves without ending the line."""
    attributes = termios.tcgetattr(sys.stdin)

    def restore() -> None:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, attributes)
        os.write(sys.stdout.fileno(), PARTING)

    return restore
