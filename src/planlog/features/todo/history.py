"""Every plan that ever stood, each with what changed since the one before it."""

from bisect import bisect_left
from collections.abc import Sequence

import msgspec

from planlog.features.todo.event import TODO_WRITE, Status, Todo
from planlog.features.todo.summary import summarize
from planlog.log.event import Event
from planlog.log.projection import Projection


class StatusChange(msgspec.Struct, frozen=True, rename={"before": "from", "after": "to"}):
    """An item that both lists have, with another status."""

    content: str
    before: Status
    after: Status


class Difference(msgspec.Struct, frozen=True, rename="camel"):
    """What one list has become in the next; items are told by their content.

    `reordered` are the fewest items that must have moved for the kept ones to stand in their new order.
    """

    added: list[str]
    removed: list[str]
    status_changed: list[StatusChange]
    reordered: list[str]


class Standing(msgspec.Struct, frozen=True):
    """A list as it was written: in which turn, at which seq and time (epoch milliseconds), and the list before it."""

    turn: int
    seq: int
    time: int
    todos: list[Todo]
    diff: Difference


class History(msgspec.Struct, frozen=True):
    """All lists, oldest first; `turn` is the last turn that began."""

    turn: int = 0
    lists: tuple[Standing, ...] = ()


class _Turn(msgspec.Struct):
    turn: int


_turns = msgspec.json.Decoder(_Turn)


def _apply(state: History, event: Event) -> History:
    if event.type == "turn/start":
        return History(_turns.decode(event.data).turn, state.lists)
    if event.type != "todo/write":
        return state
    todos = TODO_WRITE.read(event).todos
    before = state.lists[-1].todos if state.lists else []
    standing = Standing(state.turn, event.seq, event.time, todos, difference(before, todos))
    return History(state.turn, (*state.lists, standing))


def _lists(state: History) -> tuple[Standing, ...]:
    return state.lists


PLAN_HISTORY: Projection[History] = Projection(
    "planHistory", History(), _apply, types=("todo/write", "turn/start"), view=_lists
)


def difference(before: Sequence[Todo], after: Sequence[Todo]) -> Difference:
    """What turns the list `before` into the list `after`."""
    places = {todo.content: place for place, todo in enumerate(before)}
    kept = [todo for todo in after if todo.content in places]
    contents = {todo.content for todo in after}
    return Difference(
        added=[todo.content for todo in after if todo.content not in places],
        removed=[todo.content for todo in before if todo.content not in contents],
        status_changed=[
            StatusChange(todo.content, was, todo.status)
            for todo in kept
            if (was := before[places[todo.content]].status) != todo.status
        ],
        reordered=_moved([todo.content for todo in kept], places),
    )


def _moved(kept: list[str], places: dict[str, int]) -> list[str]:
    """Those of `kept` that are not in the longest run whose old places only grow."""
    ends: list[int] = []
    lengths: list[int] = []
    for content in kept:
        place = places[content]
        length = bisect_left(ends, place)
        ends[length : length + 1] = [place]
        lengths.append(length)
    wanted = len(ends) - 1
    bound = len(places)
    moved: list[str] = []
    for content, length in zip(reversed(kept), reversed(lengths), strict=True):
        if length == wanted and places[content] < bound:
            wanted, bound = wanted - 1, places[content]
        else:
            moved.append(content)
    return moved[::-1]


def left_open(lists: Sequence[Standing]) -> Standing | None:
    """The last list, when it was left unfinished; to be shown where no plan stands."""
    if not lists:
        return None
    last = summarize(lists[-1].todos)
    return lists[-1] if last.done < last.total else None
