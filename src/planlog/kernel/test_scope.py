import asyncio
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from planlog.kernel.errors import ConfigError, PlanlogError
from planlog.kernel.life import Deadlines, PluginFailed
from planlog.kernel.plugin import mount_plugin
from planlog.kernel.scope import NotRunning, open_scope


class Words: ...


class Tools:
    def __init__(self, words: Words) -> None:
        self.words = words


class Story(list[str]):
    """What happened, in order; given to the plugins below."""


async def words(story: Story) -> AsyncGenerator[Words]:
    story.append("words open")
    yield Words()
    story.append("words close")


async def tools(story: Story, words: Words) -> AsyncGenerator[Tools]:
    story.append("tools open")
    yield Tools(words)
    story.append("tools close")


async def todo(story: Story, words: Words, tools: Tools, *, loud: bool = False) -> AsyncGenerator[None]:
    story.append("TODO OPEN" if loud else "todo open")
    yield
    story.append("todo close")


async def waits_for_ever() -> AsyncGenerator[Words]:
    await anyio.sleep_forever()
    yield Words()


async def test_plugins_start_on_what_they_need_and_close_the_other_way_round() -> None:
    story = Story()
    mounts = [mount_plugin("todo", todo, {"loud": True}), mount_plugin("tools", tools), mount_plugin("words", words)]
    async with open_scope(mounts, {Story: story}) as scope:
        await scope.ready()
        assert scope.get(Tools).words is scope.get(Words)
        assert scope.get(Story) is story
    assert story == ["words open", "tools open", "TODO OPEN", "todo close", "tools close", "words close"]


async def test_cancelling_the_program_closes_them_in_the_same_order() -> None:
    story = Story()
    mounts = [mount_plugin("words", words), mount_plugin("tools", tools), mount_plugin("todo", todo)]
    with anyio.CancelScope() as program:
        async with open_scope(mounts, {Story: story}) as scope:
            await scope.ready()
            program.cancel()
            await anyio.sleep_forever()
    assert story[3:] == ["todo close", "tools close", "words close"]


async def test_a_second_interrupt_does_not_leave_plugins_behind() -> None:
    story: list[str] = []

    async def slow() -> AsyncGenerator[None]:
        yield
        await anyio.sleep(2)
        story.append("closed")

    async def program() -> None:
        async with open_scope([mount_plugin("slow", slow)]) as scope:
            await scope.ready()
            await anyio.sleep_forever()

    task = asyncio.create_task(program())
    for _ in range(2):
        await anyio.sleep(1)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert story == ["closed"]


async def test_unmounting_a_need_stops_what_stands_on_it_and_mounting_it_again_starts_it_again() -> None:
    story = Story()
    mounts = [mount_plugin("words", words), mount_plugin("tools", tools)]
    async with open_scope(mounts, {Story: story}) as scope:
        await scope.ready()
        scope.remove("words")
        await scope.settled()
        assert [str(status) for status in scope.status()] == ["tools is waiting for Words"]
        scope.add(mount_plugin("words", words))
        await scope.ready()
    first = ["words open", "tools open", "tools close", "words close"]
    assert story == first * 2


async def test_a_successor_can_be_mounted_at_once_and_follows_its_predecessor() -> None:
    story = Story()
    async with open_scope([mount_plugin("words", words)], {Story: story}) as scope:
        await scope.ready()
        scope.remove("words")
        scope.add(mount_plugin("words", words))
        await scope.ready()
        assert story == ["words open", "words close", "words open"]


async def test_starts_run_concurrently() -> None:
    async def slow() -> AsyncGenerator[None]:
        await anyio.sleep(4)
        yield

    begun = anyio.current_time()
    async with open_scope([mount_plugin(str(number), slow) for number in range(20)]) as scope:
        await scope.ready()
        assert anyio.current_time() == begun + 4


