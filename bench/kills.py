"""python -m bench.kills [N]: kills a run N times at a random moment, and looks each time whether anything was lost."""

import argparse
import asyncio
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from tests.faults.checks import acknowledged, check_what_is_left
from tests.faults.scene import Scene, make_scene


def _killed(scene: Scene, lines: int, delay: float) -> str:
    """What a run printed until it was killed, `delay` seconds after its first `lines` lines."""
    with subprocess.Popen(
        scene.command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=scene.folder,
    ) as run:
        assert run.stdout is not None
        printed = [run.stdout.readline() for _ in range(lines)]
        time.sleep(delay)
        run.kill()
        return "".join(printed) + run.stdout.read()


def main() -> int:
    """Prints how far the killed runs had come; ends with an AssertionError where something was lost."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__)
    parser.add_argument("times", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None, help="to repeat a series")
    options = parser.parse_args()
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        scene = make_scene(Path(folder))
        events = len(acknowledged(scene.run().stdout))
        reached: list[int] = []
        for _ in range(options.times):
            shutil.rmtree(scene.home, ignore_errors=True)
            said = acknowledged(_killed(scene, dice.randrange(events), dice.uniform(0, 0.004)))
            if scene.home.exists():
                asyncio.run(check_what_is_left(scene, said))
            reached.append(len(said))
    middle, whole = sum(0 < count < events for count in reached), reached.count(events)
    print(f"{options.times} kills, none lost anything: {reached.count(0)} before an event was acknowledged,")
    print(f"{middle} in the middle of the run, {whole} after its last of {events} events")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
