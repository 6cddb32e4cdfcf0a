"""The commands of features, mounted without an event loop, so that `planlog --help` costs no more than it must."""

from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from planlog.faces.cli import CommandLine
from planlog.kernel.composition import Composition, Row
from planlog.kernel.errors import ConfigError, one_line
from planlog.kernel.plugin import read_manifest


@contextmanager
def mounted_commands(composition: Composition) -> Generator[CommandLine]:
    """The command line of a composition's rows until the block ends; a row without `cli.py` adds nothing."""
    line = CommandLine()
    running: list[AsyncGenerator[None]] = []
    try:
        for row in composition.rows if "cli" in composition.roles else ():
            if _has_commands(row):
                running.append(_start(row, line))  # noqa: PERF401 - what started must be known when the next one fails
        yield line
    finally:
        for plugin in reversed(running):
            _step(plugin.aclose())


def _has_commands(row: Row) -> bool:
    try:
        return find_spec(f"{row.use}.cli") is not None
    except ImportError as error:
        raise ConfigError(f'{row.id}: use = "{row.use}": {error}') from error


def _start(row: Row, line: CommandLine) -> AsyncGenerator[None]:
    module = f"{row.use}.cli"
    try:
        plugin = getattr(import_module(module), "plugin", None)
    except Exception as error:
        raise ConfigError(f"{row.id}: cannot import {module}: {one_line(error)}") from error
    manifest = read_manifest(plugin, module)
    if plugin is None or manifest.needs != (CommandLine,) or manifest.settings or manifest.offer:
        raise ConfigError(f"{module}: its plugin takes a CommandLine, no settings, and offers nothing")
    running: AsyncGenerator[None] = plugin(line)
    if not _step(anext(running)):
        raise ConfigError(f"{module}: plugin awaits; commands are mounted without an event loop")
    return running


def _step(awaitable: Any) -> bool:
    """Runs an awaitable that never waits; False for one that does."""
    step: Coroutine[Any, Any, Any] = awaitable
    try:
        step.send(None)
    except (StopIteration, StopAsyncIteration):
        return True
    step.close()
    return False
