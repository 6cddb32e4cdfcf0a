from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.acp.diffs import draw_diff
from planlog.faces.acp.updates import Card, ContentItem, DiffItem, Location, TextBlock
from planlog.faces.acp.wording import TEXT
from planlog.faces.renders import Call
from planlog.features.files.acp import edit_card, read_card, write_card
from planlog.features.files.diff import changes

EDIT = '{"path":"src/a.py","old_string":"two","new_string":"2"}'
LINES = st.lists(st.sampled_from(["", "a", "b", " c", "-d", "+e", "@@ -1 +1 @@", "\\ No", "--- f", "g\r"]), max_size=30)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=8)


def diff_details(path: str, before: str | None, after: str) -> dict[str, object]:
    diff = changes(path, before, after)
    return {"file": {"path": path, "stamp": "s"}, "diff": diff.text, "added": diff.added, "removed": diff.removed}


def lines_of(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


@given(TEXTS, TEXTS)
def test_the_pieces_of_a_diff_put_into_the_old_file_make_the_new_one(before: str, after: str) -> None:
    drawn = draw_diff(changes("a b/c", before, after).text)
    if before == after:
        assert drawn is None
        return
    assert drawn is not None
    old = lines_of(before)
    for item, place in zip(drawn.content, drawn.places, strict=True):
        assert isinstance(item, DiffItem)
        assert item.path == place.path == "a b/c"
        gone, come = lines_of(item.old_text or ""), lines_of(item.new_text)
        start = (place.line or 1) - 1
        assert old[start : start + len(gone)] == gone
        old[start : start + len(gone)] = come
    assert "".join(old) == after


@given(NAMES)
def test_any_name_of_a_file_comes_back(name: str) -> None:
    for before in (None, "one\n"):
        drawn = draw_diff(changes(name, before, "two\n").text)
        assert drawn is not None
        assert drawn.content == (DiffItem(name, "two\n", before),)


def test_an_edit_shows_its_texts_and_then_the_diff_of_the_whole_change() -> None:
    assert edit_card(Call("edit", EDIT)) == Card((DiffItem("src/a.py", "2", "two"),), (Location("src/a.py"),))
    details = diff_details("src/a.py", "one\ntwo\n", "one\n2\n")
    assert edit_card(Call("edit", EDIT, "Edited.", details=details)) == Card(
        (DiffItem("src/a.py", "one\n2\n", "one\ntwo\n"),), (Location("src/a.py", 1),)
    )


def test_a_new_file_has_no_old_text_and_an_unchanged_one_no_diff() -> None:
    written = '{"path":"new","content":"x\\n"}'
    assert write_card(Call("write", written)) == Card((), (Location("new"),))
    card = write_card(Call("write", written, "Created.", details=diff_details("new", None, "x\n")))
    assert card == Card((DiffItem("new", "x\n"),), (Location("new", 1),))
    same = write_card(Call("write", written, "Wrote.", details=diff_details("new", "x\n", "x\n")))
    assert same.content == (ContentItem(TextBlock("nothing changed")),)


def test_what_failed_has_a_place_and_nonsense_has_none() -> None:
    assert edit_card(Call("edit", EDIT, "Error: no", True)) == Card((), (Location("src/a.py"),))
    assert edit_card(Call("edit", "nonsense")) == Card()
    assert read_card(Call("read", "[]")) == Card()


def test_a_read_has_the_place_of_its_first_line() -> None:
    assert read_card(Call("read", '{"path":"a","offset":7}')) == Card((), (Location("a", 7),))


def test_a_diff_that_is_too_long_is_text() -> None:
    card = write_card(
        Call("write", '{"path":"a","content":""}', "Wrote.", details=diff_details("a", None, "x" * TEXT + "\n"))
    )
    (item,) = card.content
    assert isinstance(item, ContentItem)
    assert item.content.text.startswith("```diff\n--- /dev/null")
    long = f'{{"path":"a","old_string":"{"x" * TEXT}","new_string":"y"}}'
    assert edit_card(Call("edit", long)).content == ()


def test_a_notice_behind_the_diff_is_told() -> None:
    text = f"{changes('a', 'x', 'é').text}\\ It was ASCII and is UTF-8 now.\n"
    drawn = draw_diff(text)
    assert drawn is not None
    assert drawn.content == (
        DiffItem("a", "é", "x"),
        ContentItem(TextBlock("It was ASCII and is UTF-8 now.")),
    )


def test_what_is_no_diff_is_none() -> None:
    assert draw_diff("nothing in a changes") is None
    assert draw_diff("--- a\nfoo\n") is None
