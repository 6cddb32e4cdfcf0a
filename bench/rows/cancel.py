"""How long a Ctrl-C takes until the program has ended, at each moment of a turn."""

import tempfile
import time
from pathlib import Path

from tests.acceptance.conftest import House
from tests.acceptance.moments import MOMENTS

from bench.measure import Row


def measure(quick: bool) -> list[Row]:
    """One row, in milliseconds: the slowest moment, by its median; the others beside it."""
    medians: dict[str, float] = {}
    raw: dict[str, list[float]] = {}
    for moment in MOMENTS:
        taken: list[float] = []
        for _ in range(1 if quick else 3):
            with tempfile.TemporaryDirectory() as folder:
                house = House(Path(folder))
                at_work = moment.begin(house)
                start = time.perf_counter()
                at_work.interrupt()
                while not at_work.is_over():
                    time.sleep(0.001)
                taken.append((time.perf_counter() - start) * 1000)
                at_work.finish()
                house.stop()
        raw[moment.name] = taken
        medians[moment.name] = sorted(taken)[len(taken) // 2]
    slowest = max(medians, key=medians.__getitem__)
    detail = ", ".join(f"{name} {value:.0f}" for name, value in medians.items())
    return [Row("Ctrl-C to the end of the program, at worst", medians[slowest], 1000.0, "ms", detail, raw)]