async def test_a_plugin_that_raises_at_its_start_fails_in_one_line() -> None:
    async def broken() -> AsyncGenerator[Words]:
        raise OSError("no space\nat all")
        yield Words()

    mounts = [mount_plugin("broken", broken), mount_plugin("tools", tools)]
    async with open_scope(mounts, {Story: Story()}) as scope:
        failure = await scope.failure()
        assert str(failure) == "broken failed to start: OSError: no space"
        assert isinstance(failure.__cause__, OSError)
        with pytest.raises(PluginFailed) as caught:
            await scope.ready()
        assert caught.value is failure
        assert [str(status) for status in scope.status()] == [str(failure), "tools is waiting for Words"]
        with pytest.raises(NotRunning) as missing:
            scope.get(Words)
        assert str(missing.value) == f"nothing that runs offers Words; {failure}"


async def test_a_plugin_that_was_configured_wrongly_ends_the_program_as_a_matter_of_configuration() -> None:
    async def model() -> AsyncGenerator[None]:
        raise ConfigError("OPENAI_API_KEY is not set")
        yield

    async with open_scope([mount_plugin("model", model)]) as scope:
        with pytest.raises(ConfigError) as caught:
            await scope.ready()
    assert str(caught.value) == "model failed to start: OPENAI_API_KEY is not set"


async def test_a_need_that_nothing_offers_is_a_matter_of_configuration() -> None:
    async with open_scope([mount_plugin("todo", todo)], {Story: Story()}) as scope:
        with pytest.raises(ConfigError) as caught:
            await scope.ready()
    assert str(caught.value) == "todo needs Words, Tools, which nothing that runs offers"


async def test_a_start_that_hangs_is_cancelled_at_its_deadline() -> None:
    begun = anyio.current_time()
    async with open_scope([mount_plugin("slow", waits_for_ever)]) as scope:
        assert str(await scope.failure()) == "slow did not start within 10 s"
        assert anyio.current_time() == begun + 10


async def test_a_start_can_be_cancelled_and_may_await_while_it_cleans_up() -> None:
    story: list[str] = []

    async def slow() -> AsyncGenerator[None]:
        try:
            await anyio.sleep_forever()
        finally:
            await anyio.sleep(1)
            story.append("cleaned up")
        yield

    async with open_scope([mount_plugin("slow", slow)]) as scope:
        await anyio.sleep(1)
        scope.remove("slow")
        await scope.settled()
        assert story == ["cleaned up"]
        assert scope.status() == []
        assert scope.failures == ()


async def test_a_start_that_outlives_its_deadline_is_closed_and_nothing_starts_on_it() -> None:
    story = Story()

    async def deaf() -> AsyncGenerator[Words]:
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            story.append("heard nothing")
        yield Words()
        await anyio.sleep(1)
        story.append("words close")

    mounts = [mount_plugin("deaf", deaf), mount_plugin("tools", tools)]
    async with open_scope(mounts, {Story: story}) as scope:
        assert str(await scope.failure()) == "deaf did not start within 10 s"
        assert story == ["heard nothing", "words close"]
        assert str(scope.status()[1]) == "tools is waiting for Words"


@pytest.mark.parametrize("removed", [True, False])
async def test_a_teardown_that_hangs_is_cut_off_and_told(removed: bool) -> None:
    async def stubborn() -> AsyncGenerator[None]:
        yield
        await anyio.sleep_forever()

    begun = anyio.current_time()
    with pytest.raises(PluginFailed) as caught:
        async with open_scope([mount_plugin("stubborn", stubborn)], deadlines=Deadlines(stop=3)) as scope:
            await scope.ready()
            if removed:
                scope.remove("stubborn")
                raise await scope.failure()
    assert str(caught.value) == "stubborn did not stop within 3 s"
    assert anyio.current_time() == begun + 3


async def test_a_teardown_that_fails_is_a_note_on_the_error_that_ended_the_program() -> None:
    async def clumsy() -> AsyncGenerator[None]:
        yield
        raise ValueError("dropped it")

    with pytest.raises(KeyError) as caught:
        async with open_scope([mount_plugin("clumsy", clumsy)]) as scope:
            await scope.ready()
            raise KeyError("mine")
    assert caught.value.__notes__ == ["clumsy failed to stop: ValueError: dropped it"]


