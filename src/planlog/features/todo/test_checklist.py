"""The plan in an editor: items of the checklist that need a plan, each a test named after its item; on the raw wire."""

import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import House
from tests.acp.conftest import Connect
from tests.acp.conftest import connect as connect
from tests.acp.conftest import house as house
from tests.acp.replies import DONE, PLAN, TOLD, answers, one_step, runs, writes
from tests.acp.wire import is_answer

GOLDEN = Path(__file__).parents[4] / "tests" / "golden"


def _memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def test_14_a_load_tells_the_history_in_order_then_the_plan_then_answers(connect: Connect, house: House) -> None:
    script = house.script(writes(*PLAN), runs("echo hi"), DONE)
    assert house.planlog("run", "-m", script, "--approve", "auto", "the first prompt").returncode == 0
    (session,) = [one["id"] for one in house.json("sessions")]
    wire = connect(DONE)
    mark = wire.mark()
    loaded = wire.load(session, house.folder)
    assert loaded["modes"]["currentModeId"] == "ask"
    assert {"model", "approval"} == {o["id"] for o in loaded["configOptions"]}
    assert is_answer(wire.lines[-1])
    kinds = wire.kinds(session, since=mark)
    assert kinds == [
        "user_message_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "plan",
        "available_commands_update",
        "session_info_update",
    ]
    assert wire.plans(session) == [TOLD]
    assert wire.text(session, "user_message_chunk") == "the first prompt"
    assert wire.text(session) == "On it.Running.Done."
    wire.call("session/list")
    assert wire.kinds(session, since=mark) == kinds


