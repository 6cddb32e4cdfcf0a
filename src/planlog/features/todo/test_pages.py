import os
from pathlib import Path

import pytest
from tests.test_docs import ROOT, commands_shown, unknown_parts

from planlog.app.program import TerminalProgram
from planlog.app.tree import tree


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "tour.md"], ids=lambda page: page.name)
def test_every_command_that_is_shown_exists(page: Path) -> None:
    program = TerminalProgram(os.environ)
    shown = commands_shown(page)
    assert shown
    assert {line: unknown for line in shown if (unknown := unknown_parts(tree, line, program))} == {}
