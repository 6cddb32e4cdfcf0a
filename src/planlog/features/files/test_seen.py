from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planlog.agent.facts import result_fact
from planlog.features.files.seen import SEEN, stamp
from planlog.log.event import Event, read_line
from planlog.tools.outcome import Outcome

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["file", "path", "stamp"]), inner),
    max_leaves=6,
)


def result(meta: Any, seq: int = 7) -> Event:
    return read_line(result_fact("call", Outcome("text", meta=meta), 1, 1, cites=[0]).placed(seq, 1000).line)


def shown(path: str, stamped: str) -> Event:
    return result({"file": {"path": path, "stamp": stamped}, "lines": [1, 2, 3]})


def test_the_last_state_of_each_file_that_a_tool_showed_is_the_one_that_was_seen() -> None:
    assert SEEN.fold([]) == {}
    seen = SEEN.fold([shown("a", "1"), shown("b", "2"), shown("a", "3")])
    assert seen == {"a": "3", "b": "2"}
    assert SEEN.apply(seen, shown("b", "2")) is seen
    assert SEEN.apply(seen, shown("b", "4")) == {"a": "3", "b": "4"}
    assert seen == {"a": "3", "b": "2"}


@given(JSON)
def test_other_details_mean_nothing(meta: Any) -> None:
    before = {"a": "1"}
    after = SEEN.apply(before, result(meta))
    match meta:
        case {"file": {"path": str(path), "stamp": str(stamped)}}:
            assert after == {**before, path: stamped}
        case _:
            assert after is before


def test_other_events_mean_nothing() -> None:
    before = {"a": "1"}
    line = b'{"type":"turn/start","seq":1,"time":1,"data":{"turn":1,"meta":{"file":{"path":"a","stamp":"2"}}}}'
    assert SEEN.apply(before, read_line(line)) is before


@given(st.binary(), st.binary())
def test_a_stamp_tells_contents_apart(one: bytes, other: bytes) -> None:
    assert (stamp(one) == stamp(other)) == (one == other)
    assert stamp(one).isascii()
    assert len(stamp(one)) == 24
