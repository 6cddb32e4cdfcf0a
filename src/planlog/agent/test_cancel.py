"""A turn that somebody stops really stops, is closed on the log, and the next prompt works."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from anyio.abc import TaskGroup
from inline_snapshot import snapshot
from tests.request_checker import faults_of

from planlog.agent.conftest import House, Say, Script, call, calls, events_of, next_request, told
from planlog.agent.event import Aborted, AbortReason, Completed, EndReason
from planlog.agent.inbox import Wish, new_command
from planlog.agent.live import LiveDelta, LiveNews
from planlog.log.session import Session
from planlog.log.store import StoreFull
from planlog.model.model import ReasoningDelta
from planlog.tools.tool import Execution, Tool

Stop = Callable[[Session], Awaitable[None]]


async def _stopped_after(house: House, session: Session, model: Script, seconds: float) -> tuple[EndReason, float]:
    """Cancels by command; how the turn ended, and how long that took."""
    began = 0.0
    end: EndReason | None = None
    async with anyio.create_task_group() as tasks:

        async def cancel() -> None:
            nonlocal began
            await anyio.sleep(seconds)
            began = anyio.current_time()
            await house.first.agent.cancel(session)

        tasks.start_soon(cancel)
        end = await house.run(session, model, "first")
    assert end is not None
    return end, anyio.current_time() - began


async def test_a_cancelled_stream_keeps_its_text_and_the_next_prompt_works(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "a long, long answer", "delay_ms": 4000}, {"text": "Short."}])
    end, took = await _stopped_after(house, session, model, 2.5)
    assert end == Aborted(AbortReason("user"))
    assert took < 1
    assert await told(session, 9) == snapshot("""\
9 assistant/chunk block-start
10 assistant/chunk text-delta a long, long
11 assistant/message interrupted 'a long, long' <- [9, 10]
12 step/end 1.1
13 turn/end 1 aborted user\
""")
    assert await house.run(session, model, "second") == Completed()
    assert len(model.asked) == 2


async def test_a_cancelled_tool_gets_a_result_and_so_do_those_behind_it(house: House) -> None:
    session = await house.session()
    asked = calls(call("read", text="quick"), call("read", text="slow", seconds=99), call("say", text="never"))
    model = Script([asked, {"text": "Short."}])
    end, took = await _stopped_after(house, session, model, 5)
    assert end == Aborted(AbortReason("user"))
    assert took < 1
    assert house.first.done == ["quick"]
    assert await told(session, 10) == snapshot("""\
