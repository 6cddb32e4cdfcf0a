from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from planlog.tools.lines import Lines

BYTES = st.binary(max_size=60) | st.lists(st.sampled_from([b"\n", b"\r\n", b"{}", b"\xe2\x80\xa8", b"x" * 9])).map(
    b"".join
)


@given(BYTES, st.lists(st.integers(0, 60), max_size=8))
def test_lines_are_the_same_however_the_bytes_are_cut(data: bytes, cuts: list[int]) -> None:
    lines, places = Lines(8), [0, *sorted(cuts), len(data)]
    found = [line for start, end in pairwise(places) for line in lines.feed(data[start:end])]
    found += lines.end()
    wanted = data.split(b"\n")
    if not wanted[-1]:
        wanted.pop()
    assert found == [line if len(line) <= 8 else None for line in wanted]
