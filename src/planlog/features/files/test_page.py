from hypothesis import given
from hypothesis import strategies as st

from planlog.features.files.page import LONGEST, ROOM, Page


def page_of(*pieces: str, offset: int = 1, limit: int = 2000) -> Page:
    page = Page(offset, limit)
    for piece in pieces:
        page.feed(piece)
    if page.length:
        page.end_line()
    return page


TEXTS = st.lists(st.sampled_from(["\n", "\n\n", "a", "bc"])).map("".join)


@given(st.lists(TEXTS), st.integers(1, 12), st.integers(1, 12))
def test_a_text_in_pieces_has_the_lines_of_the_whole(pieces: list[str], offset: int, limit: int) -> None:
    page = page_of(*pieces, offset=offset, limit=limit)
    whole = "".join(pieces)
    lines = whole.split("\n")[: -1 if whole.endswith("\n") or not whole else None]
    numbered = [f"{number}\t{line}" for number, line in enumerate(lines, 1)]
    assert page.lines == numbered[offset - 1 : offset - 1 + limit]
    assert page.seen == len(lines)


@given(st.lists(st.integers(0, 3 * LONGEST), max_size=40), st.lists(st.integers(1, 9000)))
def test_a_page_has_whole_lines_and_no_more_than_its_room(lengths: list[int], cuts: list[int]) -> None:
    text = "".join("x" * length + "\n" for length in lengths)
    pieces = []
    for cut in cuts:
        pieces.append(text[:cut])
        text = text[cut:]
    page = page_of(*pieces, text)
    assert len("\n".join(page.lines)) <= ROOM
    assert page.lines or not lengths
    for length, line in zip(lengths, page.lines, strict=False):
        assert line.partition("\t")[2] == (
            "x" * length if length <= LONGEST else f"{'x' * LONGEST}… [{length - LONGEST} more characters]"
        )
    assert page.seen == len(lengths)


def test_whatever_might_look_like_another_line_or_move_a_cursor_is_shown_as_a_sign() -> None:
    page = page_of("a\r\x1b[2J\x7f\t\x85\u2028\u202eb\n")
    assert page.lines == ["1\ta␍␛[2J␡\t<U+0085><U+2028><U+202E>b"]
    assert page.has_signs
    assert not page_of("plain → ü\n").has_signs


@given(st.text())
def test_every_line_of_a_page_begins_with_its_number(text: str) -> None:
    page = page_of(text)
    shown = "\n".join(page.lines)
    assert [line.split("\t")[0] for line in shown.splitlines()] == [str(n) for n in range(1, len(page.lines) + 1)]
