"""Calls that need a yes wait for it, from whatever process it comes; a no is a result like any other."""

from contextlib import ExitStack

import anyio
import msgspec
import pytest
from inline_snapshot import snapshot
from tests.request_checker import faults_of

from planlog.agent.approval import APPROVALS
from planlog.agent.conftest import House, Process, Script, call, calls, next_request, told
from planlog.agent.event import Completed, Policy
from planlog.log.session import Session
from planlog.tools.tool import Execution, Tool


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


async def _answered(
    process: Process, session: Session, model: Script, *outcomes: str, by: Process | None = None
) -> None:
    """Runs a turn while a person, in the process `by`, answers one question after the other."""
    person = by or process
    seen = await person.sessions.open(session.id)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(person.sessions.watch)
        tasks.start_soon(process.sessions.watch)

        async def answer() -> None:
            for outcome in outcomes:
                while not (questions := await seen.view(APPROVALS)):
                    await seen.changed(seen.news)
                await person.agent.answer(seen, questions[0].id, "allowed" if outcome == "yes" else "denied")
                while questions[0] in await seen.view(APPROVALS):
                    await seen.changed(seen.news)

        tasks.start_soon(answer)
        assert await process.run(session, model) == Completed()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_call_that_was_allowed_runs_and_one_that_was_denied_does_not(house: House, elsewhere: bool) -> None:
    process = house.process(policy="ask")
    session = await process.sessions.open((await house.session()).id)
    model = Script([calls(call("risk", text="one"), call("risk", text="two")), {"text": "Done."}])
    await _answered(process, session, model, "yes", "no", by=house.process() if elsewhere else None)
    assert process.done == ["one"]
    assert await told(session, 9) == snapshot("""\
9 assistant/message risk#call-1-1({"text":"one"}) risk#call-1-2({"text":"two"})
10 approval/asked risk#call-1-1
11 approval/decided allowed
12 tool/call risk#call-1-1({"text":"one"})
13 tool/result call-1-1: 'one' <- [12]
14 approval/asked risk#call-1-2
15 approval/decided denied
16 tool/call risk#call-1-2({"text":"two"})
17 tool/result [DENIED] call-1-2: 'Error: denied: it was not approved; nothing was done, do not repeat this call unless asked to' <- [16]
18 step/end 1.1
19 step/start 1.2
20 assistant/message 'Done.'
21 step/end 1.2
22 turn/end 1 completed\
""")
    assert await session.commands() == []


async def test_a_no_before_a_yes(house: House) -> None:
    process = house.process(policy="ask")
    session = await process.sessions.open((await house.session()).id)
    model = Script([calls(call("risk", text="one"), call("risk", text="two")), {"text": "Done."}])
    await _answered(process, session, model, "no", "yes")
    assert process.done == ["two"]
    assert faults_of(await next_request(session)) == []


async def test_nobody_is_asked_about_a_call_that_cannot_run(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("risk", words="it")), {"text": "Done."}])
    assert await house.run(session, model, policy="ask") == Completed()
    text = await told(session)
    assert "approval/asked" not in text
    assert '"words" is not a declared property' in text


async def test_a_policy_answers_without_asking(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("risk", text="it")), {"text": "Done."}] * 2)
    await house.run(session, model, policy="deny")
    assert house.first.done == []
    await house.run(session, model, policy="auto")
    assert house.first.done == ["it"]
    text = await told(session)
    assert "approval/asked" not in text
    assert [line.split(" ", 1)[1] for line in text.splitlines() if "policy" in line or "DENIED" in line] == snapshot(
        [
            "approval/policy deny",
            "tool/result [DENIED] call-1-1: 'Error: denied: the approval policy of this session allows no such calls; nothing was done, do not repeat this call unless asked to' <- [10]",
            "approval/policy auto",
        ]
    )


@pytest.mark.parametrize(
    "left, run, heeded",
    [("deny", "auto", "deny"), ("ask", "auto", "ask"), ("auto", "ask", "ask"), ("auto", "deny", "deny")],
)
async def test_the_stricter_policy_counts_of_who_left_a_prompt_and_who_runs_it(
    house: House, left: Policy, run: Policy, heeded: Policy
) -> None:
    session = await house.session()
    message = await house.first.agent.prompt(session, "dare it", left)
    with anyio.move_on_after(5):
        model = Script([calls(call("risk", text="it")), {"text": "Done."}])
        await house.first.agent.run(session, model, until=message, policy=run)
    assert house.first.done == []
    text = await told(session)
    assert f"approval/policy {heeded}" in text
    assert ("approval/asked" in text) == (heeded == "ask")


@pytest.mark.parametrize("policy", ["ask", "deny"])
async def test_a_tool_that_comes_after_its_call_was_judged_does_not_run(house: House, policy: Policy) -> None:
    """As the tools of a server do that is slow to start; a call of a tool that is not there asks nobody."""
    process = house.process(policy=policy)
    session = await process.sessions.open((await house.session()).id)
    ran: list[str] = []

    async def execute(params: Nothing, execution: Execution) -> str:
        ran.append("late")
        return "late"

    late = Tool("late", "Comes late.", Nothing, execute, str, needs_approval=True)
    waiting = call("risk", text="it") if policy == "ask" else call("say", text="it", seconds=0.1)
    model = Script([calls(waiting, call("late")), {"text": "Done."}])
    with ExitStack() as mounted:
        async with anyio.create_task_group() as tasks:

            async def mount() -> None:
                while not (called := "tool/call" in await told(session) or await session.view(APPROVALS)):
                    await session.changed(session.news)
                assert called
                mounted.enter_context(process.tools.add(late))
                for question in await session.view(APPROVALS):
                    await process.agent.answer(session, question.id, "denied")

            tasks.start_soon(mount)
            assert await process.run(session, model, policy=policy) == Completed()
    assert ran == []
    assert "late was loaded anew while this call waited; call it again" in await told(session)


async def test_a_policy_that_becomes_stricter_counts_for_the_turn_that_runs(house: House) -> None:
    session = await house.session()
    model = Script([calls(call("risk", text="one", seconds=0.2), call("risk", text="two")), {"text": "Done."}])
    async with anyio.create_task_group() as tasks:

        async def tighten() -> None:
            while "tool/call" not in await told(session):
                await session.changed(session.news)
            house.first.agent.tighten(session, "deny")
            house.first.agent.tighten(session, "auto")

        tasks.start_soon(tighten)
        assert await house.first.run(session, model, policy="auto") == Completed()
    assert house.first.done == ["one"]
    text = await told(session)
    assert text.index("approval/policy deny") < text.index("the approval policy of this session allows no such calls")
    assert await house.first.run(session, Script([calls(call("risk", text="three")), {"text": "Done."}])) == Completed()
    assert house.first.done == ["one", "three"]


async def test_a_question_that_was_open_when_its_process_died_is_a_call_that_never_started(house: House) -> None:
    process = house.process(policy="ask")
    session = await process.sessions.open((await house.session()).id)
    model = Script([calls(call("risk", text="it")), {"text": "Done."}])
    with anyio.move_on_after(5):
        await process.run(session, model)
    copy = await house.cut_after(session, "approval/asked")
    assert await house.first.run(copy, Script([{"text": "Next."}])) == Completed()
    assert "[TOOL_NOT_STARTED] call-1-1" in await told(copy)
    assert await copy.view(APPROVALS) == ()
