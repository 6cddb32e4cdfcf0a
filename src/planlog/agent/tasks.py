"""A task group whose failure is the error itself, so that a person reads one line and not a group of one."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup

from planlog.kernel.errors import first_leaf


@asynccontextmanager
async def task_group() -> AsyncGenerator[TaskGroup]:
    """anyio's, but what leaves it is the first error of the tasks instead of a group."""
    try:
        async with anyio.create_task_group() as tasks:
            yield tasks
    except BaseExceptionGroup as group:
        raise first_leaf(group) from None