10 tool/call read#call-1-1({"text":"quick"})
11 tool/call read#call-1-2({"text":"slow","seconds":99})
12 tool/result call-1-1: 'quick' <- [10]
13 tool/result [ABORTED] call-1-2: 'Error: aborted while it was running; it may have taken effect in part, check before you retry' <- [11]
14 tool/call say#call-1-3({"text":"never"})
15 tool/result [ABORTED_BEFORE_DISPATCH] call-1-3: 'Error: aborted before it was started; nothing was done, you may call it again if it is still wanted' <- [14]
16 step/end 1.1
17 turn/end 1 aborted user\
""")
    assert await house.run(session, model, "second") == Completed()


async def test_a_call_that_was_streaming_is_closed_too(house: House) -> None:
    session = await house.session()
    long = calls({"name": "say", "arguments": '{"text": "a very long text, longer than one delta"}'}, delay_ms=4000)
    model = Script([long, {"text": "Short."}])
    await _stopped_after(house, session, model, 2.5)
    assert house.first.done == []
    assert faults_of(await next_request(session)) == []
    assert "ABORTED_BEFORE_DISPATCH" in await told(session)
    assert await house.run(session, model, "second") == Completed()


async def test_thinking_that_was_cancelled_is_kept_as_chunks_and_makes_no_message(house: House) -> None:
    session = await house.session()
    model = Script([{"reasoning": "hmmmmmmmmmm, hmmmmmmmmmm", "delay_ms": 400}, {"text": "Short."}])
    await _stopped_after(house, session, model, 0.21)
    text = await told(session, 9)
    assert "assistant/message" not in text
    assert "assistant/chunk reasoning-delta hmmmmmmmmmm," in text
    assert await house.run(session, model, "second") == Completed()


def _held_up(house: House, session: Session, tasks: TaskGroup) -> None:
    """Lets the next look at the store take three seconds, in which nothing of the session can be written."""
    read = house.store.read

    async def slow(*args: Any, **kwargs: Any) -> list[bytes]:
        house.store.read = read
        await anyio.sleep(3)
        return await read(*args, **kwargs)

    house.store.read = slow
    tasks.start_soon(session.refresh)


async def test_a_stop_while_chunks_wait_to_be_written_loses_none(house: House) -> None:
    session = await house.session()
    model = Script([{"reasoning": "hmmmmmmmmmm, hmmmmmmmmmm", "delay_ms": 400}, {"text": "Short."}])
    heard: list[str] = []

    def hear(news: LiveNews) -> None:
        if isinstance(news, LiveDelta) and isinstance(news.chunk, ReasoningDelta):
            heard.append(news.chunk.text)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.run, session, model)
        with house.first.live.listen(session.id, hear):
            await anyio.sleep(0.1)
            _held_up(house, session, tasks)
            await anyio.sleep(0.25)
            house.first.agent.stop(session, "user")
    text = await told(session, 9)
    assert "".join(heard)
    assert [line.split("-delta ")[1] for line in text.splitlines() if "-delta" in line] == ["".join(heard)]


async def test_a_stop_while_a_failure_waits_to_be_written_keeps_what_was_heard(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "half an answer", "cut_after": 4}, {"text": "Short."}])
    async with anyio.create_task_group() as tasks:

        def hear(news: LiveNews) -> None:
            if not heard:
                _held_up(house, session, tasks)
            heard.append(news)

        heard: list[LiveNews] = []
        with house.first.live.listen(session.id, hear):
            tasks.start_soon(house.run, session, model)
            await anyio.sleep(1)
            house.first.agent.stop(session, "user")
            await anyio.sleep(5)
    text = await told(session, 9)
    assert "text-delta half\n11 llm/retry" in text
    assert text.endswith("aborted user")


async def test_the_wait_before_a_retry_can_be_cancelled(house: House) -> None:
    session = await house.session()
    model = Script([{"error": {"status": 429, "message": "slow down", "retry_after": 50}}, {"text": "Short."}])
    end, took = await _stopped_after(house, session, model, 10)
    assert end == Aborted(AbortReason("user"))
    assert took < 1
    assert await house.run(session, model, "second") == Completed()


async def test_an_open_question_can_be_cancelled(house: House) -> None:
    process = house.process(policy="ask")
    session = await house.session()
    session = await process.sessions.open(session.id)
    house.first = process
    model = Script([calls(call("risk", text="it")), {"text": "Short."}])
    end, _ = await _stopped_after(house, session, model, 10)
    assert end == Aborted(AbortReason("user"))
    assert process.done == []
    assert await told(session, 10) == snapshot("""\
