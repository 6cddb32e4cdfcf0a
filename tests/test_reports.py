"""Every public report that concerns what exists is met by a test: the table of decision 0041 names tests that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "decisions" / "0041-reports-and-where-they-are-tested.md"
ROW = re.compile(r"^\| ([A-Z]\d+) \| .+ \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`(\S+\.py)::(\w+)`")
NUMBERS = {
    "A": (*range(1, 17), *range(20, 27)),
    "B": (1, 2, 3, 4, 5, 6, 7, 9, *range(10, 17), 18, 19, 20, 21, 22, 24, 25, 26, 27),
    "D": (1, 2, 3, *range(5, 15), 16),
    "E": (1, 2, 3, 5, *range(7, 19), *range(20, 28)),
    "G": (1, 2, 4, 5, 6, 7, 8, 9, *range(11, 19)),
    "H": (8,),  # the others are about the browser
}
"""The reports of each kind that the list holds."""
PLACES = (ROOT / "src" / "planlog" / "features", ROOT / "src" / "planlog", ROOT / "tests")


def rows() -> list[tuple[str, str]]:
    """Each report with what stands in its last column."""
    return ROW.findall(PAGE.read_text())


def test_every_report_has_its_row() -> None:
    assert [report for report, _ in rows()] == [f"{kind}{number}" for kind in NUMBERS for number in NUMBERS[kind]]


def test_every_test_that_the_table_names_exists() -> None:
    missing: list[str] = []
    for report, cell in rows():
        named = TEST.findall(cell)
        assert named or re.match(r"(comes with|cannot occur)", cell), f"{report}: no test and no reason"
        missing += [f"{report}: {path}::{name}" for path, name in named if not is_there(path, name)]
    assert missing == []


def is_there(path: str, name: str) -> bool:
    """Whether the file holds the test; one in a feature that was taken away went with it."""
    room = path.partition("/")[0]
    place = next((place for place in PLACES if (place / room).is_dir()), None)
    if place is None:
        return room not in ("agent", "log", "tools", "acceptance", "faults")
    file = place / path
    return file.is_file() and re.search(rf"^ *(async )?def {name}\(", file.read_text(), re.MULTILINE) is not None


def test_the_table_is_read_as_it_is_written() -> None:
    assert is_there("agent/test_loop.py", "test_a_turn_is_told_in_order_and_each_call_has_its_result")
    assert not is_there("agent/test_loop.py", "test_nothing_of_this_name")
    assert not is_there("agent/test_nowhere.py", "test_nothing_of_this_name")
    assert TEST.findall("`todo/test_tool.py::test_a`, `log/store/test_b.py::test_c`") == [
        ("todo/test_tool.py", "test_a"),
        ("log/store/test_b.py", "test_c"),
    ]
