"""What an installation weighs: planlog and what it needs, beside a bare virtual environment."""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from bench.measure import Row

ROOT = Path(__file__).parents[2]


def measure(quick: bool) -> list[Row]:
    """One row, in MB of files beside Python's own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "venv"
        venv.create(environment, with_pip=True)
        before = _size(environment)
        python = environment / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), str(ROOT)], check=True)
        after = _size(environment)
    detail = f"{sys.version_info.major}.{sys.version_info.minor}, with the byte code that pip writes"
    return [Row("install beside Python", (after - before) / 1e6, 25.0, "MB", detail)]


def _size(folder: Path) -> int:
    return sum(os.lstat(os.path.join(parent, name)).st_size for parent, _, names in os.walk(folder) for name in names)
