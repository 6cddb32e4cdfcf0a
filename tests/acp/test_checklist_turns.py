"""Behaviours in turns of prompts, cancels, questions and failures, each a test named after its item of the checklist."""

import json
import os
import time
from typing import Any

import pytest

from tests.acceptance.conftest import House
from tests.acp.conftest import Connect
from tests.acp.replies import DONE, PLAN, answers, is_alive, one_step, runs
from tests.acp.wire import allow, is_answer


def test_34_prompts_are_checked(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    session = wire.open(house.folder)
    text = {"type": "text", "text": "go"}
    assert wire.fails("session/prompt", sessionId="nosuch", prompt=[text]) == -32002
    for bad in (
        [],
        None,
        "text",
        [{"type": "text", "text": " \n"}],
        [{"type": "text"}],
        [{"type": "image", "mimeType": "image/png", "data": "aGk="}],
        [{"type": "audio", "mimeType": "audio/wav", "data": "aGk="}],
        [{"type": "nope"}],
        ["text"],
        [text, 5],
    ):
        assert wire.fails("session/prompt", sessionId=session, prompt=bad) == -32602, bad
    assert [event["type"] for event in house.events(session)] == []
    link = {"type": "resource_link", "name": "a.py", "uri": "file:///x/a.py", "mimeType": "text/x-python", "size": 3}
    held = {"type": "resource", "resource": {"uri": "file:///x/b.py", "text": "print(1)", "mimeType": "text/x-python"}}
    id = wire.request(
        "session/prompt", sessionId=session, prompt=[text, link, held], _meta={"sessionId": "x", "prompt": 1}
    )
    assert wire.result(id)["stopReason"] == "end_turn"
    (said,) = [event for event in house.events(session) if event["type"] == "user/message"]
    assert said["data"]["content"][0]["text"] == (
        'go\n\n[a.py](file:///x/a.py)\n\n<resource uri="file:///x/b.py">\nprint(1)\n</resource>'
    )


@pytest.mark.parametrize("moment", ["before the first token", "in the answer", "in a tool", "at a question"])
def test_35_a_cancel_at_any_moment_answers_once_and_stops_everything(
    connect: Connect, house: House, moment: str
) -> None:
    marker = f"sleep 30{os.getpid()}"
    replies = {
        "before the first token": [{"text": "late", "delay_ms": 60_000}],
        "in the answer": [{"text": "word " * 2_000, "delay_ms": 60_000}],
        "in a tool": [runs(f"exec -a '{marker}' sleep 1000")],
        "at a question": [runs("echo never")],
    }[moment]
    asks = moment == "at a question"
    wire = connect(*replies, {"text": "Next."}, options=() if asks else ("--approve", "auto"), permit=None)
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    if moment == "before the first token":
        while not any(event["type"] == "request/header" for event in house.events(session)):
            pass
    elif moment == "in the answer":
        wire.until(lambda lines: wire.text(session))
    elif moment == "in a tool":
        wire.until(lambda lines, marker=marker: is_alive(marker))
    elif asks:
        wire.asked()
    began = time.monotonic()
    wire.notify("session/cancel", sessionId=session)
    assert wire.result(id) == {"stopReason": "cancelled"}
    assert time.monotonic() - began < 1.5
    assert not is_alive(marker)
    if asks:
        wire.until(lambda lines: any(one.get("method") == "$/cancel_request" for one in lines))
        wire.send({"jsonrpc": "2.0", "id": wire.asked()["id"], "result": {"outcome": {"outcome": "cancelled"}}})
    wire.notify("session/cancel", sessionId=session)
    mark = wire.mark()
    assert wire.prompt(session) == "end_turn"
    assert wire.text(session, since=mark) == "Next."
    assert [answer["id"] for answer in answers(wire)].count(id) == 1


def test_36_a_request_can_be_cancelled_by_its_id(connect: Connect, house: House) -> None:
    wire = connect(runs("sleep 100"), {"text": "Next."}, options=("--approve", "auto"))
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    wire.notify("$/cancel_request", requestId=id)
    assert wire.result(id) == {"stopReason": "cancelled"}
    assert wire.prompt(session) == "end_turn"


def test_36_a_load_can_be_cancelled(connect: Connect, house: House) -> None:
    wire = connect({"text": "word " * 400_000})
    session = wire.open(house.folder)
    wire.prompt(session)
    wire.call("session/close", sessionId=session)
    wire.pause()
    id = wire.request("session/load", sessionId=session, cwd=str(house.folder), mcpServers=[])
    wire.notify("$/cancel_request", requestId=id)
    wire.go_on()
    assert wire.error(id)["code"] == -32800
    wire.load(session, house.folder)


def test_37_a_second_prompt_is_queued_and_a_cancel_drops_the_queue(connect: Connect, house: House) -> None:
    wire = connect(
        *({"text": f"{n}.", "delay_ms": 150} for n in range(3)), runs("sleep 100"), options=("--approve", "auto")
    )
    session = wire.open(house.folder)
    ids = [wire.begin_prompt(session, f"prompt {n}") for n in range(3)]
    assert [wire.result(id)["stopReason"] for id in ids] == ["end_turn"] * 3
    assert wire.text(session) == "0.1.2."
    order = [
        one["id"] if is_answer(one) else one["params"]["update"]["content"]["text"]
        for one in wire.lines
        if is_answer(one) or one["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
    ]
    assert order[-6:] == ["0.", ids[0], "1.", ids[1], "2.", ids[2]]
    ids = [wire.begin_prompt(session, f"more {n}") for n in range(3)]
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    wire.notify("session/cancel", sessionId=session)
    assert [wire.result(id)["stopReason"] for id in ids] == ["cancelled"] * 3
    said = [event["data"]["content"][0]["text"] for event in house.events(session) if event["type"] == "user/message"]
    assert said == ["prompt 0", "prompt 1", "prompt 2", "more 0"]
    assert (
        wire.fails("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "more"}]) == -32603
    )  # the script is over


def test_38_a_slow_tool_in_one_session_delays_no_other(connect: Connect, house: House) -> None:
    wire = connect(runs("sleep 100"), DONE, options=("--approve", "auto"))
    slow = wire.open(house.folder)
    id = wire.begin_prompt(slow)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(slow, "tool_call")))
    other = wire.open(house.folder)
    second = wire.begin_prompt(other)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(other, "tool_call")))
    wire.notify("session/cancel", sessionId=other)
    assert wire.result(second)["stopReason"] == "cancelled"
    assert not any(answer["id"] == id for answer in answers(wire))
    wire.notify("session/cancel", sessionId=slow)
    assert wire.result(id)["stopReason"] == "cancelled"