@pytest.mark.parametrize("groups", ["anyio", "asyncio"])
async def test_a_plugin_whose_task_dies_is_held_until_what_stands_on_it_has_stopped(groups: str) -> None:
    story, die = Story(), anyio.Event()

    async def mortal() -> None:
        await die.wait()
        raise ConnectionError("gone")

    async def anyio_words() -> AsyncGenerator[Words]:
        async with anyio.create_task_group() as group:
            group.start_soon(mortal)
            try:
                yield Words()
            finally:
                story.append("words close")

    async def asyncio_words() -> AsyncGenerator[Words]:
        async with asyncio.TaskGroup() as group:
            group.create_task(mortal())
            try:
                yield Words()
            finally:
                story.append("words close")

    async def slow_tools(words: Words) -> AsyncGenerator[None]:
        yield
        await anyio.sleep(3)
        story.append("tools close")

    plugin: Any = {"anyio": anyio_words, "asyncio": asyncio_words}[groups]
    async with open_scope([mount_plugin("words", plugin), mount_plugin("tools", slow_tools)]) as scope:
        await scope.ready()
        die.set()
        assert str(await scope.failure()) == "words died: ConnectionError: gone"
        assert story == ["tools close", "words close"]


async def test_a_plugin_that_lets_go_by_itself_is_a_failure_too() -> None:
    leave = anyio.Event()

    async def quitter() -> AsyncGenerator[None]:
        async def watch() -> None:
            await leave.wait()
            group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            group.start_soon(watch)
            yield

    async with open_scope([mount_plugin("quitter", quitter)]) as scope:
        await scope.ready()
        leave.set()
        assert str(await scope.failure()) == "quitter stopped without being asked"


async def test_a_plugin_yields_exactly_once_and_what_its_signature_promises() -> None:
    async def never() -> AsyncGenerator[None]:
        if story:
            yield

    async def twice() -> AsyncGenerator[None]:
        yield
        yield

    async def other() -> AsyncGenerator[Words]:
        yield Tools(Words())  # pyright: ignore[reportReturnType]
        story.append("undone")

    story: list[str] = []
    async with open_scope([mount_plugin("never", never)]) as scope:
        assert str(await scope.failure()) == "never failed to start: returned before its yield"
    async with open_scope([mount_plugin("other", other)]) as scope:
        assert str(await scope.failure()) == "other failed to start: offers Words, but yielded Tools"
    assert story == ["undone"]
    with pytest.raises(PluginFailed) as caught:
        async with open_scope([mount_plugin("twice", twice)]) as scope:
            await scope.ready()
    assert str(caught.value) == "twice failed to stop: yielded a second time; a plugin yields once"


async def test_an_offer_or_an_id_that_is_taken_is_refused() -> None:
    async def story_plugin() -> AsyncGenerator[Story]:
        yield Story()

    async with open_scope([mount_plugin("words", words)], {Story: Story()}) as scope:
        with pytest.raises(ConfigError, match="other: Words is already offered by words"):
            scope.add(mount_plugin("other", words))
        with pytest.raises(ConfigError, match="words is already mounted"):
            scope.add(mount_plugin("words", tools))
        with pytest.raises(ConfigError, match="story: Story is already given by the program"):
            scope.add(mount_plugin("story", story_plugin))
        with pytest.raises(NotRunning, match="nobody is not mounted"):
            scope.remove("nobody")
        await scope.ready()


async def test_a_composition_that_contradicts_itself_starts_nothing() -> None:
    story = Story()
    with pytest.raises(ConfigError):
        async with open_scope([mount_plugin("a", words), mount_plugin("b", words)], {Story: story}):
            story.append("inside")
    assert story == []


async def test_nothing_can_be_added_to_a_scope_that_closes() -> None:
    async def late() -> AsyncGenerator[None]:
        yield
        scope.add(mount_plugin("words", words))

    with pytest.raises(PlanlogError) as caught:
        async with open_scope([mount_plugin("late", late)], {Story: Story()}) as scope:
            await scope.ready()
    assert str(caught.value) == "late failed to stop: words cannot be added: the scope is closing"


async def test_a_plugin_lives_in_the_context_of_whoever_opened_the_scope() -> None:
    language: ContextVar[str] = ContextVar("language", default="none")
    seen: list[str] = []

    async def plugin() -> AsyncGenerator[None]:
        seen.append(language.get())
        yield

    language.set("the program's")
    async with open_scope() as scope:
        language.set("a request's")
        scope.add(mount_plugin("plugin", plugin))
        await scope.ready()
    assert seen == ["the program's"]
