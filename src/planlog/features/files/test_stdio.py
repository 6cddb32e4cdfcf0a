from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from planlog.faces.renders import Call, Row, Span
from planlog.faces.stdio.painting import lay_out, paint
from planlog.features.files.diff import changes
from planlog.features.files.stdio import LINES, WIDTH, change_row, read_row, totals


def changed(path: str, before: str | None, after: str, name: str = "edit") -> Call:
    diff = changes(path, before, after)
    details = {"file": {"path": path, "stamp": "s"}, "diff": diff.text, "added": diff.added, "removed": diff.removed}
    arguments = {"edit": '{"path":"%s","old_string":"a","new_string":"b"}', "write": '{"path":"%s","content":""}'}
    return Call(name, arguments[name] % path, "Edited.", details=details)


def shown(row: Row) -> str:
    return "\n".join(paint(line, False) for line in lay_out(row, Span("✓"), 60))


def test_a_change_is_shown_as_its_diff() -> None:
    assert shown(change_row(changed("src/a.py", "one\ntwo\n", "one\n2\n"))) == snapshot("""\
✓ edit src/a.py  +1 −1
  --- a/src/a.py
  +++ b/src/a.py
  @@ -1,2 +1,2 @@
   one
  -two
  +2\
""")
    assert shown(change_row(changed("new", None, "one\n", "write"))).startswith(
        "✓ write new  +1 −0, new\n  --- /dev/null"
    )
    assert change_row(changed("a", "x\n", "x\n", "write")).summary == "nothing changed"


def test_a_long_diff_is_folded_and_a_long_line_cut() -> None:
    row = change_row(changed("a", None, "x\n" * 200 + "y" * 2000, "write"))
    assert len(row.body) == LINES + 1
    assert row.body[-1] == (Span("… 125 more lines of the diff", "dim"),)
    assert max(len(line[0].text) for line in change_row(changed("a", "", "y" * 2000)).body) == WIDTH + 1


def test_a_failure_says_why() -> None:
    failed = Call(
        "edit", '{"path":"a","old_string":"b","new_string":"c"}', "Error: old_string was not found\nmore", True
    )
    assert shown(change_row(failed)) == "✓ edit a  old_string was not found"
    assert shown(read_row(Call("read", '{"path":"a"}', "Error: no", True))) == "✓ read a  no"
    assert shown(read_row(Call("read", "nonsense", None))) == "✓ read"


@pytest.mark.parametrize(
    ("details", "summary"),
    [
        ({"lines": [1, 200, 340]}, "lines 1–200 of 340"),
        ({"lines": [1, 2000, None]}, "lines 1–2000"),
        ({"lines": [1, 0, 0]}, "empty"),
        ({"kind": "PNG image", "size": 9}, "PNG image"),
    ],
)
def test_what_was_read_is_counted(details: dict[str, Any], summary: str) -> None:
    assert read_row(Call("read", '{"path":"a"}', "…", details=details)).summary == summary


def test_the_changes_of_a_turn_are_added_up_by_files() -> None:
    calls = [
        changed("a", "1\n", "2\n"),
        changed("a", "2\n", "3\n4\n"),
        changed("b", None, "x\n", "write"),
        changed("c", "x\n", "x\n", "write"),
        Call("edit", "{}", "Error: no", True),
        Call("bash", "{}", "done"),
    ]
    assert totals(calls) == "2 files changed (+4 −2)"
    assert totals(calls[:1]) == "1 file changed (+1 −1)"
    assert totals(calls[3:]) == ""


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["file", "diff", "lines", "kind", "path"]), inner)
    ),
    max_leaves=6,
)


@given(st.sampled_from(["edit", "write", "read"]), st.text(max_size=30), anything)
def test_details_of_any_shape_are_drawn(name: str, arguments: str, details: Any) -> None:
    call = Call(name, arguments, "result", details=details)
    shown((read_row if name == "read" else change_row)(call))
    totals([call])
