"""Whatever event a log ends with, repair closes it, keeps what was there, and the next request is valid."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.request_checker import faults_of

from planlog.agent.conftest import House, Script, call, calls, events_of, next_request, told
from planlog.agent.event import Completed
from planlog.agent.nesting import NESTING
from planlog.agent.repair import closed_in_memory, repair
from planlog.kernel.virtual_clock import run_virtually
from planlog.log.event import Event, read_line
from planlog.log.session import Session

RICH = {
    "text and tools": [
        calls(call("say", text="one"), call("say", text="two"), text="Two things.", reasoning="Hm."),
        calls(call("fail"), call("nope"), call("risk", text="dare")),
        {"text": "Done."},
    ],
    "slow and parallel": [
        calls(*(call("read", text=str(n), seconds=9 - n) for n in range(4)), text="Reading a lot", delay_ms=900),
        calls(call("read", "same"), call("read", "same"), call("say", "")),
        {"text": "a slow answer that is written in pieces", "delay_ms": 1500},
    ],
    "failures": [
        {"text": "half an answer", "delay_ms": 700, "cut_after": 13},
        {"error": {"status": 429, "message": "slow", "retry_after": 3}},
        {"reasoning": "thinking for a long time", "delay_ms": 900},
        calls({"name": "say", "arguments": "{broken"}, text="cut", finish="length"),
        calls({"name": "say", "arguments": '{"text": "streamed slowly and never finished"}'}, delay_ms=2000),
        {"text": "Done.", "delay_ms": 300},
    ],
}


async def _lived(house: House, name: str) -> Session:
    session = await house.session()
    await house.run(session, Script([{"text": "Hello."}]), "hello")
    assert await house.run(session, Script(RICH[name]), "go") == Completed()
    return session


def _length(name: str) -> int:
    async def length() -> int:
        house = House()
        return len(await events_of(await _lived(house, name)))

    return run_virtually(length)


LENGTHS = {name: _length(name) for name in RICH}


@pytest.mark.parametrize("name", RICH)
@given(data=st.data())
def test_a_log_cut_after_any_event_is_closed_and_goes_on(name: str, data: st.DataObject) -> None:
    kept = data.draw(st.integers(1, LENGTHS[name]))

    async def scenario() -> None:
        house = House()
        whole = await events_of(await _lived(house, name))
        copy = await house.copied(whole[:kept])
        assert await house.run(copy, Script([{"text": "Next."}] * 2), "next") == Completed()
        events = await events_of(copy)
        assert [event.line for event in events[:kept]] == [event.line for event in whole[:kept]]
        assert not copy.state(NESTING).open
        assert faults_of(await next_request(copy)) == []
        assert _answered(events)
        house.close()

    run_virtually(scenario)


@pytest.mark.parametrize("name", RICH)
def test_reading_closes_in_memory_what_a_repair_would_write(name: str) -> None:
    async def scenario() -> None:
        house = House()
        whole = await events_of(await _lived(house, name))
        for kept in range(1, len(whole), 3):
            copy = await house.copied(whole[:kept])
            shown = [(event.type, event.time) for event in await closed_in_memory(copy)]
            async with copy.lease():
                assert await repair(copy) == bool(shown)
            assert [(event.type, event.time) for event in (await events_of(copy))[kept:]] == shown
        house.close()

    run_virtually(scenario)


def _answered(events: list[Event]) -> bool:
    """Each logged call has exactly one result."""
    made = [event.line.split(b'"callId":"')[1].split(b'"')[0] for event in events if event.type == "tool/call"]
    answered = [event.line.split(b'"callId":"')[1].split(b'"')[0] for event in events if event.type == "tool/result"]
    return set(made) <= set(answered) and len(answered) == len(set(answered))


async def _cut(house: House, replies: list[dict[str, object]], kind: str, which: int = -1) -> str:
    session = await house.session()
    await house.run(session, Script(replies))
    copy = await house.cut_after(session, kind, which)
    start = copy.head
    async with copy.lease():
        await repair(copy)
    return await told(copy, start)


async def test_a_call_that_was_running_may_have_done_something_and_one_behind_it_has_not(house: House) -> None:
    replies = [calls(call("say", text="one"), call("say", text="two")), {"text": "Done."}]
    assert await _cut(house, replies, "tool/call", 0) == snapshot("""\
11 tool/result [TOOL_OUTCOME_UNKNOWN] call-1-1: 'Error: the program ended during this call; whether it took effect is unknown, check before you retry' <- [10]
12 tool/result [TOOL_NOT_STARTED] call-1-2: 'Error: the program ended before this call was started; nothing was done, you may call it again'
13 step/end 1.1
14 turn/end 1 interrupted\
""")


async def test_text_that_was_streamed_becomes_a_message(house: House) -> None:
    replies = [calls(call("say", text="x"), text="a slow answer in pieces", delay_ms=1200), {"text": "Done."}]
    assert await _cut(house, replies, "assistant/chunk", 6) == snapshot("""\
