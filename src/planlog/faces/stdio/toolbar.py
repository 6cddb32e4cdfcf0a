"""What stands in the one line below a prompt, as much of it as the terminal has room for."""

from pathlib import PurePath

import msgspec

from planlog.faces.stdio.cleaning import clean_line
from planlog.faces.stdio.painting import cells, shorten

DOT = " · "


class Toolbar(msgspec.Struct, frozen=True):
    """`plan` is empty where none stands; `keys` says at length what `state` says in a word or two."""

    model: str
    folder: str
    plan: str
    state: str
    keys: str


def toolbar_text(bar: Toolbar, width: int) -> str:
    """The most telling line that fits into `width` cells: the folder goes first, the state last."""
    name = PurePath(bar.folder).name or bar.folder
    plan = f"plan {bar.plan}" if bar.plan else ""
    choices = (
        (bar.model, bar.folder, plan, bar.keys),
        (bar.model, name, plan, bar.keys),
        (bar.model, plan, bar.keys),
        (bar.model, name, plan, bar.state),
        (bar.model, plan, bar.state),
        (plan, bar.state),
    )
    for parts in choices:
        text = clean_line(DOT.join(filter(None, parts)))
        if cells(text) <= width:
            return text
    return shorten(clean_line(bar.state), width)


def waiting_text(texts: list[str], width: int) -> str:
    """`2 wait: fix the tests · and the docs`: what was typed and has not been heard yet; empty where nothing waits."""
    if not texts:
        return ""
    count = f"{len(texts)} {'waits' if len(texts) == 1 else 'wait'}: "
    return shorten(count + DOT.join(clean_line(" ".join(text.split())) for text in texts), width)
