from planlog.faces.stdio.outlet import ScreenGone
from planlog.faces.stdio.paper import Paper


def test_what_is_held_reaches_the_terminal_in_one_piece() -> None:
    pieces: list[bytes] = []
    paper = Paper(pieces.append, "utf-8")
    paper.write("a")
    paper.flush()
    paper.hold()
    for text in "bcd":
        paper.write(text)
        paper.flush()
    paper.release()
    paper.flush()
    assert pieces == [b"a", b"bcd"]


def test_what_an_encoding_does_not_have_and_a_terminal_that_is_gone_raise_nothing() -> None:
    def fail(data: bytes) -> None:
        raise ScreenGone

    pieces: list[bytes] = []
    paper = Paper(pieces.append, "ascii")
    paper.write("é")
    paper.flush()
    assert pieces == [b"?"]
    gone = Paper(fail, "utf-8")
    gone.write("a")
    gone.flush()
