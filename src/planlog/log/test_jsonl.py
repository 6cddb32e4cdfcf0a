"""Logs travel as files: what dsh wrote is read, checked, and written back byte for byte."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.agent.event import TYPES
from planlog.agent.nesting import NESTING
from planlog.log.jsonl import FileRefused, read_file, take_in, write_file
from planlog.log.store import StoreError, StoreFull
from planlog.log.store.memory import MemoryStore
from planlog.log.vocabulary import Vocabulary

GOLDEN = Path(__file__).parents[3] / "tests" / "golden"
HEADER = b'{"type":"session","version":0,"id":"s1","createdAt":0,"cwd":"/","delegationDepth":0}'
END = b'{"type":"turn/end","seq":%d,"time":0,"data":{"turn":1,"reason":{"kind":"completed"}}}'


async def through_a_store(content: bytes, words: Vocabulary | None = None) -> bytes:
    words = words or Vocabulary()
    store = MemoryStore()
    session = await take_in(read_file(content.split(b"\n"), words), store)
    return b"".join([line async for line in write_file(session, store)])


@pytest.mark.parametrize("name", ["todo", "bad", "bash"])
async def test_the_originals_logs_come_back_byte_for_byte(name: str) -> None:
    content = (GOLDEN / f"{name}.jsonl").read_bytes()
    words = Vocabulary()
    with words.learn(*TYPES, rules=(NESTING,)):
        assert await through_a_store(content, words) == content


def note(seq: int, data: bytes) -> bytes:
    return b'{"type":"feedback/record","seq":%d,"time":0,"data":%b}' % (seq, data)


ODD = [
    b'{"a":1180591620717411303424,"a":1.50E+3,"z":-0,"b":{"c":[]}}',
    '{"t":"a\\u2028b\\u2029\u2028\u2029\u0085","\\u0061":"\\/\\u00e9é\U0001f600"}'.encode(),
    b'{"deep":' + b"[" * 400 + b"]" * 400 + b"}",
    b'{ "spaced" : [ 1 , 2 ] }',
]


async def test_odd_bytes_survive() -> None:
    content = b"\n".join([HEADER, *(note(seq, data) for seq, data in enumerate(ODD))]) + b"\n"
    assert await through_a_store(content) == content


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(st.lists(values, max_size=5))
def test_generated_events_survive(data: list[object]) -> None:
    lines = [HEADER, *(note(seq, msgspec.json.encode({"x": value})) for seq, value in enumerate(data))]
    file = read_file(lines, Vocabulary())
    assert [file.header_line, *(event.line for event in file.events)] == lines


async def test_a_torn_last_line_is_dropped_with_a_notice() -> None:
    whole = [HEADER, b'{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}', END % 1]
    for cut in range(1, len(END % 1)):
        file = read_file([*whole[:2], whole[2][:cut]], Vocabulary())
        assert [event.seq for event in file.events] == [0]
        assert file.notices
        assert "line 3" in file.notices[0]


class FullAfter(MemoryStore):
    """A store whose disk is full after so many appends."""

    def __init__(self, appends: int) -> None:
        super().__init__()
        self.left = appends

    async def append(self, session: str, rows: Any, *, lease: Any, claims: Any = ()) -> None:
        if self.left == 0:
            raise StoreFull("cannot save: no space left on device")
        self.left -= 1
        await super().append(session, rows, lease=lease, claims=claims)


async def test_an_import_that_was_cut_short_shows_nothing_and_can_be_made_again() -> None:
    lines = [HEADER, *(note(seq, b"{}") for seq in range(1200))]
    store = FullAfter(2)
    with pytest.raises(StoreFull):
        await take_in(read_file(lines, Vocabulary()), store)
    assert await store.find("") == []
    store.left = 100
    assert await take_in(read_file(lines, Vocabulary()), store) == "s1"
    assert b"".join([line async for line in write_file("s1", store)]) == b"\n".join(lines) + b"\n"
    with pytest.raises(StoreError, match="s1"):
        await take_in(read_file(lines, Vocabulary()), store)


@pytest.mark.parametrize(
    ("tail", "why"),
    [
        (b'{"type":"future/thing","seq":1,"time":0,"data":{}}', "newer program"),
        (b'{"type":"feedback/record","seq":7,"time":0,"data":{}}', "seq 7 where 1 was due"),
        (b'{"type":"feedback/record","seq":1,"time":9223372036854775808,"data":{}}', "not an event"),
    ],
)
def test_no_crash_is_blamed_for_a_whole_line_that_is_wrong(tail: bytes, why: str) -> None:
    with pytest.raises(FileRefused, match=rf"^line 3: .*{why}"):
        read_file([HEADER, note(0, b"{}"), tail], Vocabulary())


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b'{"x":', "not an event"),
        (b'{"type":"turn/start","seq":5,"time":0,"data":{"turn":1}}', "seq 5 where 0 was due"),
        (b'{"type":"feedback/record","seq":0,"time":0,"data":{"t":"\x97"}}', "not UTF-8"),
        (b'{"type":"future/thing","seq":0,"time":0,"data":{}}', "newer program"),
        (b'{"type":"text-chunks","seq0":0,"time0":0,"data":{}}', "packed rows"),
    ],
)
def test_a_bad_line_before_a_later_turn_end_is_refused_with_its_number(bad: bytes, why: str) -> None:
    with pytest.raises(FileRefused, match=rf"^line 2: .*{why}"):
        read_file([HEADER, bad, END % 1], Vocabulary())


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (b"", "not a session header"),
        (b"[]", "not a session header"),
        (HEADER.replace(b'"version":0', b'"version":1'), "newer program"),
        (HEADER.replace(b'"version":0', b'"version":-1'), "older program"),
        (HEADER.replace(b'"s1"', b'"../x"'), "session id"),
        (HEADER.replace(b'"createdAt":0', b'"createdAt":9223372036854775808'), "not a session header"),
    ],
)
def test_a_file_of_another_kind_is_refused(header: bytes, why: str) -> None:
    with pytest.raises(FileRefused, match=rf"^line 1: .*{why}"):
        read_file([header], Vocabulary())


def test_half_a_character_becomes_the_replacement_character_and_is_told() -> None:
    file = read_file([HEADER, note(0, rb'{"t":"x \ud83d y \ud83d\ude00 \\ud83d"}')], Vocabulary())
    assert file.events[0].line == note(0, rb'{"t":"x \ufffd y \ud83d\ude00 \\ud83d"}')
    assert "lone surrogate" in file.notices[0]
