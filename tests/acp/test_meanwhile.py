"""Requests that come while another one about the same session is on its way."""

import sqlite3
import time
from contextlib import closing

import pytest

from tests.acceptance.conftest import House
from tests.acp.conftest import Connect
from tests.acp.replies import DONE, runs
from tests.acp.wire import Wire

LONG = "x" * 3_000_000
"""A prompt whose replay does not fit into what a client may leave unread."""
AUTO = ("--approve", "auto")


def load(wire: Wire, session: str, house: House) -> int:
    """Begins to load the session; the client has stopped reading, so that it does not come to an end."""
    wire.pause()
    id = wire.request("session/load", sessionId=session, cwd=str(house.folder), mcpServers=[])
    time.sleep(0.5)
    return id


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
def test_the_end_of_a_session_cannot_be_taken_back_halfway(connect: Connect, house: House, method: str) -> None:
    wire = connect(runs("sleep 30"), DONE, options=AUTO)
    session = wire.open(house.folder)
    prompt = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    end = wire.request(method, sessionId=session)
    wire.notify("$/cancel_request", requestId=end)
    assert "result" in wire.answer(end) or wire.error(end)["code"] == -32800
    assert wire.result(prompt) == {"stopReason": "cancelled"}
    assert wire.fails("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}]) == -32002
    if method == "session/close":
        wire.load(session, house.folder)


@pytest.mark.parametrize("is_open", [False, True])
def test_a_load_that_is_cancelled_leaves_everything_as_it_was(connect: Connect, house: House, is_open: bool) -> None:
    wire = connect(DONE, {"text": "Heard."}, {"text": "Again."})
    session = wire.open(house.folder)
    wire.prompt(session, LONG)
    if not is_open:
        wire.call("session/close", sessionId=session)
    id = load(wire, session, house)
    prompt = wire.begin_prompt(session) if is_open else 0
    wire.notify("$/cancel_request", requestId=id)
    wire.go_on()
    assert wire.error(id)["code"] == -32800
    if is_open:
        assert wire.result(prompt) == {"stopReason": "end_turn"}
        assert wire.text(session).endswith("Heard.")
    else:
        assert wire.fails("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "go"}]) == -32002
        wire.load(session, house.folder)
    mark = wire.mark()
    assert wire.prompt(session) == "end_turn"
    assert wire.text(session, since=mark) == ("Again." if is_open else "Done.")


def test_a_prompt_during_a_load_that_is_cancelled_is_answered(connect: Connect, house: House) -> None:
    wire = connect(DONE, DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session, LONG)
    wire.call("session/close", sessionId=session)
    id = load(wire, session, house)
    prompt = wire.begin_prompt(session)
    wire.notify("$/cancel_request", requestId=id)
    wire.go_on()
    assert wire.error(id)["code"] == -32800
    assert wire.answer(prompt)
    wire.load(session, house.folder)
    assert wire.prompt(session) == "end_turn"


def test_two_loads_at_once_both_tell_everything(connect: Connect, house: House) -> None:
    wire = connect(DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session, LONG)
    wire.call("session/close", sessionId=session)
    mark = wire.mark()
    ids = [load(wire, session, house) for _ in range(2)]
    wire.go_on()
    for id in ids:
        assert "configOptions" in wire.result(id)
    assert wire.text(session, "user_message_chunk", since=mark) == LONG * 2
    assert wire.prompt(session) == "end_turn"


@pytest.mark.parametrize("method", ["session/close", "session/delete"])
def test_a_session_that_ends_while_it_is_loaded_says_nothing_more(connect: Connect, house: House, method: str) -> None:
    wire = connect(DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session, LONG)
    id = load(wire, session, house)
    end = wire.request(method, sessionId=session)
    time.sleep(0.2)
    wire.go_on()
    assert wire.error(id)["message"] == "the session was closed meanwhile"
    assert wire.result(end) == {}
    mark = next(number for number, one in enumerate(wire.lines) if one.get("id") == end)
    wire.call("session/list")
    assert wire.updates(session, since=mark) == []


def test_more_prompts_than_can_wait_do_not_hold_up_what_would_end_them(connect: Connect, house: House) -> None:
    wire = connect(runs("true"), DONE, permit=None)
    sessions = [wire.open(house.folder) for _ in range(3)]
    first = wire.begin_prompt(sessions[0])
    wire.asked()
    more = [wire.begin_prompt(sessions[n % 3], f"prompt {n}") for n in range(220)]
    assert wire.error(more[-1])["code"] == -32603
    for session in sessions:
        wire.notify("session/cancel", sessionId=session)
    assert wire.result(first) == {"stopReason": "cancelled"}
    assert all(wire.answer(id) for id in more)


def test_a_mode_that_is_set_in_mid_turn_counts_for_its_next_call(connect: Connect, house: House) -> None:
    wire = connect(runs("sleep 0.5"), runs("touch ran"), DONE, options=AUTO)
    session = wire.open(house.folder)
    prompt = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    wire.call("session/set_mode", sessionId=session, modeId="deny")
    assert wire.result(prompt) == {"stopReason": "end_turn"}
    assert not (house.folder / "ran").exists()
    assert [update.get("status") for update in wire.updates(session, "tool_call_update")].count("failed") == 1


def test_a_load_with_another_folder_says_that_the_session_is_open_already(connect: Connect, house: House) -> None:
    wire = connect(DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    wire.load(session, house.folder)
    wire.load(session, house.folder.parent)
    mark = wire.mark()
    wire.prompt(session)
    assert f"tools go on working in {house.folder}" in wire.text(session, since=mark)
    assert wire.text(session, since=mark).count("this session is open already") == 1


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_a_request_that_is_cancelled_at_once_leaves_nothing_half_open(
    connect: Connect, house: House, method: str
) -> None:
    wire = connect(*[DONE] * 40)
    session = wire.open(house.folder)
    wire.prompt(session)
    params = {"sessionId": session, "cwd": str(house.folder), "mcpServers": []}
    for number in range(12):
        wire.call("session/close", sessionId=session)
        id = wire.request(method, **params)
        time.sleep(number / 1000)
        wire.notify("$/cancel_request", requestId=id)
        answer = wire.answer(id)
        prompted = wire.answer(wire.begin_prompt(session))
        assert prompted.get("error", {}).get("code") == (-32002 if "error" in answer else None), (answer, prompted)
        wire.call("session/resume", **params)


def test_a_damaged_session_can_be_deleted(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    session = wire.open(house.folder)
    wire.prompt(session)
    wire.close()
    with closing(sqlite3.connect(house.home / "planlog.db", isolation_level=None)) as database:
        database.execute("UPDATE event SET line = CAST('{' AS BLOB) WHERE type = 'step/start'")
    wire = connect(DONE)
    assert wire.fails("session/load", sessionId=session, cwd=str(house.folder), mcpServers=[]) == -32603
    assert wire.call("session/delete", sessionId=session) == {}
    assert wire.call("session/list")["sessions"] == []


def test_a_folder_is_the_same_however_it_is_written(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    session = wire.open(f"{house.folder}/")
    for cwd in (f"{house.folder}/", f"{house.folder}//", f"{house.folder}/."):
        assert [one["sessionId"] for one in wire.call("session/list", cwd=cwd)["sessions"]] == [session]
    assert wire.fails("session/new", cwd="/" + "a" * 5000, mcpServers=[]) == -32602


def test_a_new_session_that_is_taken_back_leaves_nothing(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    for number in range(12):
        id = wire.request("session/new", cwd=str(house.folder), mcpServers=[])
        time.sleep(number / 3000)
        wire.notify("$/cancel_request", requestId=id)
        answer = wire.answer(id)
        if "result" in answer:
            wire.call("session/delete", sessionId=answer["result"]["sessionId"])
        assert wire.call("session/list")["sessions"] == []