@pytest.mark.parametrize(
    "answer, runs_it",
    [
        ({"result": {"outcome": {"outcome": "selected", "optionId": "allow"}}}, True),
        ({"result": {"outcome": {"outcome": "selected", "optionId": "always"}}}, True),
        ({"result": {"outcome": {"outcome": "selected", "optionId": "reject"}}}, False),
        ({"result": {"outcome": {"outcome": "selected", "optionId": "nope"}}}, False),
        ({"result": {"outcome": {"outcome": "cancelled"}}}, False),
        ({"result": {"outcome": {"outcome": "nope"}}}, False),
        ({"result": None}, False),
        ({"error": {"code": -32603, "message": "no"}}, False),
    ],
)
def test_39_a_question_is_answered_by_what_the_person_chose(
    connect: Connect, house: House, answer: dict[str, Any], runs_it: bool
) -> None:
    wire = connect(runs("touch made"), runs("touch made"), DONE, permit=None)
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    asked = wire.asked()
    assert [option["kind"] for option in asked["params"]["options"]] == ["allow_once", "allow_always", "reject_once"]
    call = asked["params"]["toolCall"]
    assert call["toolCallId"] == wire.updates(session, "tool_call")[0]["toolCallId"]
    assert call["rawInput"] == {"command": "touch made"}
    assert not (house.folder / "made").exists()
    wire.permit = allow
    wire.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
    wire.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
    wire.result(id)
    statuses = [
        u["status"] for u in wire.updates(session, "tool_call_update") if u.get("status") in ("completed", "failed")
    ]
    assert statuses == ["completed" if runs_it else "failed", "completed"]
    questions = [one for one in wire.lines if one.get("method") == "session/request_permission"]
    always = answer.get("result") and answer["result"]["outcome"].get("optionId") == "always"
    assert len(questions) == (1 if always else 2)


def test_39_a_question_about_a_change_comes_with_its_diff(connect: Connect, house: House) -> None:
    path = house.folder / "notes.txt"
    path.write_text("one\ntwo\nthree\n")
    read = {"tool_calls": [{"name": "read", "arguments": {"path": "notes.txt"}}]}
    edit = {
        "tool_calls": [{"name": "edit", "arguments": {"path": "notes.txt", "old_string": "two", "new_string": "zwei"}}]
    }
    wire = connect(read, edit, DONE, permit=None)
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    asked = wire.asked()
    call = asked["params"]["toolCall"]
    (diff,) = [item for item in call["content"] if item["type"] == "diff"]
    assert diff["path"] == str(path)
    assert (diff["oldText"], diff["newText"]) == ("one\ntwo\nthree\n", "one\nzwei\nthree\n")
    assert [location["path"] for location in call["locations"]] == [str(path)]
    assert path.read_text() == "one\ntwo\nthree\n"
    wire.send(
        {"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": {"outcome": "selected", "optionId": "allow"}}}
    )
    assert wire.result(id)["stopReason"] == "end_turn"
    assert path.read_text() == "one\nzwei\nthree\n"


