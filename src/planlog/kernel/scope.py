"""A scope keeps plugins running: whatever its mounts need and offer, what runs is the fixpoint of met needs.

    async with open_scope(mounts, given={Home: home}) as scope:
        await scope.ready()
        await scope.get(Server).serve()

The rule is `fixpoint.next_move`; this module performs it. There is no task that supervises: whenever something changes
(a mount is added, starts, dies, ends), the rule is asked until it rests.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any, TypeVar, cast

from anyio import CancelScope
from msgspec import UNSET, Struct

from planlog.kernel.errors import ConfigError, PlanlogError
from planlog.kernel.fixpoint import Rule, Standing, Start, State, Stop, kept_offers, next_move
from planlog.kernel.life import Deadlines, Life, PluginFailed
from planlog.kernel.plugin import Mount, type_name

Offer = TypeVar("Offer")


class NotRunning(PlanlogError, LookupError):
    """Nothing that runs offers what was asked for."""


class Status(Struct, frozen=True):
    """How one mount stands; `missing` names the unmet needs of one that waits, `reason` says why one failed."""

    id: str
    state: State
    missing: tuple[str, ...] = ()
    reason: str = ""

    def __str__(self) -> str:
        if self.state == "failed":
            return f"{self.id} {self.reason}"
        return f"{self.id} is {self.state}" + (f" for {', '.join(self.missing)}" if self.missing else "")


class Seat(Standing, kw_only=True):
    """A mount's place in a scope, over all of its runs."""

    mount: Mount
    life: Life | None = None
    value: Any = UNSET
    failure: PluginFailed | None = None
    removed: bool = False


