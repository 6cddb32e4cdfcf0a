"""What happens in a turn, told by the log."""

import itertools
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
import pytest
from inline_snapshot import snapshot

from planlog.agent.conftest import House, Say, Script, call, calls, told
from planlog.agent.event import Aborted, AbortReason, Completed, Failed, MaxTokens
from planlog.agent.inbox import EmptyPrompt
from planlog.agent.live import LiveProgress
from planlog.log.store import Command
from planlog.model.model import Chunk, Request
from planlog.tools.tool import Execution, Tool


async def test_a_turn_is_told_in_order_and_each_call_has_its_result(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("say", text="one"), call("say", text="two"), text="Two things."), {"text": "Done."}])
    assert await house.run(session, model, "say two things") == Completed()
    assert await told(session) == snapshot("""\
0 approval/policy auto
1 agent/inbox/spliced next-turn -0 +["'say two things'"]
2 turn/start 1
3 agent/inbox/spliced next-turn -1 +[]
4 step/start 1.1
5 user/message 'say two things'
6 session/title 'say two things' of [5]
7 request/header initial
8 request/context script:script.jsonl
9 assistant/message 'Two things.' say#call-1-1({"text":"one"}) say#call-1-2({"text":"two"})
10 tool/call say#call-1-1({"text":"one"})
11 tool/result call-1-1: 'one' <- [10]
12 tool/call say#call-1-2({"text":"two"})
13 tool/result call-1-2: 'two' <- [12]
14 step/end 1.1
15 step/start 1.2
16 assistant/message 'Done.'
17 step/end 1.2
18 turn/end 1 completed\
""")


async def test_facts_of_one_decision_are_one_append(house: House) -> None:
    session = await house.session()
    message = await house.first.agent.prompt(session, "go")
    before = house.store.version()
    model = Script([calls(call("say", text="one")), {"text": "Done."}])
    await house.first.agent.run(session, model, until=message)
    # The lease; the prompt and the header; the answer and its call; the result and the next step; the answer and the end.
    assert house.store.version() - before == 5


async def test_every_prompt_is_a_turn_of_its_own_first_come_first_served(house: House) -> None:
    session = await house.session()
    agent = house.first.agent
    await agent.prompt(session, "first")
    second = await agent.prompt(session, "second")
    model = Script([{"text": "1"}, {"text": "2"}])
    assert await agent.run(session, model, until=second) == Completed()
    assert [_said(asked) for asked in model.asked] == [["first"], ["first", "1", "second"]]


async def test_a_steer_is_heard_at_the_next_step_of_the_running_turn(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("say", text="one", seconds=5)), {"text": "Blue, then."}])

    async def steer() -> None:
        await anyio.sleep(1)
        await house.first.agent.steer(session, "make it blue")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(steer)
        assert await house.run(session, model, "paint") == Completed()
    assert await told(session, 11) == snapshot("""\
11 tool/result call-1-1: 'one' <- [10]
12 step/end 1.1
13 step/start 1.2
14 agent/inbox/spliced next-step -0 +["'make it blue'"]
15 agent/inbox/spliced next-step -1 +[]
16 user/message 'make it blue'
17 assistant/message 'Blue, then.'
18 step/end 1.2
19 turn/end 1 completed\
""")


async def test_a_steer_during_the_last_answer_keeps_the_turn_going(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "Done.", "delay_ms": 2000}, {"text": "Blue."}])
    async with anyio.create_task_group() as tasks:

        async def steer() -> None:
            await anyio.sleep(1)
            await house.first.agent.steer(session, "in blue")

        tasks.start_soon(steer)
        await house.run(session, model, "paint")
    assert [_said(asked) for asked in model.asked] == [["paint"], ["paint", "Done.", "in blue"]]


