"""The law of scopes, searched for exceptions: what runs is the fixpoint of met needs, and what is stood on stays."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import anyio
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from planlog.kernel.errors import ConfigError
from planlog.kernel.fixpoint import Move, Rest, Rule, Standing, Stop, kept_offers, next_move
from planlog.kernel.life import PluginFailed
from planlog.kernel.plugin import Manifest, Mount
from planlog.kernel.scope import Scope, open_scope
from planlog.kernel.virtual_clock import run_virtually


class Kind:
    """An offer; it knows the run that made it."""

    def __init__(self, run: "Run | None") -> None:
        self.run = run


KINDS: list[type[Kind]] = [type(f"Kind{number}", (Kind,), {}) for number in range(6)]
GIVEN = KINDS[0]
START_DEADLINE = 10.0

Behaviour = Literal[
    "honest", "fails", "hangs", "ignores its first cancellation", "mortal", "fails to stop", "hangs at its end"
]


@dataclass(frozen=True)
class Plan:
    """A plugin to be: seconds before its yield and after it, and how it behaves."""

    needs: frozenset[int]
    offer: int | None
    behaviour: Behaviour
    slow_start: float
    slow_stop: float


seconds = st.sampled_from([0.0, 0.0, 1.0, 4.0])
behaviours: st.SearchStrategy[Any] = st.sampled_from([*["honest"] * 5, *["mortal"] * 4, *get_args(Behaviour)])


@st.composite
def houses(draw: st.DrawFn) -> list[Plan]:
    """Plans that mostly stand on earlier ones, in any order, with some cycles and some rivals for an offer."""
    house: list[Plan] = []
    for number in range(draw(st.integers(3, 7))):
        earlier, any_kind = st.integers(0, min(number, len(KINDS) - 1)), st.integers(0, len(KINDS) - 1)
        needs = draw(st.frozensets(earlier | earlier | earlier | any_kind, max_size=2))
        own = st.just(number + 1) if number + 1 < len(KINDS) else st.none()
        offer = draw(own | own | own | st.none() | st.integers(1, len(KINDS) - 1))
        house.append(Plan(needs - {offer}, offer, draw(behaviours), draw(seconds), draw(seconds)))
    return draw(st.permutations(house))


deeds = st.one_of(
    *[st.tuples(st.just(deed), st.integers(0, 6)) for deed in ("add", "add", "remove", "kill")],
    st.tuples(st.just("pass"), st.sampled_from([0, 1, 3, 12])),
    st.tuples(st.just("settle"), st.just(0)),
)


@dataclass(eq=False)
class Entry:
    """One adding of a plan."""

    number: int
    plan: Plan
    failed: bool = False
    killed: anyio.Event = field(default_factory=anyio.Event)


@dataclass(eq=False)
class Run:
    """One run of an entry with the moments of its life, as counts of all moments of the world."""

    entry: Entry
    stands_on: list["Run"]
    entered: int
    left_yield: int | None = None
    gone: int | None = None


class World:
    """What the plugins themselves saw, and what a reader of the plans would expect."""

    def __init__(self) -> None:
        self.moments = 0
        self.runs: list[Run] = []
        self.mounted: dict[int, Entry] = {}

    def moment(self) -> int:
        self.moments += 1
        return self.moments

    def mount(self, entry: Entry) -> Mount:
        plan = entry.plan
        needs = tuple(KINDS[number] for number in sorted(plan.needs))
        offer = None if plan.offer is None else KINDS[plan.offer]

        async def plugin(*needs: Kind) -> AsyncGenerator[Kind | None, None]:
            run = Run(entry, [need.run for need in needs if need.run], self.moment())
            self.runs.append(run)
            begun = anyio.current_time()
            try:
                if plan.behaviour == "fails":
                    entry.failed = True
                    raise ValueError("on purpose")
                try:
                    await anyio.sleep(plan.slow_start)
                    if plan.behaviour in ("hangs", "ignores its first cancellation"):
                        await anyio.sleep_forever()
                finally:
                    if anyio.current_time() >= begun + START_DEADLINE:
                        entry.failed = True
                    if plan.behaviour == "ignores its first cancellation":
                        await self.hang(entry)
                async with anyio.create_task_group() as group:
                    if plan.behaviour == "mortal":
                        group.start_soon(self.die_when_killed, entry)
                    try:
                        yield offer(run) if offer else None
                    finally:
                        run.left_yield = self.moment()
                        group.cancel_scope.cancel()
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(plan.slow_stop)
                if plan.behaviour == "fails to stop":
                    entry.failed = True
                    raise ValueError("on purpose")
                if plan.behaviour == "hangs at its end":
                    await self.hang(entry)
            finally:
                run.gone = self.moment()

        return Mount(f"plugin-{entry.number}", plugin, Manifest("world", needs, (), offer))

    @staticmethod
    async def hang(entry: Entry) -> None:
        entry.failed = True
        await anyio.sleep_forever()

    @staticmethod
    async def die_when_killed(entry: Entry) -> None:
        await entry.killed.wait()
        entry.failed = True
        raise ValueError("killed")

    def is_taken(self, plan: Plan) -> bool:
        return plan.offer is not None and any(entry.plan.offer == plan.offer for entry in self.mounted.values())

    def expected(self) -> set[str]:
        """The fixpoint from below, over the numbers of kinds."""
        running: set[int] = set()
        while True:
            offered = {0} | {self.mounted[number].plan.offer for number in running}
            more = {n for n, entry in self.mounted.items() if not entry.failed and entry.plan.needs <= offered}
            if more == running:
                return {f"plugin-{number}" for number in running}
            running = more

    def check_order(self) -> None:
        for run in self.runs:
            assert run.gone is not None, "a plugin was left behind"
            for ground in run.stands_on:
                assert ground.entered < run.entered
                assert run.gone < (ground.left_yield or 0), "stood on what had gone"


def law(rule: Rule, **how: Any) -> Callable[[], None]:
    @settings(**how)
    @given(
        houses(),
        st.lists(deeds, min_size=4, max_size=25),
        st.sampled_from(["quietly", "cancelled", "raising"]),
    )
    def holds(drawn: list[Plan], story: list[tuple[str, int]], leave: str) -> None:
        run_virtually(lambda: play(rule, drawn, story, leave))

    return holds


async def play(rule: Rule, drawn: list[Plan], story: list[tuple[str, int]], leave: str) -> None:
    world = World()

    async def inside() -> None:
        async with open_scope(given={GIVEN: GIVEN(None)}, rule=rule) as scope:
            for deed, number in [("add", n) for n in range(len(drawn))] + story:
                await do(world, scope, drawn, deed, number)
            # A death takes a few rounds of the loop to be noticed, also of a plugin that was killed before it stood;
            # time passes only when nothing else is to do.
            for _ in world.mounted:
                await scope.settled()
                await anyio.sleep(0.5)
            await scope.settled()
            assert {s.id for s in scope.status() if s.state == "failed"} == {
                f"plugin-{number}" for number, entry in world.mounted.items() if entry.failed
            }
            assert {s.id for s in scope.status() if s.state == "running"} == world.expected()
            if leave == "cancelled":
                whole.cancel()
                await anyio.sleep_forever()
            if leave == "raising":
                raise KeyError("out")

    with anyio.CancelScope() as whole, suppress(KeyError, PluginFailed):
        await inside()
    world.check_order()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def do(world: World, scope: Scope, drawn: list[Plan], deed: str, number: int) -> None:
    match deed:
        case "add" if number < len(drawn) and number not in world.mounted:
            entry = Entry(number, drawn[number])
            if world.is_taken(entry.plan):
                with pytest.raises(ConfigError):
                    scope.add(world.mount(entry))
            else:
                world.mounted[number] = entry
                scope.add(world.mount(entry))
        case "remove" if number in world.mounted:
            del world.mounted[number]
            scope.remove(f"plugin-{number}")
        case "kill" if number in world.mounted:
            world.mounted[number].killed.set()
        case "pass":
            await anyio.sleep(number)
        case "settle":
            await scope.settled()
        case _:
            pass


def test_what_runs_is_always_the_fixpoint_of_met_needs_and_what_is_stood_on_stays() -> None:
    law(next_move, max_examples=300)()


def keep_dependents(mounts: Any, given: Any) -> Move:
    move = next_move(mounts, given)
    return Rest() if isinstance(move, Stop) and move.mount.wanted else move


def stop_the_ground_first(mounts: Any, given: Any) -> Move:
    kept = kept_offers(mounts, given)
    falling: list[Standing] = [m for m in mounts if m.state in ("starting", "running") and not m.may_stay(kept)]
    return Stop(falling[0]) if falling else next_move(mounts, given)


@pytest.mark.parametrize("mutant", [keep_dependents, stop_the_ground_first])
def test_the_law_catches_a_scope_without_the_stop_rule(mutant: Rule) -> None:
    with pytest.raises(AssertionError):
        law(mutant, max_examples=1_000, phases=[Phase.generate], derandomize=True, database=None)()


def test_a_virtual_hour_takes_no_time() -> None:
    async def wait() -> float:
        await anyio.sleep(3600)
        return anyio.current_time()

    main: Callable[[], Coroutine[Any, Any, float]] = wait
    assert run_virtually(main) == 3600
