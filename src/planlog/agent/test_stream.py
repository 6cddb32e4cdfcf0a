"""Answers as they stream: shown at once, written in few pieces, and made again when they break."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import anyio
import pytest
from inline_snapshot import snapshot

from planlog.agent.conftest import House, Script, call, calls, events_of, told
from planlog.agent.event import Completed, Failed
from planlog.agent.live import LiveDelta
from planlog.model.model import Chunk, ReasoningDelta, Request, TextDelta, ToolCallDelta


async def test_an_answer_that_is_quick_is_written_once(house: House) -> None:
    session = await house.session()
    await house.run(session, Script([{"text": "a quick answer that streams in several deltas"}]))
    assert "assistant/chunk" not in await told(session)


async def test_a_slow_answer_is_written_every_quarter_second_and_cited(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "0123456789ab" * 10, "delay_ms": 1000, "usage": {"inputTokens": 5, "outputTokens": 7}}])
    await house.run(session, model)
    assert await told(session, 9) == snapshot("""\
9 assistant/chunk block-start
10 assistant/chunk text-delta 0123456789ab0123456789ab
11 assistant/chunk text-delta 0123456789ab0123456789ab0123456789ab
12 assistant/chunk text-delta 0123456789ab0123456789ab0123456789ab
13 assistant/chunk text-delta 0123456789ab0123456789ab
14 assistant/chunk block-end
15 assistant/chunk usage
16 assistant/chunk finish
17 assistant/message '0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab0123456789ab' <- [9, 10, 11, 12, 13, 14, 15, 16]
18 step/end 1.1
19 turn/end 1 completed\
""")


async def test_a_stream_that_pauses_is_written_meanwhile(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "0123456789abcdef", "delay_ms": 60_000}])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.run, session, model)
        await anyio.sleep(30.3)
        assert (await told(session)).splitlines()[-1] == "10 assistant/chunk text-delta 0123456789ab"


async def test_much_text_is_written_before_the_quarter_second(house: House) -> None:
    session = await house.session()
    await house.run(session, Script([{"text": "x" * 10_000}]))
    sizes = [len(event.line) for event in await events_of(session) if b"text-delta" in event.line]
    assert len(sizes) == 3
    assert max(sizes) < 5000


async def test_live_deltas_say_where_they_stand_and_chunks_count_the_same_way(house: House) -> None:
    session = await house.session()
    replies = [{"text": "a first attempt", "cut_after": 14}, {"reasoning": "again", "text": "a second one"}]
    shown: list[LiveDelta] = []
    with house.first.live.listen(session.id, lambda news: shown.append(news) if isinstance(news, LiveDelta) else None):
        await house.run(session, Script(replies))
    assert [(d.offset, d.chunk.text) for d in shown if isinstance(d.chunk, TextDelta | ReasoningDelta)] == snapshot(
        [(0, "a first atte"), (12, "mp"), (14, "again"), (19, "a second one")]
    )
    chunks = [line.split("-delta ") for line in (await told(session)).splitlines() if "-delta" in line]
    assert [text for _, text in chunks] == ["a first attemp"]


async def test_a_failure_that_may_pass_is_waited_out_and_visible(house: House) -> None:
    session = await house.session()
    model = Script(
        [
            {"error": {"status": 429, "message": "slow down", "retry_after": 7}},
            {"error": {"status": 503, "message": "busy"}},
            {"text": "half an ", "cut_after": 4},
            {"text": "Done."},
        ]
    )
    start = anyio.current_time()
    assert await house.run(session, model) == Completed()
    assert 7 + 2 + 4 <= anyio.current_time() - start < 7 + 3 + 6
    retries = [line for line in (await told(session)).splitlines() if "llm/retry " in line]
    assert [line.split(":", 1)[1] for line in retries] == snapshot(
        [" slow down", " busy", " the scripted stream was cut"]
    )
    assert len({str(asked["messages"]) for asked in model.asked}) == 1


async def test_a_model_that_falls_silent_is_given_up_and_asked_again(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "half of an answer", "delay_ms": 4_000_000}, {"text": "Done.", "delay_ms": 200_000}])
    start = anyio.current_time()
    assert await house.run(session, model) == Completed()
    assert 900 + 200 <= anyio.current_time() - start < 1105
    assert "the model has sent nothing for 900 s" in await told(session)


class _Grouping(Script):
    """Its errors come out in a group, as those of a client with a task group of its own do."""

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncGenerator[Chunk]]:
        try:
            async with super().stream(request) as chunks:
                yield chunks
        except Exception as error:
            raise ExceptionGroup("unhandled errors", [ExceptionGroup("", [ConnectionError("closed"), error])]) from None


async def test_a_failure_that_comes_in_a_group_may_pass_all_the_same(house: House) -> None:
    session = await house.session()
    model = _Grouping([{"error": {"status": 503, "message": "busy"}}, {"text": "Done."}])
    assert await house.run(session, model) == Completed()
    assert "ms: busy" in await told(session)


@pytest.mark.parametrize("make", [Script, _Grouping])
async def test_a_fault_of_our_own_is_no_failure_of_the_model(house: House, make: type[Script]) -> None:
    session = await house.session()

    def broken(news: object) -> None:
        raise ZeroDivisionError("a listener's fault")

    with house.first.live.listen(session.id, broken), pytest.raises(ZeroDivisionError):
        await house.run(session, make([{"text": "Hello."}]))
    assert await house.run(session, Script([{"text": "Next."}])) == Completed()


async def test_after_five_tries_the_turn_ends_and_says_why(house: House) -> None:
    session = await house.session()
    model = Script([{"error": {"status": 503, "message": "busy"}}] * 9)
    end = await house.run(session, model)
    assert isinstance(end, Failed)
    assert (end.error.message, end.error.status) == snapshot(("busy (gave up after 5 tries)", 503))
    assert len(model.asked) == 5


async def test_a_wait_that_is_too_long_is_not_begun(house: House) -> None:
    session = await house.session()
    model = Script([{"error": {"status": 429, "message": "quota", "retry_after": 3600}}, {"text": "Next."}])
    start = anyio.current_time()
    end = await house.run(session, model)
    assert isinstance(end, Failed)
    assert end.error.message == snapshot("quota (it asks to wait 3600 s, longer than planlog waits; try again later)")
    assert anyio.current_time() - start < 1
    assert await house.run(session, model) == Completed()


async def test_an_answer_of_calls_without_end_is_ended(house: House) -> None:
    session = await house.session()

    class Endless(Script):
        @asynccontextmanager
        async def stream(self, request: Request) -> AsyncIterator[AsyncGenerator[Chunk]]:
            yield self._calls()

        async def _calls(self) -> AsyncGenerator[Chunk]:
            for index in count():
                yield ToolCallDelta(index, f"id-{index}", "x" * 100_000)

    end = await house.run(session, Endless([]))
    assert isinstance(end, Failed)
    assert (end.error.code, house.first.done) == ("ENDLESS_ANSWER", [])


async def test_other_refusals_are_not_tried_again(house: House) -> None:
    for status in (400, 401, 403, 404):
        session = await house.session()
        model = Script([{"error": {"status": status, "message": "no"}}] * 3)
        end = await house.run(session, model)
        assert isinstance(end, Failed)
        assert (end.error.message, end.error.status, len(model.asked)) == ("no", status, 1)


async def test_empty_replies_are_asked_for_again_twice_and_never_kept(house: House) -> None:
    for empty in ({}, {"text": " \n"}, {"reasoning": "hm"}):
        session = await house.session()
        model = Script([empty] * 9)
        end = await house.run(session, model)
        assert isinstance(end, Failed)
        assert (end.error.message, end.error.code) == ("the model gave an empty reply", "EMPTY_REPLY")
        assert len(model.asked) == 3
        assert "assistant/message" not in await told(session)
        assert await house.run(session, Script([{"text": "Here."}])) == Completed()


async def test_a_reply_after_an_empty_one_is_taken(house: House) -> None:
    session = await house.session()
    assert await house.run(session, Script([{"reasoning": "hm"}, {"text": "Here."}])) == Completed()


async def test_a_stream_that_breaks_inside_a_call_never_runs_it(house: House) -> None:
    session = await house.session()
    broken = calls(call("say", text="whole"), text="Look: ", cut_after=18)
    end = await house.run(session, Script([broken] * 9))
    assert isinstance(end, Failed)
    assert house.first.done == []
    lines = (await told(session)).splitlines()
    assert lines[-5:] == snapshot(
        [
            "37 assistant/message interrupted 'Look: ' say#call-5-1({})",
            '38 tool/call say#call-5-1({"text":"who)',
            "39 tool/result [ARGUMENTS_TRUNCATED] call-5-1: 'Error: arguments truncated: your reply was cut off, nothing was done; call again, with less in one call' <- [38]",
            "40 step/end 1.1",
            "41 turn/end 1 error STREAM_CUT the scripted stream was cut (gave up after 5 tries)",
        ]
    )
    assert await house.run(session, Script([{"text": "Next."}])) == Completed()


async def test_a_script_that_is_used_up_ends_the_turn(house: House) -> None:
    session = await house.session()
    end = await house.run(session, Script([calls(call("say", text="x"))]))
    assert isinstance(end, Failed)
    assert (end.error.code, end.error.message) == snapshot(
        ("SCRIPT_EXHAUSTED", "the script script.jsonl has no reply left, all 1 were used; add one to it")
    )
