"""Times two things in turn, so that the machine's moods fall on both, and speaks of ratios by pairs."""

import gc
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Row:
    """One line of the table. `value` is compared with `bar`; `raw` keeps every single figure."""

    name: str
    value: float
    bar: float
    unit: str
    detail: str
    raw: dict[str, Any] = field(default_factory=dict)

    @property
    def met(self) -> bool:
        """Whether the row meets its bar."""
        return self.value <= self.bar if not self.unit.startswith("≥") else self.value >= self.bar


def interleaved(calls: dict[str, Callable[[], float]], blocks: int) -> dict[str, list[float]]:
    """Seconds of each call, block after block, in an order that turns with each block; one block is not counted."""
    names = list(calls)
    taken: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    for block in range(blocks + 1):
        for name in names[block % len(names) :] + names[: block % len(names)]:
            seconds = calls[name]()
            if block:
                taken[name].append(seconds)
    return taken


def ratio(taken: dict[str, list[float]], ours: str, other: str) -> tuple[float, float, float]:
    """Quartiles (25 %, 50 %, 75 %) of ours / other, pair by pair."""
    pairs = sorted(a / b for a, b in zip(taken[ours], taken[other], strict=True))
    low, middle, high = statistics.quantiles(pairs, n=4, method="inclusive")
    return low, middle, high


def micro(seconds: list[float]) -> str:
    """The median in microseconds, to read."""
    return f"{statistics.median(seconds) * 1e6:,.1f} µs"


def ratio_row(
    name: str,
    taken: dict[str, list[float]],
    ours: str,
    other: str,
    bar: float,
    *,
    more: str = "",
    at_least: bool = False,
) -> Row:
    """A row whose value is the median ratio of `ours` to `other`."""
    low, middle, high = ratio(taken, ours, other)
    detail = f"{ours} {micro(taken[ours])}, {other} {micro(taken[other])}, quartiles {low:.2f} to {high:.2f}"
    unit = "≥ ×" if at_least else "×"
    return Row(name, middle, bar, unit, detail + (f"; {more}" if more else ""), {k: list(v) for k, v in taken.items()})
