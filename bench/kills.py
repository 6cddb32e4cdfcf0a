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
from tests.faults.scene import make_scene


def main() -> int:
    """Prints how far the killed runs had come; ends with an AssertionError where something was lost."""
    parser = argparse.ArgumentParser(prog="python -m bench.kills", description=__doc__)
    parser.add_argument("times", nargs="?", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None, help="to repeat a series")
    options = parser.parse_args()
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        scene = make_scene(Path(folder))
        begin = time.perf_counter()
        events = len(acknowledged(scene.run().stdout))
        whole = time.perf_counter() - begin
        reached: list[int] = []
        for _ in range(options.times):
            shutil.rmtree(scene.home, ignore_errors=True)
            with subprocess.Popen(
                scene.command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=scene.folder,
            ) as run:
                # Starting is two thirds of a run; the moments that matter come after it.
                time.sleep(dice.uniform(0.3, 1.1) * whole)
                run.kill()
                said = acknowledged(run.communicate()[0])
            if scene.home.exists():
                asyncio.run(check_what_is_left(scene, said))
            reached.append(len(said))
    between = sum(0 < count < events for count in reached)
    print(f"{options.times} kills, none lost anything: {reached.count(0)} before the first event was acknowledged,")
    print(
        f"{between} in the middle of the run, {sum(count >= events for count in reached)} after its end ({events} events)"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