16 assistant/message interrupted 'a slow answer in pieces' say#call-1-1({"text":"x"}) <- [9, 10, 11, 12, 13, 14, 15]
17 tool/result [TOOL_NOT_STARTED] call-1-1: 'Error: the program ended before this call was started; nothing was done, you may call it again'
18 step/end 1.1
19 turn/end 1 interrupted\
""")


async def test_what_was_void_stays_void(house: House) -> None:
    replies = [{"text": "a slow answer in pieces", "delay_ms": 1200, "cut_after": 20}, {"text": "Done."}]
    assert await _cut(house, replies, "llm/retry") == snapshot("""\
13 step/end 1.1
14 turn/end 1 interrupted\
""")


async def test_a_result_of_a_repair_says_so_in_its_id_and_has_the_last_events_time(house: House) -> None:
    session = await house.session()
    await house.run(session, Script([calls(call("say", text="one")), {"text": "Done."}]))
    copy = await house.cut_after(session, "tool/call")
    last = (await events_of(copy))[-1]
    async with copy.lease():
        await repair(copy)
    added = (await events_of(copy))[last.seq + 1 :]
    assert {event.time for event in added} == {last.time}
    assert f'"id":"interrupted-tool-result-call-1-1-{last.seq + 1}"' in added[0].line.decode()


@pytest.mark.parametrize("kind", ["assistant/message", "tool/call", "tool/result"])
async def test_two_calls_of_one_id_in_somebody_elses_answer_are_closed_once(house: House, kind: str) -> None:
    session = await house.session()
    model = Script([calls(call("say", "x", text="one"), call("say", "y", text="two")), {"text": "Done."}])
    await house.run(session, model)
    foreign = [
        read_line(event.line.replace(b'"id":"y"', b'"id":"x"')) if event.type == "assistant/message" else event
        for event in await events_of(session)
    ]
    kept = [event.type for event in foreign].index(kind) + 1
    copy = await house.copied(foreign[:kept])
    assert await house.run(copy, Script([{"text": "Next."}])) == Completed()
    assert faults_of(await next_request(copy)) == []
    assert _answered(await events_of(copy))


async def test_five_parallel_calls_of_which_three_are_done_when_the_process_dies(house: House) -> None:
    session = await house.session()
    model = Script([calls(*(call("read", text=str(n), seconds=n < 3) for n in range(5))), {"text": "Done."}])
    await house.run(session, model)
    copy = await house.cut_after(session, "tool/result", 2)
    assert await house.run(copy, Script([{"text": "Next."}])) == Completed()
    assert faults_of(await next_request(copy)) == []
    assert _answered(await events_of(copy))
    assert (await told(copy)).count("TOOL_OUTCOME_UNKNOWN") == 2


@given(seconds=st.permutations([1, 2, 3, 4]))
def test_tools_may_finish_in_any_order_without_a_byte_of_difference_in_the_request(seconds: list[int]) -> None:
    async def request(times: list[int]) -> bytes:
        house = House()
        session = await house.session()
        model = Script([calls(*(call("read", text=str(n)) for n in range(4))), {"text": "Done."}])
        house.first.waits = {str(n): float(wait) for n, wait in enumerate(times)}
        await house.run(session, model)
        house.close()
        return _without_ids(model.bytes[-1])

    assert run_virtually(lambda: request(seconds)) == run_virtually(lambda: request([0, 0, 0, 0]))


def _without_ids(messages: bytes) -> bytes:
    import re

    return re.sub(rb'"id":"[0-9a-z]{10}"', b'"id":""', messages)


@pytest.mark.parametrize("name", ["todo", "bad", "bash"])
def test_a_log_that_dsh_wrote_goes_on_wherever_it_was_cut(name: str) -> None:
    lines = (Path(__file__).parents[3] / "tests" / "golden" / f"{name}.jsonl").read_bytes().splitlines()[1:]

    async def scenario() -> None:
        house = House()
        for kept in range(1, len(lines) + 1):
            copy = await house.copied([read_line(line) for line in lines[:kept]])
            model = Script([calls(call("say", "mock-call-1", text="x"))] + [{"text": "Next."}] * 3)
            assert await house.run(copy, model, "next") == Completed()
            assert faults_of(await next_request(copy)) == []
            assert _answered(await events_of(copy))
        house.close()

    run_virtually(scenario)
