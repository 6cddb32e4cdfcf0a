"""The ordered list of message events that the model sees, as a value that grows cheaply.

A fold must not change the states that it gave before, and a tuple would be copied with each message. So all states of
one line of descent share a list that is only ever appended to, and each knows how much of it is its own; whoever
appends to a state that somebody else has grown already takes a copy first.
"""

from collections.abc import Iterator

import msgspec

from planlog.log.event import Replace
from planlog.model.message import Message


class Node(msgspec.Struct, frozen=True):
    """The message of the event at `seq`."""

    seq: int
    message: Message


class Surface:
    """Nodes in the order in which the model reads them."""

    __slots__ = ("_count", "_nodes")

    def __init__(self, nodes: list[Node] | None = None) -> None:
        self._nodes = [] if nodes is None else nodes
        self._count = len(self._nodes)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Node]:
        nodes = self._nodes
        return (nodes[index] for index in range(self._count))

    def appended(self, node: Node) -> "Surface":
        """This surface and `node` after it."""
        mine = 0 < self._count == len(self._nodes)
        nodes = self._nodes if mine else self._nodes[: self._count]
        nodes.append(node)
        return Surface(nodes)

    def replaced(self, place: Replace, node: Node) -> "Surface":
        """`node` in the place of those from seq `place.start` to seq `place.end`, or at the end where they are gone."""
        nodes = self._nodes[: self._count]
        seqs = [old.seq for old in nodes]
        if place.start not in seqs or place.end not in seqs:
            return self.appended(node)
        first, last = seqs.index(place.start), seqs.index(place.end)
        return Surface([*nodes[:first], node, *nodes[last + 1 :]])