def test_39_a_client_that_goes_away_has_not_allowed_anything(connect: Connect, house: House) -> None:
    wire = connect(runs("touch made"), DONE, permit=None)
    session = wire.open(house.folder)
    wire.begin_prompt(session)
    wire.asked()
    assert wire.close() == 0
    assert not (house.folder / "made").exists()
    assert house.events(session)[-1]["data"]["reason"]["kind"] == "aborted"


def test_40_failures_and_limits_are_told_in_the_protocols_words(connect: Connect, house: House) -> None:
    broken = {"error": {"status": 400, "message": "the provider says no"}, "finish": "error"}
    cut = {"text": "half an ans", "finish": "length"}
    wire = connect(broken, cut, {"text": "fine"})
    session = wire.open(house.folder)
    error = wire.error(wire.begin_prompt(session, "my secret prompt"))
    assert error["code"] == -32603
    assert "the provider says no" in error["message"]
    assert "secret" not in json.dumps(error)
    assert "Traceback" not in json.dumps(error)
    assert wire.prompt(session) == "max_tokens"
    assert wire.prompt(session) == "end_turn"
    limited = connect(
        runs("echo hi"), DONE, options=("--approve", "auto", "--composition", one_step(house, without="todo"))
    )
    session = limited.open(house.folder)
    assert limited.prompt(session) == "max_turn_requests"
    nobody = connect()
    session = nobody.open(house.folder)
    error = nobody.error(nobody.begin_prompt(session))
    assert error["code"] == -32603
    assert "no model is chosen" in error["message"]
    assert house.events(session) == []


def test_41_calls_have_ids_of_their_own_and_come_to_an_end(connect: Connect, house: House) -> None:
    same = {"tool_calls": [{"id": "call_1", "name": "bash", "arguments": {"command": "echo hi"}}]}
    last = {
        "tool_calls": [
            {"id": "call_1", "name": "bash", "arguments": {"command": "sleep 100"}},
            {"id": "call_2", "name": "todo_write", "arguments": {"todos": PLAN}},
        ]
    }
    wire = connect(same, same, DONE, same, last, options=("--approve", "auto"))
    session = wire.open(house.folder)
    wire.prompt(session)
    id = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("title", "").startswith("sleep") for u in wire.updates(session, "tool_call")))
    wire.notify("session/cancel", sessionId=session)
    wire.result(id)

    def calls(since: int = 0) -> dict[str, str]:
        ids = [call["toolCallId"] for call in wire.updates(session, "tool_call", since=since)]
        assert len(ids) == len(set(ids)) == 5
        return {
            u["toolCallId"]: u["status"]
            for u in wire.updates(session, "tool_call_update", since=since)
            if "status" in u
        }

    live = calls()
    assert list(live.values()) == ["completed"] * 3 + ["failed"] * 2
    mark = wire.mark()
    wire.load(session, house.folder)
    assert calls(mark) == live


def test_42_messages_have_the_same_ids_in_a_replay(connect: Connect, house: House) -> None:
    first = {"reasoning": "Let me think.", **runs("echo hi", delay_ms=200)}
    again = {"text": "broken off", "cut_after": 4}
    wire = connect(first, again, {"text": "Whole."}, DONE, options=("--approve", "auto"))
    session = wire.open(house.folder)
    wire.prompt(session)

    def said(since: int = 0) -> dict[str, str]:
        texts: dict[str, str] = {}
        for chunk in wire.updates(session, "agent_message_chunk", "agent_thought_chunk", since=since):
            texts[chunk["messageId"]] = texts.get(chunk["messageId"], "") + chunk["content"]["text"]
        return texts

    live = said()
    assert list(live.values())[:2] == ["Let me think.", "Running."]
    mark = wire.mark()
    wire.load(session, house.folder)
    assert said(mark).items() <= live.items()
    assert {"Let me think.", "Running.", "Whole."} <= set(said(mark).values())


def test_44_every_line_of_every_test_is_judged_by_the_schema() -> None:
    """The judge itself has been seen to object: `test_rules.py`. Peers: `test_peers.py`."""
    from tests.acp.rules import Judge

    judge = Judge()
    judge.received(
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"plan"}}}'
    )
    assert len(judge.faults) == 3