async def test_a_steer_that_comes_in_the_last_step_is_answered_in_a_turn_of_its_own(house: House) -> None:
    process = house.process(max_steps=1)
    session = await process.sessions.open((await house.session()).id)
    model = Script([{"text": "Done.", "delay_ms": 2000}, {"text": "Blue."}])
    steers: list[str] = []
    async with anyio.create_task_group() as tasks:

        async def steer() -> None:
            await anyio.sleep(1)
            steers.append(await process.agent.steer(session, "in blue"))

        tasks.start_soon(steer)
        assert await process.run(session, model, "paint") == Completed()
    assert await process.agent.run(session, model, until=steers[0]) == Completed()
    assert [_said(asked) for asked in model.asked] == [["paint"], ["paint", "Done.", "in blue"]]


async def test_a_steer_in_an_idle_session_is_a_prompt(house: House) -> None:
    session = await house.session()
    message = await house.first.agent.steer(session, "hello")
    assert await house.first.agent.run(session, Script([{"text": "Hi."}]), until=message) == Completed()


async def test_a_prompt_that_was_withdrawn_is_never_answered(house: House) -> None:
    session = await house.session()
    agent = house.first.agent
    message = await agent.prompt(session, "no, wait")
    assert await agent.withdraw(session, message)
    assert not await agent.withdraw(session, message)
    model = Script([{"text": "Hi."}])
    assert await agent.run(session, model, until=message) == Aborted(AbortReason("user"))
    assert model.asked == []
    assert await told(session) == ""


async def test_a_command_that_nobody_can_read_is_dropped(house: House) -> None:
    session = await house.session()
    await session.send(Command("odd", "prompt", b"{", 0))
    await session.send(Command("late", "withdraw", b"{}", 0))
    assert await house.first.agent.run(session, Script([]), until="odd") == Aborted(AbortReason("user"))
    assert await session.commands() == []


async def test_a_blank_prompt_is_refused_at_the_door(house: House) -> None:
    session = await house.session()
    with pytest.raises(EmptyPrompt, match="the prompt is empty; say what to do"):
        await house.first.agent.prompt(session, " \n")


async def test_a_prompt_with_half_a_character_is_mended_where_it_enters(house: House) -> None:
    session = await house.session()
    model = Script([{"text": "Hi."}])
    assert await house.run(session, model, "x \ud83d y \0") == Completed()
    assert _said(model.asked[0]) == ["x \ufffd y \u2400"]


async def test_too_many_steps_end_the_turn_and_the_next_one_works(house: House) -> None:
    process = house.process(max_steps=2)
    session = await house.session()
    model = Script([calls(call("say", text=str(n))) for n in range(3)] + [{"text": "Fine."}])
    end = await process.run(session := await process.sessions.open(session.id), model)
    assert isinstance(end, Failed)
    assert (end.error.code, end.error.message) == snapshot(
        ("STEP_LIMIT", "stopped after 2 steps, the most that one turn may have (setting max_steps)")
    )
    assert len(model.asked) == 2


async def test_an_answer_that_was_cut_by_its_length_ends_the_turn_so(house: House) -> None:
    session = await house.session()
    assert await house.run(session, Script([{"text": "On and on", "finish": "length"}])) == MaxTokens()


async def test_calls_that_were_cut_off_are_answered_and_never_run(house: House) -> None:
    session = await house.session()
    cut = calls({"name": "say", "arguments": '{"text":"whole"}'}, {"name": "say", "arguments": '{"te'}, finish="length")
    assert await house.run(session, Script([cut, {"text": "Sorry."}])) == Completed()
    assert house.first.done == []
    assert await told(session, 9) == snapshot("""\
9 assistant/message say#call-1-1({"text":"whole"}) say#call-1-2({})
10 tool/call say#call-1-1({"text":"whole"})
11 tool/result [ARGUMENTS_TRUNCATED] call-1-1: 'Error: arguments truncated: your reply was cut off, nothing was done; call again, with less in one call' <- [10]
12 tool/call say#call-1-2({"te)
13 tool/result [ARGUMENTS_TRUNCATED] call-1-2: 'Error: arguments truncated: your reply was cut off, nothing was done; call again, with less in one call' <- [12]
14 step/end 1.1
15 step/start 1.2
16 assistant/message 'Sorry.'
17 step/end 1.2
18 turn/end 1 completed\
""")


