"""python -m bench [ROW ...] [--quick]: measures, prints a table, writes bench/results/<time>.json."""

import argparse
import importlib
import json
import pkgutil
import platform
import time
from dataclasses import asdict
from pathlib import Path

from bench import rows
from bench.measure import Row


def main() -> int:
    """Runs the rows that were named, or all; 1 when one misses its bar."""
    names = [module.name for module in pkgutil.iter_modules(rows.__path__)]
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("rows", nargs="*", choices=[*names, []], help="rows to measure (all)")
    parser.add_argument("--quick", action="store_true", help="fewer blocks and shorter logs, to see that it runs")
    options = parser.parse_args()
    measured: list[Row] = []
    print(f"{'':2} {'row':52} {'value':>9} {'bar':>9}  beside")
    for name in options.rows or names:
        for row in importlib.import_module(f"bench.rows.{name}").measure(options.quick):
            unit = row.unit.removeprefix("≥ ")
            mark = "ok" if row.met else "!!"
            print(f"{mark} {row.name:52} {row.value:7.2f} {unit:2}{row.bar:7g} {unit:2} {row.detail}", flush=True)
            measured.append(row)
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    path = results / f"{time.strftime('%Y%m%d-%H%M%S')}.json"
    about = {"python": platform.python_version(), "machine": platform.machine(), "system": platform.release()}
    path.write_text(json.dumps({"about": about, "rows": [{**asdict(row), "met": row.met} for row in measured]}))
    print(f"raw figures: {path}")
    return 0 if all(row.met for row in measured) else 1


if __name__ == "__main__":
    raise SystemExit(main())
