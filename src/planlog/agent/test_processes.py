"""Several processes, one session: whoever has the lease answers everybody's prompts, and a dead one is succeeded."""

from typing import Any

import anyio
import pytest

from planlog.agent.conftest import House, Process, Script, call, calls, told
from planlog.agent.event import Aborted, AbortReason, Completed, EndReason, Interrupted
from planlog.log.session import Session
from planlog.log.store.memory import MemoryStore


async def _opened(house: House, session: Session) -> tuple[Process, Session]:
    process = house.process()
    return process, await process.sessions.open(session.id)


async def test_a_prompt_from_elsewhere_is_answered_after_the_running_turn(house: House) -> None:
    session = await house.session()
    other, seen = await _opened(house, session)
    ends: dict[str, EndReason] = {}
    mine = Script([calls(call("say", text="work", seconds=5)), {"text": "Mine."}])
    yours = Script([{"text": "Yours."}])
    async with anyio.create_task_group() as tasks:
        for process in (house.first, other):
            tasks.start_soon(process.sessions.watch)

        async def first() -> None:
            ends["mine"] = await house.run(session, mine, "mine")

        tasks.start_soon(first)
        await anyio.sleep(1)
        ends["yours"] = await other.run(seen, yours, "yours")
        tasks.cancel_scope.cancel()
    assert ends == {"mine": Completed(), "yours": Completed()}
    assert len(yours.asked) == 1


async def test_an_agent_knows_whether_it_runs_the_session_itself(house: House) -> None:
    session = await house.session()
    other, seen = await _opened(house, session)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(house.run, session, Script([{"text": "Done.", "delay_ms": 3000}]))
        await anyio.sleep(1)
        assert (house.first.agent.runs(session), other.agent.runs(seen)) == (True, False)
    assert not house.first.agent.runs(session)


async def test_who_waits_is_told_when_another_process_has_answered(house: House) -> None:
    session = await house.session()
    other, seen = await _opened(house, session)
    message = await other.agent.prompt(seen, "first")
    both = Script([{"text": "For you.", "delay_ms": 3000}, {"text": "For me."}])
    nothing = Script([])
    async with anyio.create_task_group() as tasks:
        for process in (house.first, other):
            tasks.start_soon(process.sessions.watch)
        tasks.start_soon(house.run, session, both, "second")
        await anyio.sleep(1)
        assert await other.agent.run(seen, nothing, until=message) == Completed()
        await anyio.sleep(1)
        tasks.cancel_scope.cancel()
    assert len(both.asked) == 2
    assert nothing.asked == []


async def test_a_cancel_from_another_process_stops_the_turn(house: House) -> None:
    session = await house.session()
    other, seen = await _opened(house, session)
    async with anyio.create_task_group() as tasks:
        for process in (house.first, other):
            tasks.start_soon(process.sessions.watch)

        async def cancel() -> None:
            await anyio.sleep(2)
            await other.agent.cancel(seen)

        tasks.start_soon(cancel)
        end = await house.run(session, Script([calls(call("say", seconds=99))]))
        assert end == Aborted(AbortReason("user"))
        tasks.cancel_scope.cancel()


async def test_a_dead_owner_is_repaired_and_succeeded(house: House) -> None:
    session = await house.session()
    dead = await house.first.agent.prompt(session, "never answered")
    with anyio.move_on_after(3):
        await house.first.agent.run(session, Script([calls(call("say", seconds=9))]), until=dead)
    copy = await house.cut_after(session, "tool/call")
    left = await house.first.agent.prompt(copy, "left behind")
    model = Script([{"text": "For who left."}, {"text": "For me."}])
    assert await house.run(copy, model, "mine") == Completed()
    assert await house.first.agent.run(copy, model, until=left) == Completed()
    assert await house.first.agent.run(copy, model, until=dead) == Interrupted()
    assert len(model.asked) == 2


