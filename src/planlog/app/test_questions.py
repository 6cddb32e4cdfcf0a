"""A question is shown whole, page by page, before an answer counts."""

from planlog.app.questions import NOTHING, Asker, answered
from planlog.faces.renders import Line, Span
from planlog.faces.stdio.pages import Window


class Person:
    """Types one word after the other; the window gets the next size with each."""

    can_ask = True
    encoding = "utf-8"

    def __init__(self, words: list[str], windows: list[Window]) -> None:
        self.allowed = NOTHING
        self.words = words
        self.windows = windows
        self.seen: list[tuple[str, str]] = []

    def window(self) -> Window:
        return self.windows[min(len(self.seen), len(self.windows) - 1)]

    async def ask(self, lines: list[Line], prompt: str) -> str:
        self.seen.append(("\n".join("".join(span.text for span in line) for line in lines), prompt))
        return self.words[len(self.seen) - 1]


def numbered(count: int) -> list[Line]:
    return [(Span(f"line {number}"),) for number in range(count)]


async def answer(lines: list[Line], words: list[str], *windows: Window, rule: str | None = None) -> tuple[str, Person]:
    person = Person(words, list(windows))
    asker: Asker = person
    return await answered(asker, lines, rule), person


async def test_what_fits_is_shown_at_once() -> None:
    said, person = await answer(numbered(8), ["y"], Window(80, 10))
    assert said == "yes"
    assert person.seen == [("\n".join(f"line {number}" for number in range(8)), "Allow it? [y/N] ")]


async def test_a_page_leaves_two_rows_for_its_prompt_and_a_yes_there_is_none() -> None:
    said, person = await answer(numbered(17), ["y", "a", ""], Window(80, 10), rule="bash")
    assert said == "no"
    assert [shown.count("line") for shown, _ in person.seen] == [8, 8, 1]
    assert [prompt.partition(";")[0] for _, prompt in person.seen[:2]] == ["9 more lines", "1 more line"]


async def test_a_no_on_any_page_is_one() -> None:
    said, person = await answer(numbered(99), ["", "n"], Window(80, 10))
    assert (said, len(person.seen)) == ("no", 2)


async def test_each_page_is_cut_for_the_window_as_it_is_then() -> None:
    said, person = await answer(
        [(Span("x" * 900),)], ["", "", "a"], Window(80, 10), Window(20, 10), Window(80, 24), rule="bash ls"
    )
    assert said == "always"
    assert [shown.count("x") for shown, _ in person.seen] == [
        80 * 8,
        20 * 7,
        900 - 640 - 140,
    ]  # in 20 columns the prompt takes three rows


async def test_in_a_narrow_window_what_always_means_stands_above_the_prompt() -> None:
    said, person = await answer(numbered(2), ["a"], Window(20, 10), rule="bash git diff")
    assert said == "always"
    assert person.seen == [('line 0\nline 1\n  a: always "git diff" in this session', "Allow it? [y/n/a] ")]
