"""How the prompt line stands on the terminal: what still grows above it, what waits, the line itself, a bar below."""

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.processors import BeforeInput, Processor, Transformation, TransformationInput
from prompt_toolkit.styles import Style

from planlog.faces.stdio.cleaning import clean_typed
from planlog.faces.stdio.painting import shorten
from planlog.faces.stdio.toolbar import Toolbar, toolbar_text, waiting_text

STYLE = Style.from_dict({"around": "dim", "sign": "dim", "question": "ansiyellow"})
PLAIN = Style([])
SIGN = "> "
SHARE = 3
"""The typed text takes at most one row of so many."""


@dataclass
class Shown:
    """What stands around the line; `question` is what the line answers, empty where it is a prompt.

    `waiting` and `bar` are asked whenever it is drawn.
    """

    waiting: Callable[[], list[str]]
    bar: Callable[[], Toolbar]
    unfinished: str = ""
    status: str = ""
    question: str = ""


def prompt_layout(shown: Shown, line: Buffer, reply: Buffer, columns: Callable[[], int]) -> Layout:
    """The layout; `line` has the focus."""

    def row(text: Callable[[], str]) -> ConditionalContainer:
        # The last cell stays free: a terminal that gets narrower breaks fewer rows then.
        def painted() -> StyleAndTextTuples:
            return [("class:around", shorten(text(), columns() - 1))]

        window = Window(FormattedTextControl(painted), height=Dimension(min=0, max=1, preferred=1))
        return ConditionalContainer(window, Condition(lambda: bool(text())))

    def prefix(number: int, wraps: int) -> StyleAndTextTuples:
        if columns() <= len(SIGN) + 1:
            return []
        return [("class:sign", SIGN if number == wraps == 0 else " " * len(SIGN))]

    def question() -> StyleAndTextTuples:
        return [("class:question", shown.question)]

    def height() -> Dimension:
        return Dimension(min=1, max=max(1, rows() // SHARE))

    def rows() -> int:
        from prompt_toolkit.application import get_app

        return get_app().output.get_size().rows

    asks = Condition(lambda: bool(shown.question))
    growing = Window(
        FormattedTextControl(lambda: shown.unfinished),
        height=Dimension(min=0, max=3),
        wrap_lines=True,
        dont_extend_height=True,
    )
    typed = Window(
        BufferControl(line, input_processors=[_Cleaned()]),
        height=height,
        wrap_lines=True,
        dont_extend_height=True,
        get_line_prefix=prefix,
    )
    answered = Window(
        BufferControl(reply, input_processors=[_Cleaned(), BeforeInput(question)]),
        height=Dimension(min=1, max=3),
        wrap_lines=True,
        dont_extend_height=True,
    )
    parts = [
        ConditionalContainer(growing, Condition(lambda: bool(shown.unfinished))),
        row(lambda: "" if shown.unfinished else shown.status),
        row(lambda: waiting_text(shown.waiting(), columns() - 1)),
        ConditionalContainer(typed, ~asks),
        ConditionalContainer(answered, asks),
        row(lambda: toolbar_text(shown.bar(), columns() - 1)),
    ]
    return Layout(HSplit(parts), focused_element=typed)


class _Cleaned(Processor):
    """Shows what the editor itself would let through to the terminal."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        """See `Processor`."""
        return Transformation([(style, clean_typed(text)) for style, text, *_ in transformation_input.fragments])