class Scope:
    """Made by `open_scope`. All methods belong to the event loop's thread."""

    def __init__(self, given: Mapping[type, Any], deadlines: Deadlines, rule: Rule) -> None:
        self._given = dict(given)
        self._deadlines = deadlines
        self._rule = rule
        self._seats: list[Seat] = []
        self._failures: list[PluginFailed] = []
        self._failed = asyncio.Event()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closing = False
        # Plugins live in the opener's context, not in that of whoever happens to cause a start.
        self._context = copy_context()

    def add(self, mount: Mount) -> None:
        """Mount it now or as soon as its needs are met; ConfigError if its id or its offer is taken."""
        if self._closing:
            raise PlanlogError(f"{mount.id} cannot be added: the scope is closing")
        offer = mount.manifest.offer
        if offer in self._given:
            raise ConfigError(f"{mount.id}: {type_name(offer)} is already given by the program")
        for seat in self._seats:
            if seat.removed:
                continue
            if seat.id == mount.id:
                raise ConfigError(f"{mount.id} is already mounted")
            if offer is not None and seat.offer is offer:
                raise ConfigError(f"{mount.id}: {type_name(offer)} is already offered by {seat.id}")
        self._seats.append(Seat(mount.id, mount.manifest.needs, offer, mount=mount))
        self._settle()

    def remove(self, id: str) -> None:
        """Unmount it, after all that stands on it; the id and the offer are free at once for a successor."""
        for seat in self._seats:
            if seat.id == id and not seat.removed:
                seat.removed, seat.wanted = True, False
                self._settle()
                return
        raise NotRunning(f"{id} is not mounted")

    async def settled(self) -> None:
        """Wait until nothing starts or stops any more."""
        while not self._quiet.is_set():
            await self._quiet.wait()

    async def ready(self) -> None:
        """Wait until settled, and demand that every mount runs: else PluginFailed, or ConfigError for unmet needs."""
        await self.settled()
        for seat in self._seats:
            if seat.failure is not None:
                raise seat.failure
        for status in self.status():
            if status.state == "waiting":
                raise ConfigError(f"{status.id} needs {', '.join(status.missing)}, which nothing that runs offers")

    def get(self, kind: type[Offer]) -> Offer:
        """What is given or offered, by a running mount, under this type."""
        if kind in self._given:
            return cast(Offer, self._given[kind])
        for seat in self._seats:
            if seat.offer is kind and seat.state == "running":
                return cast(Offer, seat.value)
        offering = [str(status) for status, seat in zip(self.status(), self._seats, strict=True) if seat.offer is kind]
        raise NotRunning(f"nothing that runs offers {type_name(kind)}" + "".join(f"; {line}" for line in offering))

    def status(self) -> list[Status]:
        """How each mount stands, in the order of mounting; one that was removed is listed until it is gone."""
        kept = kept_offers(self._seats, self._given)
        return [self._status(seat, kept) for seat in self._seats]

    def _status(self, seat: Seat, kept: set[type]) -> Status:
        if seat.state == "waiting":
            return Status(seat.id, "waiting", tuple(type_name(need) for need in seat.needs if need not in kept))
        if seat.failure is not None:
            return Status(seat.id, "failed", reason=seat.failure.reason)
        return Status(seat.id, seat.state)

    @property
    def failures(self) -> tuple[PluginFailed, ...]:
        """Everything that failed so far, oldest first; of mounts that are gone as well."""
        return tuple(self._failures)

    async def failure(self) -> PluginFailed:
        """Wait for the first failure; a program that cannot do without any plugin raises it."""
        await self._failed.wait()
        return self._failures[0]

    def _settle(self) -> None:
        self._seats = [seat for seat in self._seats if seat.is_live() or not seat.removed]
        while True:
            match self._rule(self._seats, self._given):
                case Start(mount=Seat() as seat):
                    self._start(seat)
                case Stop(mount=Seat(life=Life() as life) as seat):
                    seat.state = "stopping"
                    life.stop()
                case _:
                    break
        if any(seat.state in ("starting", "stopping") for seat in self._seats):
            self._quiet.clear()
        else:
            self._quiet.set()

    def _start(self, seat: Seat) -> None:
        def run(offer: Any) -> None:
            seat.state, seat.value = "running", offer
            self._settle()

        def die() -> None:
            seat.wanted = False
            self._settle()

        def end(failure: PluginFailed | None) -> None:
            seat.state, seat.value, seat.life = "waiting", UNSET, None
            if failure is not None:
                seat.state, seat.failure = "failed", failure
                self._failures.append(failure)
                self._failed.set()
            self._settle()

        needs = [self.get(need) for need in seat.needs]
        seat.state = "starting"
        seat.life = Life(seat.mount, needs, self._deadlines, on_start=run, on_death=die, on_end=end)
        seat.life.begin(self._context.copy())

    async def _close(self) -> None:
        self._closing = True
        for seat in self._seats:
            seat.removed, seat.wanted = True, False
        self._settle()
        interrupted: asyncio.CancelledError | None = None
        with CancelScope(shield=True):
            while self._seats:
                try:
                    await self.settled()
                except asyncio.CancelledError as error:
                    # The deadlines bound the wait; leaving plugins behind would be worse than finishing late.
                    interrupted = error
        if interrupted is not None:
            raise interrupted


@asynccontextmanager
async def open_scope(
    mounts: Iterable[Mount] = (),
    given: Mapping[type, Any] | None = None,
    *,
    deadlines: Deadlines = Deadlines(),  # noqa: B008 - it is frozen
    rule: Rule = next_move,
) -> AsyncIterator[Scope]:
    """Run these mounts until the block is left; they are then stopped, dependents first, even under cancellation.

    A mount that fails to stop while the block is left without an error makes it raise PluginFailed; with an error, the
    error gets a note. What failed earlier is in `failures` and is the program's to judge.
    """
    scope = Scope(given or {}, deadlines, rule)
    try:
        for mount in mounts:
            scope.add(mount)
        yield scope
    except BaseException as error:
        for failure in await _failed_closing(scope):
            error.add_note(str(failure))
        raise
    else:
        for failure in await _failed_closing(scope):
            raise failure


async def _failed_closing(scope: Scope) -> tuple[PluginFailed, ...]:
    before = len(scope.failures)
    await scope._close()
    return scope.failures[before:]