async def test_a_model_that_goes_in_circles_is_stopped(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("no_such_tool"))] * 30)
    end = await house.run(session, model)
    assert len(model.asked) == 5
    assert isinstance(end, Failed)
    assert (end.error.code, end.error.message) == snapshot(
        (
            "REPEATED_CALLS",
            'stopped: the same call of no_such_tool failed 5 times in a row: unknown tool "no_such_tool", available: fail, read, risk, say',
        )
    )


async def test_a_call_that_changes_but_always_fails_is_stopped_later(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("fail", text=str(n))) for n in range(30)])
    end = await house.run(session, model)
    assert len(model.asked) == 20
    assert isinstance(end, Failed)
    assert end.error.message == snapshot("stopped: 20 calls in a row failed, the last one of fail")


async def test_a_success_in_between_forgives_the_failures(house: House) -> None:
    session = await house.session()
    bad, good = calls(call("fail", text="x")), calls(call("say", text="ok"))
    model = Script([*[bad] * 4, good, *[bad] * 4, good, {"text": "Done."}])
    assert await house.run(session, model) == Completed()


async def test_a_call_id_that_was_used_before_gets_a_fresh_one_and_keeps_its_result(house: House) -> None:
    session = await house.session()
    twice = calls(call("say", "x", text="a"), call("say", "x", text="b"), call("say", "", text="c"))
    model = Script([twice, calls(call("say", "x", text="d")), {"text": "Done."}])
    assert await house.run(session, model) == Completed()
    assert house.first.done == ["a", "b", "c", "d"]
    results = [
        (block["toolCallId"], block["content"][0]["text"])
        for message in model.asked[-1]["messages"]
        for block in message["content"]
        if block["type"] == "tool-result"
    ]
    assert [text for _, text in results] == ["a", "b", "c", "d"]
    assert results[0][0] == "x"
    assert len({id for id, _ in results}) == 4


async def test_arguments_that_are_no_json_stay_raw_in_the_call_and_are_sent_back_as_an_empty_object(
    house: House,
) -> None:
    session = await house.session()
    raw = '{"text": NaN}'
    model = Script([calls({"name": "say", "arguments": raw}), {"text": "Sorry."}])
    assert await house.run(session, model) == Completed()
    assert await told(session, 9) == snapshot("""\
9 assistant/message say#call-1-1({})
10 tool/call say#call-1-1({"text": NaN})
11 tool/result [INVALID_ARGS] call-1-1: 'Error: invalid arguments: "arguments" must be an object' <- [10]
12 step/end 1.1
13 step/start 1.2
14 assistant/message 'Sorry.'
15 step/end 1.2
16 turn/end 1 completed\
""")


async def test_names_that_no_provider_would_take_back_are_mended_in_the_message(house: House) -> None:
    session = await house.session()
    model = Script([calls(call(" functions.say ", text="a")), {"text": "Sorry."}])
    assert await house.run(session, model) == Completed()
    assert (await told(session, 9)).splitlines()[:2] == snapshot(
        [
            '9 assistant/message functions_say#call-1-1({"text":"a"})',
            '10 tool/call  functions.say #call-1-1({"text":"a"})',
        ]
    )


async def test_messages_of_a_request_begin_with_all_the_bytes_of_the_one_before(house: House) -> None:
    session = await house.session()
    replies = [
        calls(call("read", text="slow", seconds=9), call("read", text="fast"), text="Look."),
        calls(call("fail"), call("nope"), reasoning="Hm."),
        {"text": "Done."},
        {"text": " ", "reasoning": "nothing to say"},
        {"text": "Second.", "cut_after": 3},
        {"text": "Second."},
    ]
    model = Script(replies)
    await house.run(session, model, "one")
    await house.run(session, model, "two")
    for earlier, later in itertools.pairwise(model.bytes):
        assert later.startswith(earlier.removesuffix(b"]"))
    assert len({msgspec.json.encode([asked["system"], asked["tools"]]) for asked in model.asked}) == 1