10 approval/asked risk#call-1-1
11 tool/call risk#call-1-1({"text":"it"})
12 tool/result [ABORTED_BEFORE_DISPATCH] call-1-1: 'Error: aborted before it was started; nothing was done, you may call it again if it is still wanted' <- [11]
13 step/end 1.1
14 turn/end 1 aborted user\
""")
    assert await process.run(session, model, "second") == Completed()


async def test_cancelling_the_task_closes_the_turn_and_travels_on(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("say", text="never", seconds=99)), {"text": "Short."}])
    with anyio.move_on_after(5) as scope:
        await house.run(session, model, "first", cancelled_by="parent")
    assert scope.cancelled_caught
    assert (await told(session)).splitlines()[-1].endswith("turn/end 1 aborted parent")
    assert await house.run(session, model, "second") == Completed()


async def test_a_program_that_ends_says_so(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("say", text="never", seconds=99))])
    async with anyio.create_task_group() as tasks:

        async def end() -> None:
            await anyio.sleep(3)
            house.first.agent.stop(session, "disposed")

        tasks.start_soon(end)
        assert await house.run(session, model) == Aborted(AbortReason("disposed"))


async def test_a_cancel_that_comes_too_late_stops_no_later_turn(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "One."}, {"text": "Two."}, {"text": "Three."}])
    await house.run(session, model)
    await house.first.agent.cancel(session)
    assert await session.commands() == []
    await session.send(new_command("cancel", Wish(turn=1), 0))
    assert await house.run(session, model) == Completed()
    assert await session.commands() == []
    assert await house.run(session, model) == Completed()


async def test_a_cancel_for_another_turn_is_gone_when_work_begins_and_ignored_when_it_comes_later(house: House) -> None:
    session = await house.session()
    seen: list[int] = []

    async def late(params: Say, execution: Execution) -> str:
        seen.append(len(await session.commands()))
        await session.send(new_command("cancel", Wish(turn=1), 0))
        await anyio.sleep(5)
        return "not stopped"

    await house.run(session, Script([{"text": "One."}]))
    await session.send(new_command("cancel", Wish(turn=1), 0))
    with house.first.tools.add(Tool("late", "Is late.", Say, late, str)):
        assert await house.run(session, Script([calls(call("late")), {"text": "Two."}])) == Completed()
    assert seen == [0]
    assert await session.commands() == []


async def test_a_tool_that_finishes_although_it_was_cancelled_keeps_its_result(house: House) -> None:
    async def stubborn(params: Say, execution: Execution) -> str:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(2)
        return "finished all the same"

    session = await house.session()
    with house.first.tools.add(Tool("stubborn", "Goes on.", Say, stubborn, str)):
        model = Script([calls(call("stubborn"), call("say", text="never"))])
        await _stopped_after(house, session, model, 1)
    text = await told(session)
    assert "call-1-1: 'finished all the same'" in text
    assert "[ABORTED_BEFORE_DISPATCH] call-1-2" in text


@pytest.mark.parametrize("after", range(1, 40))
async def test_wherever_a_cancel_strikes_the_log_is_closed_and_the_next_request_valid(house: House, after: int) -> None:
    session = await house.session()
    model = Script(
        [
            {"error": {"status": 500, "message": "oops"}, "text": "half of an answer"},
            calls(call("read", seconds=1), call("read", seconds=2), call("say", seconds=1), text="Look", delay_ms=900),
            {"text": "all done now", "delay_ms": 900},
            {"text": "Next."},
            {"text": "Next."},
            {"text": "Next."},
        ]
    )
    with anyio.move_on_after(after * 0.17):
        await house.run(session, model, "first")
    events = await events_of(session)
    assert [event.type for event in events].count("turn/end") == 1
    assert events[-1].type == "turn/end"
    assert faults_of(await next_request(session)) == []
    assert await house.run(session, model, "second") == Completed()


async def test_a_full_disk_is_told_in_one_line_and_the_next_run_goes_on(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "One."}, {"text": "Two."}])
    append, count = house.store.append, 0

    async def full(*args: Any, **kwargs: Any) -> None:
        nonlocal count
        count += 1
        if count == 2:
            raise StoreFull("/data/planlog.db: no space left")
        await append(*args, **kwargs)

    house.store.append = full
    with pytest.raises(StoreFull, match="no space left"):
        await house.run(session, model, "first")
    assert "One." not in await told(session)
    assert await house.run(session, model, "second") == Completed()
    assert await told(session, 9) == snapshot("""\
9 step/end 1.1
10 turn/end 1 interrupted
11 agent/inbox/spliced next-turn -0 +["'second'"]
12 turn/start 2
13 agent/inbox/spliced next-turn -1 +[]
14 step/start 2.1
15 user/message 'second'
16 assistant/message 'Two.'
17 step/end 2.1
18 turn/end 2 completed\
""")