def test_14_a_plan_that_a_later_turn_cleared_is_not_loaded(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    wire.prompt(session)
    assert wire.plans(session) == [TOLD, []]
    wire.close()
    wire = connect(DONE)
    wire.load(session, house.folder)
    assert wire.plans(session) == []


def test_14_a_load_writes_nothing_and_tells_the_same_each_time(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    wire.close()
    before = house.events(session)
    told: list[list[dict[str, Any]]] = []
    for _ in range(2):
        wire = connect(DONE)
        for _ in range(2):
            mark = wire.mark()
            wire.load(session, house.folder)
            told.append(wire.updates(session, since=mark))
        wire.close()
    assert [update["sessionUpdate"] for update in told[0]].count("plan") == 1
    assert told == [told[0]] * 4
    assert house.events(session) == before


def test_14_what_failed_is_replayed_as_it_was_told(connect: Connect, house: House) -> None:
    bad = {"tool_calls": [{"name": "todo_write", "arguments": '{"todos": ['}]}
    wire = connect(writes(*PLAN), bad, writes(*PLAN[:1]), DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    live = states(wire.updates(session))
    assert [status for _, status in live] == ["completed", "failed", "completed"]
    wire.close()
    wire = connect(DONE)
    wire.load(session, house.folder)
    assert states(wire.updates(session)) == live
    assert wire.plans(session) == [TOLD[:1]]


def states(updates: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """How each call has ended; each was begun before."""
    begun: set[str] = set()
    ended: list[tuple[str, str]] = []
    for update in updates:
        if update["sessionUpdate"] == "tool_call":
            begun.add(update["toolCallId"])
        elif update["sessionUpdate"] == "tool_call_update":
            assert update["toolCallId"] in begun
            if update.get("status") in ("completed", "failed"):
                ended.append((update["toolCallId"], update["status"]))
    return ended


def test_15_a_load_of_what_is_not_there_or_refused_says_so(connect: Connect, house: House) -> None:
    assert house.planlog("run", "-m", house.script(writes(*PLAN), DONE), "go").returncode == 0
    (session,) = [one["id"] for one in house.json("sessions")]
    wire = connect(DONE)
    for unknown in ("nosuchsession", "", "../../x", "a\0b", session[:4], "é", "x" * 5_000):
        error = wire.error(wire.request("session/load", sessionId=unknown, cwd=str(house.folder), mcpServers=[]))
        assert (error["code"], error["data"]["sessionId"][:9]) == (-32002, unknown[:9])
    assert len(wire.call("session/list")["sessions"]) == 1
    for damage, said in (
        (
            "UPDATE event SET line = CAST(replace(CAST(line AS TEXT), '\"todos\":[', '\"todos\":7,\"x\":[') AS BLOB) WHERE type = 'todo/write'",
            "damaged",
        ),
        (
            "UPDATE event SET type = 'new/thing', line = CAST(replace(CAST(line AS TEXT), 'todo/write', 'new/thing') AS BLOB) WHERE type = 'todo/write'",
            "newer",
        ),
    ):
        with sqlite3.connect(house.home / "planlog.db") as database:
            assert database.execute(damage).rowcount == 1
        database.close()
        wire.close()
        wire = connect(DONE)
        error = wire.error(wire.request("session/load", sessionId=session, cwd=str(house.folder), mcpServers=[]))
        assert said in error["message"]
        assert session in error["message"]
        assert wire.fails("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}]) == -32002
        break_again = (
            'UPDATE event SET line = CAST(replace(CAST(line AS TEXT), \'"todos":7,"x":[\', \'"todos":[\') AS BLOB)'
        )
        with sqlite3.connect(house.home / "planlog.db") as database:
            database.execute(break_again)
        database.close()


@pytest.mark.parametrize("name", ["bad", "bash", "todo"])
def test_15_logs_that_another_program_wrote_are_loaded(connect: Connect, house: House, name: str) -> None:
    assert house.planlog("import", str(GOLDEN / f"{name}.jsonl")).returncode == 0
    (session,) = [one["id"] for one in house.json("sessions")]
    before = house.events(session)
    wire = connect(DONE)
    wire.load(session, house.folder)
    assert wire.text(session, "user_message_chunk")
    assert "cannot be shown" not in wire.text(session, "agent_thought_chunk")
    ended = states(wire.updates(session))
    assert len(ended) == len({id for id, _ in ended}) == len(wire.updates(session, "tool_call")) > 0
    assert house.events(session) == before


def test_15_what_a_missing_feature_wrote_is_skipped(connect: Connect, house: House) -> None:
    assert house.planlog("run", "-m", house.script(writes(*PLAN), DONE), "go").returncode == 0
    (session,) = [one["id"] for one in house.json("sessions")]
    composition = house.folder.parent / "bare.toml"
    composition.write_text(
        'roles = ["event", "fold", "service", "tool", "acp"]\n'
        '[[plugin]]\nid = "agent"\nuse = "planlog.agent"\nmax_steps = 9\napproval = "ask"\n'
        '[[plugin]]\nid = "model"\nuse = "planlog.model"\nmodel = ""\neffort = ""\nmax_tokens = 0\ncontext_window = 0\n'
    )
    wire = connect(DONE, options=("--composition", str(composition)))
    wire.load(session, house.folder)
    assert "plan" not in wire.kinds(session)
    assert wire.text(session) == "On it.Done."
    statuses = [update.get("status") for update in wire.updates(session, "tool_call", "tool_call_update")]
    assert statuses == ["in_progress", "completed"]
    assert wire.prompt(session) == "end_turn"


def test_16_a_load_of_a_running_session_loses_and_doubles_nothing(connect: Connect, house: House) -> None:
    gate = house.folder / "gate"
    wait = "while [ ! -e gate ]; do sleep 0.02; done; echo through"
    wire = connect(writes(*PLAN), runs(wait), writes(text="Last."), DONE, options=("--approve", "auto"))
    session = wire.open(house.folder)
    id = wire.begin_prompt(session, "the prompt")
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    mark = wire.mark()
    wire.load(session, house.folder)
    loaded = wire.mark()
    assert wire.kinds(session, since=mark) == [
        "user_message_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "tool_call",
        "plan",
        "available_commands_update",
        "session_info_update",
    ]
    gate.touch()
    assert wire.result(id)["stopReason"] == "end_turn"
    assert wire.plans(session, since=mark) == [TOLD, []]
    assert wire.text(session, since=mark) == "On it.Running.Last.Done."
    calls = wire.updates(session, "tool_call", since=loaded)
    assert [call["name"] for call in calls] == ["todo_write"]
    ended = [
        u["toolCallId"] for u in wire.updates(session, "tool_call_update", since=mark) if u.get("status") == "completed"
    ]
    assert len(ended) == len(set(ended)) == 3


def test_17_a_second_process_follows_and_its_prompt_is_told_who_runs_the_session(
    connect: Connect, house: House
) -> None:
    gate = house.folder / "gate"
    wait = "while [ ! -e gate ]; do sleep 0.02; done"
    first = connect(writes(*PLAN), runs(wait), writes(text="Last."), DONE, options=("--approve", "auto"))
    session = first.open(house.folder)
    id = first.begin_prompt(session)
    first.until(lambda lines: any(u.get("name") == "bash" for u in first.updates(session, "tool_call")))
    second = connect(DONE)
    second.judge.follows = True
    second.load(session, house.folder)
    assert second.plans(session) == [TOLD]
    error = second.error(second.begin_prompt(session))
    assert str(first.process.pid) in error["message"]
    assert error["data"]["pid"] == first.process.pid
    gate.touch()
    first.result(id)
    first.judge.follows = True  # from here on: the second process runs the next turn
    second.until(lambda lines: "Done." in second.text(session))
    assert second.plans(session) == [TOLD, []]
    assert second.prompt(session) == "end_turn"


def test_18_a_resume_tells_no_history_and_then_what_stands(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    wire.close()
    wire = connect({"text": "Again."})
    assert wire.fails("session/resume", sessionId="nosuch", cwd=str(house.folder)) == -32002
    mark = wire.mark()
    resumed = wire.call("session/resume", sessionId=session, cwd=str(house.folder))
    assert resumed["modes"]["currentModeId"] == "ask"
    assert is_answer(wire.lines[mark])
    wire.until(lambda lines: "session_info_update" in wire.kinds(session))
    assert wire.kinds(session) == ["plan", "available_commands_update", "session_info_update"]
    mark = wire.mark()
    assert wire.prompt(session) == "end_turn"
    assert wire.plans(session) == [TOLD, []]
    assert wire.text(session) == "Again."
    assert wire.updates(session, since=mark)[0] == {"sessionUpdate": "plan", "entries": []}


def test_20_close_answers_the_prompt_and_keeps_the_log_and_delete_forgets(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), runs("sleep 100"), DONE, options=("--approve", "auto"))
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    closing = wire.request("session/close", sessionId=session)
    assert wire.result(closing) == {}
    assert [one["id"] for one in answers(wire)][-2:] == [id, closing]
    assert wire.result(id)["stopReason"] == "cancelled"
    assert wire.fails("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}]) == -32002
    assert wire.fails("session/close", sessionId=session) == -32002
    wire.load(session, house.folder)
    assert wire.plans(session)[-1] == TOLD
    assert wire.call("session/delete", sessionId=session) == {}
    assert wire.call("session/list")["sessions"] == []
    for gone in (session, "nosuch", "", "../x"):
        assert wire.call("session/delete", sessionId=gone) == {}
    assert wire.fails("session/load", sessionId=session, cwd=str(house.folder), mcpServers=[]) == -32002


def test_22_each_write_is_one_plan_after_its_event_and_a_load_repairs_a_crash(connect: Connect, house: House) -> None:
    second = [{"content": "read", "status": "completed"}, {"content": "write", "status": "in_progress"}]
    wire = connect(
        writes(*PLAN), writes(*PLAN), writes(*second), runs("sleep 100"), DONE, options=("--approve", "auto")
    )
    session = wire.open(house.folder)
    wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    told = [(entry["content"], entry["status"]) for entry in second]
    assert wire.plans(session) == [TOLD, TOLD, told]
    wire.process.kill()
    wire.process.wait()
    wire = connect(DONE)
    wire.load(session, house.folder)
    assert wire.plans(session) == [told]
    before = house.events(session)
    wire.load(session, house.folder)
    assert house.events(session) == before, "loading writes nothing"
    statuses = {u["toolCallId"]: u["status"] for u in wire.updates(session, "tool_call_update") if "status" in u}
    assert list(statuses.values()) == ["completed"] * 3 + ["failed"]


def test_22_no_plan_is_told_that_is_not_on_the_log(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), DONE)
    session = wire.open(house.folder)
    seen: list[bool] = []
    path = house.home / "planlog.db"

    def watch() -> None:
        wire.until(lambda lines: wire.plans(session))
        with sqlite3.connect(path) as database:
            seen.append(bool(database.execute("SELECT 1 FROM event WHERE type = 'todo/write'").fetchone()))
        database.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    wire.prompt(session)
    watcher.join(20)
    assert seen == [True]


def test_23_a_failed_write_tells_no_plan(connect: Connect, house: House) -> None:
    twice = [PLAN[0], {"content": "read", "status": "pending"}]
    bad = {"tool_calls": [{"name": "todo_write", "arguments": '{"todos": ['}]}
    wire = connect(writes(*PLAN), writes(*twice), writes({"content": " ", "status": "pending"}), bad, DONE)
    session = wire.open(house.folder)
    assert wire.prompt(session) == "end_turn"
    assert wire.plans(session) == [TOLD]
    statuses = [update["status"] for update in wire.updates(session, "tool_call_update")]
    assert statuses == ["completed", "failed", "failed", "failed"]


def test_24_a_cleared_list_is_told(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), writes(), writes(), DONE, writes(), DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    assert wire.plans(session) == [TOLD, [], []]
    wire.prompt(session)
    assert wire.plans(session) == [TOLD, [], [], []], "a list that is empty is cleared by no turn"


def test_25_entries_are_as_stored_with_what_the_protocol_wants(connect: Connect, house: House) -> None:
    odd = "\u2028 [bold] <img> \u202e \x1b[31m \u0085 é ☃ \U0001f600 end"
    todos = [{"content": f"  {odd} ", "status": "completed"}, {"content": "x" * 1000, "status": "pending"}]
    wire = connect(writes(*todos), DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    (plan,) = wire.updates(session, "plan")
    assert plan["entries"] == [
        {"content": odd.strip(), "priority": "medium", "status": "completed"},
        {"content": "x" * 1000, "priority": "medium", "status": "pending"},
    ]


def test_26_nothing_but_a_change_tells_a_plan(connect: Connect, house: House) -> None:
    wire = connect(
        writes(*PLAN), runs("echo hi"), {"text": "long " * 3_000, "delay_ms": 600}, options=("--approve", "auto")
    )
    session = wire.open(house.folder)
    wire.prompt(session)
    assert wire.plans(session) == [TOLD]
    assert len(wire.updates(session, "agent_message_chunk")) > 3


def test_27_a_turn_clears_a_standing_plan_first_of_all(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    mark = wire.mark()
    wire.prompt(session)
    assert wire.updates(session, since=mark)[0] == {"sessionUpdate": "plan", "entries": []}
    assert wire.plans(session, since=mark) == [[]]


def test_28_the_end_of_a_turn_and_a_cancel_leave_the_plan_as_it_is(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), runs("sleep 100"), options=("--approve", "auto"))
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    wire.notify("session/cancel", sessionId=session)
    assert wire.result(id)["stopReason"] == "cancelled"
    assert wire.plans(session) == [TOLD]
    wire.load(session, house.folder)
    assert wire.plans(session) == [TOLD, TOLD]


def test_29_updates_follow_the_log_and_none_follows_the_answer(connect: Connect, house: House) -> None:
    wire = connect(*[writes(*PLAN, text=f"turn {n}") for n in range(20)], options=("--composition", one_step(house)))
    session = wire.open(house.folder)
    for turn in range(20):
        mark = wire.mark()
        assert wire.prompt(session) == "max_turn_requests"
        kinds = wire.kinds(session, since=mark)
        order = ["plan"] * (turn > 0) + ["agent_message_chunk", "tool_call", "plan", "tool_call_update"]
        assert [kind for kind in kinds if kind != "session_info_update"] == order
        assert is_answer(wire.lines[-1])


def test_32_two_sessions_on_one_connection_keep_apart(connect: Connect, house: House) -> None:
    mine = [{"content": "mine", "status": "pending"}]
    wire = connect(writes(*mine, text="First.", delay_ms=200), {"text": "Second.", "delay_ms": 200})
    sessions = [wire.open(house.folder) for _ in range(2)]
    ids = [wire.begin_prompt(session, f"in {session}") for session in sessions]
    for id in ids:
        wire.result(id)
    for session in sessions:
        assert wire.plans(session) == [[("mine", "pending")]]
        assert wire.text(session) == "First.Second."


def test_33_a_client_that_can_do_more_gets_the_plain_plan(connect: Connect, house: House) -> None:
    wire = connect(writes(*PLAN), DONE, initialize=False)
    wire.initialize(plan={})
    session = wire.open(house.folder)
    wire.prompt(session)
    assert wire.plans(session) == [TOLD]
    assert "plan_update" not in wire.kinds(session)


@pytest.mark.timeout(120)
def test_43_a_client_that_reads_slowly_gets_everything_in_order(connect: Connect, house: House) -> None:
    replies = [
        {
            "text": f"{n}:" + "word " * 30_000,
            "tool_calls": writes({"content": f"step {n}", "status": "pending"})["tool_calls"],
        }
        for n in range(20)
    ]
    wire = connect(*replies, {"text": "end"})
    session = wire.open(house.folder)
    wire.pause()
    id = wire.begin_prompt(session)
    peak = 0
    for _ in range(30):
        peak = max(peak, _memory(wire.process.pid))
        time.sleep(0.1)
    wire.go_on()
    assert wire.result(id)["stopReason"] == "end_turn"
    assert wire.plans(session) == [[(f"step {n}", "pending")] for n in range(20)]
    assert wire.text(session) == "".join(reply["text"] for reply in replies) + "end"
    at = [one["params"]["update"] for one in wire.lines if one.get("method") == "session/update"]
    heads = [
        u["content"]["text"][:8].partition(":")[0]
        if u["sessionUpdate"] == "agent_message_chunk"
        else f"plan {u['entries'][0]['content']}"
        for u in at
        if u["sessionUpdate"] == "plan"
        or (u["sessionUpdate"] == "agent_message_chunk" and u["content"]["text"][:3].rstrip(":w").isdigit())
    ]
    assert heads[:4] == ["0", "plan step 0", "1", "plan step 1"]
    assert peak < 400_000, "kilobytes"