async def test_nobody_waits_for_ever_for_a_lease_that_was_given_back_silently(house: House) -> None:
    session = await house.session()
    other, seen = await _opened(house, session)
    lease = await house.store.acquire(session.id)

    async with anyio.create_task_group() as tasks:

        async def give_back() -> None:
            await anyio.sleep(5)
            await lease.release()

        tasks.start_soon(give_back)
        with anyio.fail_after(6):
            assert await other.run(seen, Script([{"text": "Hi."}])) == Completed()


async def test_a_prompt_in_the_logs_inbox_is_answered_first(house: House) -> None:
    session = await house.session()
    await house.run(session, Script([{"text": "Hi."}]), "in the inbox")
    copy = await house.cut_after(session, "agent/inbox/spliced", 0)
    model = Script([{"text": "At last."}, {"text": "And you."}])
    assert await house.run(copy, model, "mine") == Completed()
    assert [asked["messages"][-1]["content"][0]["text"] for asked in model.asked] == ["in the inbox", "mine"]


async def test_a_prompt_in_the_logs_inbox_can_be_withdrawn(house: House) -> None:
    session = await house.session()
    message = await house.first.agent.prompt(session, "in the inbox")
    await house.first.agent.run(session, Script([{"text": "Hi."}]), until=message)
    copy = await house.cut_after(session, "agent/inbox/spliced", 0)
    assert await house.first.agent.withdraw(copy, message)
    assert (await told(copy)).splitlines()[-1] == "2 agent/inbox/spliced next-turn -1 +[] canceled"
    model = Script([{"text": "And you."}])
    assert await house.run(copy, model, "mine") == Completed()
    assert len(model.asked) == 1


async def test_a_message_that_waits_on_the_log_can_be_withdrawn_while_a_turn_runs(house: House) -> None:
    session = await house.session()
    agent = house.first.agent
    working = calls(call("say", text="working", seconds=5))
    steers: list[str] = []

    async def steer() -> None:
        await anyio.sleep(1)
        steers.extend([await agent.steer(session, "in blue"), await agent.steer(session, "no, in red")])

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(steer)
        await house.run(session, Script([working, {"text": "Done."}]), "paint")
    copy = await house.cut_after(session, "agent/inbox/spliced", 2)

    async def withdraw() -> None:
        await anyio.sleep(1)
        assert await agent.withdraw(copy, steers[1])

    model = Script([working, {"text": "Blue."}])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(withdraw)
        assert await agent.run(copy, model, until=steers[0]) == Completed()
    assert [asked["messages"][-1]["content"][0]["type"] for asked in model.asked] == ["text", "tool-result"]
    assert "next-step -1 +[] canceled" in await told(copy)
    assert await copy.commands() == []


async def test_a_steer_that_is_withdrawn_between_a_look_and_a_claim_leaves_the_turn_at_its_end(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await house.session()
    agent = house.first.agent
    append = MemoryStore.append
    steers: list[str] = []

    async def late(store: MemoryStore, id: str, *args: object, **kwargs: Any) -> None:
        if set(steers) & set(kwargs["claims"]):
            await store.withdraw(id, steers.pop())
        await append(store, id, *args, **kwargs)  # type: ignore[arg-type] - passed on as it came

    async def steer() -> None:
        await anyio.sleep(1)
        steers.append(await agent.steer(session, "in blue"))

    monkeypatch.setattr(MemoryStore, "append", late)
    model = Script([{"text": "Done.", "delay_ms": 2000}])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(steer)
        assert await house.run(session, model, "paint") == Completed()
    assert steers == []
    assert len(model.asked) == 1


async def test_a_withdrawal_between_a_look_and_a_claim_is_heeded(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await house.session()
    first = await house.first.agent.prompt(session, "withdrawn at the last moment")
    second = await house.first.agent.prompt(session, "stays")
    append = MemoryStore.append

    async def late(store: MemoryStore, id: str, *args: object, **kwargs: object) -> None:
        await store.withdraw(id, first)
        await append(store, id, *args, **kwargs)  # type: ignore[arg-type] - passed on as it came

    monkeypatch.setattr(MemoryStore, "append", late)
    model = Script([{"text": "Hi."}])
    assert await house.first.agent.run(session, model, until=second) == Completed()
    assert [asked["messages"][-1]["content"][0]["text"] for asked in model.asked] == ["stays"]
