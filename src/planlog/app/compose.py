"""Makes a running program of a composition: the services that every program has, and its rows by their roles."""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from planlog.agent.live import Live
from planlog.agent.tasks import task_group
from planlog.kernel.composition import Composition
from planlog.kernel.features import load_row
from planlog.kernel.last_acts import LastActs
from planlog.kernel.life import Deadlines
from planlog.kernel.plugin import Mount, mount_plugin
from planlog.kernel.scope import Scope, open_scope
from planlog.log import sessions
from planlog.log.projection import Projections
from planlog.log.store import sqlite
from planlog.log.store.home import Home
from planlog.log.vocabulary import Vocabulary
from planlog.tools.tool import Tools

START_SECONDS = 15.0
"""For a plugin: more than the store waits for a lock, so that the store is the one that says what it waited for."""


@asynccontextmanager
async def open_program(
    composition: Composition, roles: Collection[str], home: Home, given: Mapping[type, Any]
) -> AsyncIterator[Scope]:
    """A scope in which everything runs that the composition asks for in these roles, until the block ends.

    `given` is what the program itself offers to plugins, such as a face's registry. Raises `ConfigError` for a row
    that cannot be mounted or waits for something that nobody offers, `PluginFailed` for one that does not start.
    """
    services = {
        Home: home,
        Vocabulary: Vocabulary(),
        Projections: Projections(),
        Tools: Tools(),
        Live: Live(),
        LastActs: LastActs(),
    }
    core = [mount_plugin("store", sqlite.plugin), mount_plugin("sessions", sessions.plugin)]
    mounts = [*core, *mounted_rows(composition, roles)]
    async with open_scope(mounts, {**services, **given}, deadlines=Deadlines(start=START_SECONDS)) as scope:
        await scope.ready()
        async with task_group() as tasks:
            tasks.start_soon(_raise_failure, scope)
            yield scope
            tasks.cancel_scope.cancel()


async def _raise_failure(scope: Scope) -> None:
    """Ends the program with the plugin that dies while it runs: what stood on it has gone as well."""
    raise await scope.failure()


def mounted_rows(composition: Composition, roles: Collection[str]) -> Iterator[Mount]:
    """The plugins of all rows in those of `roles` that the composition has; every row's settings are checked."""
    wanted = [role for role in composition.roles if role in roles]
    for row in composition.rows:
        yield from load_row(row, wanted, composition.roles)
