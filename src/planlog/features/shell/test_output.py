from hypothesis import given
from hypothesis import strategies as st

from planlog.features.shell.output import Output
from planlog.features.shell.progress import PIECE, Progress


def fed(limit: int, *pieces: bytes) -> Output:
    output = Output(limit)
    for piece in pieces:
        output.feed(piece)
    output.end()
    return output


def test_short_output_stays_as_it_was_printed() -> None:
    output = fed(20, b"10%\r20%\r", b"done\r\n\x1b[0m")
    assert (output.text(), output.dropped) == ("10%\r20%\rdone\r\n\x1b[0m", 0)


def test_of_long_output_the_middle_is_dropped_and_counted() -> None:
    output = fed(6, b"abcdef", b"gh", b"ij")
    assert (output.text(), output.dropped) == ("abc\n[… 4 characters dropped …]\nhij", 4)


def test_a_character_that_arrives_in_two_pieces_is_one_and_half_a_character_at_the_end_is_marked() -> None:
    euro = "€".encode()
    assert fed(9, euro[:1], euro[1:], euro[:2]).text() == "€\ufffd"


def test_bytes_that_are_no_text_become_visible_and_harmless() -> None:
    assert fed(99, b"\x97\xff\xfe a\x00b \xed\xa0\xbd").text() == "\ufffd\ufffd\ufffd a\u2400b \ufffd\ufffd\ufffd"


@given(st.lists(st.binary(max_size=12) | st.text(max_size=8).map(str.encode)), st.integers(1, 40))
def test_what_is_kept_depends_on_the_bytes_and_not_on_how_they_were_cut(pieces: list[bytes], limit: int) -> None:
    whole = b"".join(pieces).decode("utf-8", "replace").replace("\0", "\u2400")
    output = fed(limit, *pieces)
    assert output.dropped == max(0, len(whole) - limit)
    if output.dropped:
        head, gap, tail = whole[: limit - limit // 2], output.dropped, whole[len(whole) - limit // 2 :]
        assert output.text() == f"{head}\n[… {gap} characters dropped …]\n{tail}"
    else:
        assert output.text() == whole


@given(st.lists(st.integers(1, 9), min_size=200, max_size=300))
def test_memory_does_not_grow_with_what_is_printed(sizes: list[int]) -> None:
    output = Output(10)
    for size in sizes:
        output.feed(b"x" * size)
        assert len(output._tail) <= 10
        assert output._tail_size <= 5 + 9


async def test_those_who_watch_hear_the_first_text_at_once_and_of_a_flood_the_latest() -> None:
    heard: list[str] = []
    progress = Progress(heard.append)
    progress.add("first")
    progress.add("x" * PIECE)
    progress.add("last")
    assert heard == ["first"]
    progress.flush()
    assert heard == ["first", "…" + "x" * (PIECE - 4) + "last"]
    progress.add("unheard")
    progress.close()
    assert len(heard) == 2
