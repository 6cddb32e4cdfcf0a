from hypothesis import given
from hypothesis import strategies as st

from planlog.app.toml import written
from planlog.kernel.composition import Composition, Row, parse_composition

SCALARS = st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@given(st.dictionaries(st.text(max_size=8).filter(lambda name: name not in ("id", "use")), VALUES, max_size=4))
def test_a_composition_that_is_written_and_read_is_the_same(settings: dict[str, object]) -> None:
    row = Row("todo", "planlog.features.todo", settings, "stdio.toml")
    composition = Composition("stdio", "stdio.toml", ("event", "tool"), (row,))
    assert parse_composition(written(composition), "stdio", "stdio.toml") == composition


def test_each_row_says_where_it_was_stated() -> None:
    rows = (
        Row("todo", "planlog.features.todo", {"allow_parallel_in_progress": False}, "stdio.toml"),
        Row("own", "my.feature", {"names": ["a", 'b "c"'], "limits": {"much": 1.5}}, "/home/me/planlog.toml"),
    )
    assert (
        written(Composition("stdio", "stdio.toml", ("event", "stdio"), rows))
        == """\
roles = ["event", "stdio"]

# from stdio.toml
[[plugin]]
id = "todo"
use = "planlog.features.todo"
allow_parallel_in_progress = false

# from /home/me/planlog.toml
[[plugin]]
id = "own"
use = "my.feature"
names = ["a", "b \\"c\\""]
limits = { much = 1.5 }
"""
    )
