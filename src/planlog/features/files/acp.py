"""How files look in an editor: the change as a diff, and the place that was read or changed."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

from planlog.faces.acp import AcpRenders
from planlog.faces.acp.diffs import draw_diff
from planlog.faces.acp.updates import Card, DiffItem, Location, text_item
from planlog.faces.acp.wording import TEXT
from planlog.faces.renders import Call, Renders
from planlog.features.files import edit, read, write
from planlog.features.files.details import change_of
from planlog.tools.schema import Violations, check_arguments


def edit_card(call: Call) -> Card:
    """The text and what stands for it, until there is the diff of the whole change."""
    params = check_arguments(edit.Edit, call.arguments)
    if call.result is not None or isinstance(params, Violations):
        return _changed(call, edit.Edit)
    fits = len(params.old_string) + len(params.new_string) <= TEXT
    shown = (DiffItem(params.path, params.new_string, params.old_string),) if fits else ()
    return Card(shown, (Location(params.path),))


def write_card(call: Call) -> Card:
    """The place, and the diff as soon as it is known what stood there before."""
    return _changed(call, write.Write)


def read_card(call: Call) -> Card:
    """The place, with the first line of what was asked for."""
    params = check_arguments(read.Read, call.arguments)
    return Card() if isinstance(params, Violations) else Card((), (Location(params.path, params.offset),))


def _changed(call: Call, kind: type[Any]) -> Card:
    change = None if call.is_error else change_of(call.details)
    if change is None:
        params = check_arguments(kind, call.arguments)
        return Card() if isinstance(params, Violations) else Card((), (Location(params.path),))
    drawn = draw_diff(change.diff)
    if drawn is None:
        return Card((text_item("nothing changed"),), (Location(change.path),))
    return Card(drawn.content, drawn.places)


_CARDS: dict[str, Callable[[Call], Card]] = {edit.NAME: edit_card, write.NAME: write_card, read.NAME: read_card}


async def plugin(editor: AcpRenders) -> AsyncGenerator[None]:
    """Shows `read`, `edit` and `write` for as long as it is mounted."""
    with editor.add(Renders(rows=_CARDS)):
        yield
