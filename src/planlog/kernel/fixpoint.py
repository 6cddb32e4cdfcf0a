"""The one rule of a scope, as a pure function: what runs is exactly the fixpoint of met needs.

Stop a mount that may not stay and on which nothing live stands; else start one that may; else rest. A mount may stay
while it is wanted and each of its needs is given or offered by a running mount that may itself stay. So a removal
stops the leaves first and the removed mount last, and a need that comes back starts them the other way round.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

State = Literal["waiting", "starting", "running", "stopping", "failed"]
LIVE = ("starting", "running", "stopping")


class Standing(Struct, eq=False):
    """What the rule knows of one mount. It is unwanted once somebody removed it, or once it is dying by itself."""

    id: str
    needs: tuple[type, ...]
    offer: type | None
    state: State = "waiting"
    wanted: bool = True

    def is_live(self) -> bool:
        return self.state in LIVE

    def may_stay(self, kept: Collection[type]) -> bool:
        return self.wanted and all(need in kept for need in self.needs)


class Start(Struct, frozen=True):
    mount: Standing


class Stop(Struct, frozen=True):
    mount: Standing


class Rest(Struct, frozen=True):
    pass


Move: TypeAlias = Start | Stop | Rest
Rule: TypeAlias = Callable[[Sequence[Standing], Collection[type]], Move]


def kept_offers(mounts: Iterable[Standing], given: Collection[type]) -> set[type]:
    """The types that can be relied on: those given, and the offers of running mounts that may stay."""
    kept = set(given)
    open_mounts = [mount for mount in mounts if mount.state == "running" and mount.offer is not None]
    while True:
        more = [mount for mount in open_mounts if mount.may_stay(kept)]
        if not more:
            return kept
        kept.update(mount.offer for mount in more if mount.offer is not None)
        open_mounts = [mount for mount in open_mounts if mount not in more]


def next_move(mounts: Sequence[Standing], given: Collection[type]) -> Move:
    kept = kept_offers(mounts, given)
    live = [mount for mount in mounts if mount.is_live()]
    stood_on = {need for mount in live for need in mount.needs}
    for mount in live:
        if mount.state != "stopping" and not mount.may_stay(kept) and mount.offer not in stood_on:
            return Stop(mount)
    # A successor waits until its predecessor of the same id or offer is wholly gone.
    ids, offers = {mount.id for mount in live}, {mount.offer for mount in live if mount.offer is not None}
    for mount in mounts:
        if mount.state == "waiting" and mount.id not in ids and mount.offer not in offers and mount.may_stay(kept):
            return Start(mount)
    return Rest()