async def test_a_header_is_written_only_when_it_differs(house: House) -> None:
    session = await house.session()
    await house.run(session, Script([{"text": "1"}]))
    await house.run(session, Script([{"text": "2"}]))
    again = house.process()
    await again.run(await again.sessions.open(session.id), Script([{"text": "3"}]))
    assert _count(await told(session), "request/header") == 1

    async def nothing(params: Say, execution: Execution) -> str:
        return ""

    tool = Tool("a_new_tool", "Is new.", Say, nothing, str)
    other = house.process()
    with other.tools.add(tool):
        await other.run(await other.sessions.open(session.id), Script([{"text": "4"}]))
    await other.run(await other.sessions.open(session.id), Script([{"text": "5"}]))
    headers = [line for line in (await told(session)).splitlines() if "request/header" in line]
    assert [line.split()[-1] for line in headers] == ["initial", "resume", "change"]


async def test_parallel_calls_are_logged_in_model_order_and_answered_as_they_are_done(house: House) -> None:
    session = await house.session()
    model = Script(
        [
            calls(
                call("read", text="slow", seconds=3),
                call("read", text="fast", seconds=1),
                call("say", text="alone"),
                call("read", text="last"),
            ),
            {"text": "Done."},
        ]
    )
    assert await house.run(session, model) == Completed()
    assert house.first.done == ["fast", "slow", "alone", "last"]
    assert await told(session, 10) == snapshot("""\
10 tool/call read#call-1-1({"text":"slow","seconds":3})
11 tool/call read#call-1-2({"text":"fast","seconds":1})
12 tool/result call-1-2: 'fast' <- [11]
13 tool/result call-1-1: 'slow' <- [10]
14 tool/call say#call-1-3({"text":"alone"})
15 tool/result call-1-3: 'alone' <- [14]
16 tool/call read#call-1-4({"text":"last"})
17 tool/result call-1-4: 'last' <- [16]
18 step/end 1.1
19 step/start 1.2
20 assistant/message 'Done.'
21 step/end 1.2
22 turn/end 1 completed\
""")


async def test_at_most_ten_calls_run_at_once(house: House) -> None:
    session = await house.session()
    model = Script([calls(*(call("read", text=str(n), seconds=1) for n in range(25))), {"text": "Done."}])
    start = anyio.current_time()
    assert await house.run(session, model) == Completed()
    assert anyio.current_time() - start == pytest.approx(3, abs=0.2)


async def test_what_a_running_tool_says_is_shown_live_and_not_stored(house: House) -> None:
    session = await house.session()
    heard: list[object] = []
    with house.first.live.listen(session.id, heard.append):
        await house.run(session, Script([calls(call("say", text="hm")), {"text": "Done."}]))
    assert [news for news in heard if isinstance(news, LiveProgress)] == [LiveProgress("call-1-1", "hm…")]
    assert "hm…" not in await told(session)


def _said(asked: dict[str, Any]) -> list[str]:
    return [block["text"] for message in asked["messages"] for block in message["content"] if block["type"] == "text"]


def _count(text: str, word: str) -> int:
    return sum(word in line for line in text.splitlines())


async def test_nothing_is_acted_on_or_shown_before_it_is_on_the_log(house: House) -> None:
    session = await house.session()
    stored: dict[str, set[str]] = {}

    async def look(params: Say, execution: Execution) -> str:
        stored["tool"] = await house.store.types(session.id)
        return "looked"

    class Looking(Script):
        @asynccontextmanager
        async def stream(self, request: Request) -> AsyncIterator[AsyncGenerator[Chunk]]:
            stored[f"request {len(self.asked) + 1}"] = await house.store.types(session.id)
            async with super().stream(request) as chunks:
                yield chunks

    with house.first.tools.add(Tool("look", "Looks.", Say, look, str)):
        await house.run(session, Looking([calls(call("look")), {"text": "Done."}]))
    assert {"user/message", "request/header"} <= stored["request 1"]
    assert "tool/call" in stored["tool"]
    assert "tool/result" in stored["request 2"]
