"""A program is composed of services and rows, and ends with a plugin that dies."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from planlog.app.compose import open_program
from planlog.kernel.composition import parse_composition
from planlog.kernel.life import PluginFailed
from planlog.log.store.home import Home

MORTAL = """
from collections.abc import AsyncGenerator
import anyio

async def plugin() -> AsyncGenerator[None]:
    async def die() -> None:
        raise ValueError("the disk of this plugin is gone")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(die)
        yield
"""


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[str]:
    """The name of a feature whose service dies as soon as it runs."""
    package = tmp_path / f"mortal_{os.getpid()}"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "service.py").write_text(MORTAL)
    sys.path.insert(0, str(tmp_path))
    yield package.name
    sys.path.remove(str(tmp_path))


async def test_a_program_ends_with_a_plugin_that_dies_and_never_waits_for_it(mortal: str, tmp_path: Path) -> None:
    text = f'roles = ["service"]\n[[plugin]]\nid = "mortal"\nuse = "{mortal}"\n'
    composition = parse_composition(text, "test", "test.toml")
    with anyio.fail_after(10), pytest.raises(PluginFailed, match=r"mortal/service died: .*disk of this plugin is gone"):
        async with open_program(composition, ("service",), Home(tmp_path / "home"), {}):
            await anyio.sleep_forever()
