"""The calls of a turn as an editor's cards: announced once, changed as they go on, and each brought to its end."""

import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import cast, get_args

import msgspec

from planlog.faces.acp.registry import AcpRenders
from planlog.faces.acp.updates import (
    CallContent,
    Card,
    DiffItem,
    Location,
    ToolCallBegun,
    ToolCallChanged,
    ToolKind,
    ToolStatus,
    Update,
    text_item,
)
from planlog.faces.acp.wording import bounded, fenced
from planlog.faces.renders import Call
from planlog.log.text import mend_escapes
from planlog.tools.call import present
from planlog.tools.tool import Tools

_KINDS = get_args(ToolKind)
_TAIL = 4_000
"""Characters of a running call's output that are shown."""
_LONGEST = 500
"""Characters of an id, a name and a title that an editor is told."""
_LONGEST_PATH = 4_096
_PAUSE = 0.25
"""Seconds between two looks at a running call's output."""


class Known(msgspec.Struct):
    """A call that the log has told of: `id` is the editor's name for it."""

    id: str
    name: str
    arguments: str
    announced: bool = False
    settled: bool = False
    output: str = ""
    told_at: float = 0.0


class Calls:
    """`tools` may show the call; `folder` is where its paths begin."""

    def __init__(
        self, renders: AcpRenders, tools: Tools, folder: Path, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._renders = renders
        self._tools = tools
        self._folder = folder
        self._clock = clock
        self._calls: dict[str, Known] = {}
        self._step = ""
        self._used: set[str] = set()

    def begin_step(self, name: str) -> None:
        """The step `name`, such as "3.1", begins: calls of earlier ones have ended."""
        self._step = name
        self._calls.clear()
        self._used.clear()

    def made(self, call: str, name: str, arguments: str) -> None:
        """The model has made a call; it is not under way, and perhaps never will be."""
        id = f"{self._step}.{call if len(call) <= _LONGEST else sha256(call.encode(errors='replace')).hexdigest()}"
        while id in self._used:  # a foreign log may use an id twice
            id += "+"
        self._used.add(id)
        self._calls[call] = Known(id, name, arguments)

    def forget_announced(self) -> None:
        """The editor has heard of none of them."""
        for known in self._calls.values():
            known.announced = False

    def id(self, call: str) -> str | None:
        """The editor's name for an announced call."""
        known = self._calls.get(call)
        return known.id if known and known.announced else None

    def wait(self, call: str) -> list[Update]:
        """The call waits for its approval."""
        return self._tell(call, "pending")

    def start(self, call: str, name: str, arguments: str) -> list[Update]:
        """The call is about to run; `arguments` as the model wrote them."""
        known = self._calls.get(call)
        if known is None or known.settled:
            self.made(call, name, arguments)
        elif not known.announced:
            known.arguments = arguments
        return self._tell(call, "in_progress")

    def progress(self, call: str, text: str) -> list[Update]:
        """The running call has said `text`."""
        known = self._calls.get(call)
        if known is None or not known.announced or known.settled:
            return []
        known.output = (known.output + text)[-_TAIL:]
        if self._clock() - known.told_at < _PAUSE:
            return []
        known.told_at = self._clock()
        return [ToolCallChanged(known.id, content=(text_item(fenced(known.output)),))]

    def end(self, call: str, result: Call) -> list[Update]:
        """What came of it; `result` has no name and arguments yet. Said once, however often the log does."""
        known = self._calls.get(call)
        if known is None:
            self.made(call, "tool", "")
            known = self._calls[call]
        if known.settled:
            return []
        begun = [] if known.announced else self._tell(call, "in_progress")
        known.settled, known.output = True, ""
        done = msgspec.structs.replace(result, name=known.name, arguments=known.arguments)
        card = self._card(done)
        content = card.content or (text_item(fenced(done.result or "")),)
        status: ToolStatus = "failed" if done.is_error else "completed"
        return [
            *begun,
            ToolCallChanged(known.id, status=status, content=content, locations=card.locations or msgspec.UNSET),
        ]

    def shown(self, call: str) -> ToolCallBegun | None:
        """All that is known of a call, as it is announced; None for one that nobody made."""
        known = self._calls.get(call)
        return self._begun(known, "pending") if known else None

    def _tell(self, call: str, status: ToolStatus) -> list[Update]:
        known = self._calls.get(call)
        if known is None or known.settled:
            return []
        if known.announced:
            return [ToolCallChanged(known.id, status=status)]
        begun = self._begun(known, status)
        known.announced = True
        return [begun]

    def _begun(self, known: Known, status: ToolStatus) -> ToolCallBegun:
        arguments = mend_escapes(known.arguments.encode(errors="replace")).decode()
        shown = present(self._tools, known.name, arguments)
        card = self._card(Call(known.name, arguments))
        kind = cast(ToolKind, shown.kind) if shown.kind in _KINDS else "other"
        content = card.content or ((text_item(fenced(shown.text)),) if shown.text else ())
        return ToolCallBegun(
            known.id,
            (shown.title or known.name)[:_LONGEST],
            kind,
            status,
            known.name[:_LONGEST],
            content,
            card.locations,
            bounded(shown.raw_input),
        )

    def _card(self, call: Call) -> Card:
        card = self._renders.row(call)
        if card is None:
            return Card()
        return Card(self.placed(card.content), tuple(self._places(card.locations)))

    def placed(self, content: Iterable[CallContent]) -> tuple[CallContent, ...]:
        """With the paths of files as the editor knows them."""
        return tuple(map(self._placed, content))

    def _placed(self, item: CallContent) -> CallContent:
        return msgspec.structs.replace(item, path=self._absolute(item.path)) if isinstance(item, DiffItem) else item

    def _places(self, locations: Iterable[Location]) -> Iterable[Location]:
        return (Location(self._absolute(one.path), one.line) for one in locations if len(one.path) <= _LONGEST_PATH)

    def _absolute(self, path: str) -> str:
        return str(self._folder / path)
