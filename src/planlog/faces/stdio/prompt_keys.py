"""What the keys of the prompt line do, beside what every line editor's keys do."""

from collections.abc import Callable
from typing import Literal

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent


def prompt_keys(
    line: Buffer,
    reply: Buffer,
    hear: Callable[[Literal["enter", "tab", "interrupt", "end"]], None],
    answer: Callable[[], None],
) -> KeyBindings:
    """Hands on what others decide, and answers with what is in `reply`."""
    keys = KeyBindings()
    typing, answering = has_focus(line), has_focus(reply)
    empty = Condition(lambda: not line.text) & typing | Condition(lambda: not reply.text) & answering

    @keys.add("enter", filter=typing)
    def _enter(event: KeyPressEvent) -> None:
        hear("enter")

    @keys.add("enter", filter=answering)
    @keys.add("c-j", filter=answering)
    def _answer(event: KeyPressEvent) -> None:
        answer()

    @keys.add("c-j", filter=typing)
    @keys.add("escape", "enter", filter=typing)
    def _new_line(event: KeyPressEvent) -> None:
        line.insert_text("\n")

    @keys.add("tab")
    def _tab(event: KeyPressEvent) -> None:
        if typing():
            hear("tab")

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _interrupt(event: KeyPressEvent) -> None:
        hear("interrupt")

    @keys.add("c-d", filter=empty)
    def _end(event: KeyPressEvent) -> None:
        hear("end")

    @keys.add("c-z")
    @keys.add("c-@")
    @keys.add("c-o")
    @keys.add("escape", "#")
    def _ignore(event: KeyPressEvent) -> None:
        """The editor would type the first, type nothing more after the second, which begins to mark, and empty the
        line after the others, which are to send it."""

    return keys
