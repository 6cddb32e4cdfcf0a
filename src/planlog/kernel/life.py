"""One run of one plugin: its generator is entered, held open and left in one task, which nothing else shares."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextvars import Context
from typing import Any

from anyio import CancelScope
from msgspec import Struct

from planlog.kernel.errors import ConfigError, PlanlogError, one_line
from planlog.kernel.plugin import Mount, offer_fault


class PluginFailed(PlanlogError):
    """A plugin did not start, died, or did not stop: its text is the line to show, its cause the plugin's own error."""

    def __init__(self, id: str, reason: str) -> None:
        super().__init__(f"{id} {reason}")
        self.id = id
        self.reason = reason


class PluginRefused(PluginFailed, ConfigError):
    """A plugin found at its start that it was configured wrongly."""


class Deadlines(Struct, frozen=True):
    """Seconds that a plugin may take to reach its `yield`, and to finish after it was told to stop."""

    start: float = 10.0
    stop: float = 5.0


class Life:
    """Runs a mount until it is told to stop.

    `on_start` is called with the offer; `on_death` when the plugin's own scope was cancelled from within (a task of its
    task group raised): its generator is held open until `stop` so that whatever stands on it can go first; `on_end`
    last, with what went wrong or None. Only `stop` ends a healthy life: a start under way is cancelled, once, so that
    its `finally` blocks may still await; a running plugin is resumed after its `yield`. Both then have the stop
    deadline, after which every further await in the plugin is cancelled.
    """

    def __init__(
        self,
        mount: Mount,
        needs: list[Any],
        deadlines: Deadlines,
        *,
        on_start: Callable[[Any], None],
        on_death: Callable[[], None],
        on_end: Callable[[PluginFailed | None], None],
    ) -> None:
        self._mount = mount
        self._needs = needs
        self._deadlines = deadlines
        self._on_start = on_start
        self._on_death = on_death
        self._on_end = on_end
        self._told = asyncio.Event()
        self._whole = CancelScope()
        self._started = self._dying = self._late = self._overdue = False

    def begin(self, context: Context) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._deadlines.start, self._be_late)
        # A bare task, not one of a task group: a cancelled caller must not reach into plugins, only `stop` may.
        self._task = loop.create_task(self._live(), name=f"plugin {self._mount.id}", context=context)
        self._task.add_done_callback(self._report)

    def stop(self) -> None:
        if self._told.is_set():
            return
        self._told.set()
        self._limit_teardown()
        if not self._started and self._task is not asyncio.current_task():
            self._task.cancel()

    def _be_late(self) -> None:
        self._late = True
        self.stop()

    def _limit_teardown(self) -> None:
        self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._deadlines.stop, self._be_overdue)

    def _be_overdue(self) -> None:
        self._overdue = True
        self._whole.cancel()

    async def _live(self) -> None:
        # One cancel scope around everything: a plugin may yield inside scopes of its own, so none of ours may begin
        # before the `yield` and end after it.
        with self._whole:
            generator = self._mount.plugin(*self._needs, **self._mount.settings)
            try:
                offer = await anext(generator)
            except StopAsyncIteration:
                if self._told.is_set():
                    return
                raise PlanlogError("returned before its yield") from None
            self._timer.cancel()
            if fault := offer_fault(self._mount.manifest, offer):
                self._limit_teardown()
                await _resume(generator)
                raise PlanlogError(fault)
            if not self._told.is_set():
                self._started = True
                self._on_start(offer)
            await self._hold(generator)

    async def _hold(self, generator: AsyncGenerator[Any, None]) -> None:
        try:
            await self._told.wait()
        except asyncio.CancelledError as death:
            self._dying = True
            self._on_death()
            with CancelScope(shield=True):
                await self._told.wait()
            await _resume(generator, death)
        else:
            await _resume(generator)

    def _report(self, task: asyncio.Task[None]) -> None:
        self._timer.cancel()
        self._on_end(self._verdict(None if task.cancelled() else task.exception(), task.cancelled()))

    def _verdict(self, error: BaseException | None, cancelled: bool) -> PluginFailed | None:
        if self._late:
            return self._failed(f"did not start within {self._deadlines.start:g} s", error)
        if self._overdue:
            return self._failed(f"did not stop within {self._deadlines.stop:g} s", error)
        told_to_stop = self._told.is_set() and not self._dying
        if error is None:
            return None if told_to_stop else self._failed("stopped without being asked", None)
        if not self._started:
            return self._failed(f"failed to start: {one_line(error)}", error)
        return self._failed(f"{'failed to stop' if told_to_stop else 'died'}: {one_line(error)}", error)

    def _failed(self, reason: str, cause: BaseException | None) -> PluginFailed:
        kind = PluginRefused if isinstance(cause, ConfigError) else PluginFailed
        failed = kind(self._mount.id, reason)
        failed.__cause__ = cause
        return failed


async def _resume(generator: AsyncGenerator[Any, None], death: BaseException | None = None) -> None:
    """Let the plugin undo what it did; with `death`, its `yield` raises that."""
    try:
        await (anext(generator) if death is None else generator.athrow(death))
    except StopAsyncIteration:
        return
    await generator.aclose()
    raise PlanlogError("yielded a second time; a plugin yields once")
