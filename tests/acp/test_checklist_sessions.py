"""Behaviours around the beginning, the list and the end of sessions, each a test named after its item of the checklist."""

from typing import Any

import pytest

from tests.acceptance.conftest import House
from tests.acp.conftest import Connect
from tests.acp.replies import DONE, PLAN, other, writes
from tests.acp.wire import is_answer


@pytest.mark.parametrize("version", [0, 1, 2, 65535])
def test_10_every_version_is_answered_with_ours(connect: Connect, version: int) -> None:
    wire = connect(initialize=False)
    assert wire.call("initialize", protocolVersion=version)["protocolVersion"] == 1
    assert wire.call("initialize", protocolVersion=version, clientCapabilities=None)["protocolVersion"] == 1
    assert (
        wire.call("initialize", protocolVersion=version, clientCapabilities=[1], clientInfo=7)["protocolVersion"] == 1
    )


@pytest.mark.parametrize(
    "params",
    [{}, {"protocolVersion": "1"}, {"protocolVersion": -1}, {"protocolVersion": None}, {"protocolVersion": 1.5}],
)
def test_10_what_is_no_version_is_refused(connect: Connect, params: dict[str, Any]) -> None:
    wire = connect(initialize=False)
    assert wire.fails("initialize", **params) == -32602
    assert wire.fails("session/list") == -32600
    assert wire.initialize()["protocolVersion"] == 1
    assert wire.fails("initialize", **params) == -32602


def test_11_exactly_what_is_implemented_is_advertised(connect: Connect) -> None:
    wire = connect(initialize=False)
    told = wire.initialize()
    assert told["agentCapabilities"] == {
        "loadSession": True,
        "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
        "mcpCapabilities": {"http": False, "sse": False},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
    }
    assert told["agentInfo"]["name"] == "planlog"
    assert told["agentInfo"]["version"]
    assert told["authMethods"] == []
    methods = ("session/load", "session/resume", "session/list", "session/close", "session/delete")
    assert [wire.fails(name, cursor="?") in (-32602, -32002) for name in methods] == [True] * 5
    assert wire.fails("authenticate", methodId="x") == -32602


def test_12_a_client_is_never_asked_for_what_it_cannot_do(connect: Connect, house: House) -> None:
    (house.folder / "a.txt").write_text("one\n")
    reply = {
        "tool_calls": [
            {"name": "read", "arguments": {"path": "a.txt"}},
            {"name": "bash", "arguments": {"command": "ls"}},
        ]
    }
    for capabilities in ({}, {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True, "plan": {}}):
        wire = connect(reply, writes(*PLAN), DONE, initialize=False)
        wire.initialize(**capabilities)
        session = wire.open(house.folder)
        assert wire.prompt(session) == "end_turn"
        asked = {one["method"] for one in wire.lines if not is_answer(one)}
        assert asked == {"session/update", "session/request_permission"}
        assert not {"notice", "plan_update", "compaction_update"} & set(wire.kinds(session))


def test_13_a_new_session_wants_a_folder_and_tells_nothing_before_its_answer(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    for params in (
        {"cwd": "relative"},
        {"cwd": ""},
        {},
        {"cwd": None},
        {"cwd": 5},
        {"cwd": "/nowhere/at/all"},
        {"cwd": "/a\0b"},
    ):
        assert wire.fails("session/new", mcpServers=[], **params) == -32602, params
    assert wire.call("session/list")["sessions"] == []
    ids = []
    for _ in range(3):
        mark = wire.mark()
        ids.append(wire.open(house.folder))
        wire.until(lambda lines, mark=mark: len(lines) > mark + 1)
        assert is_answer(wire.lines[mark])
        assert wire.kinds(ids[-1]) == ["available_commands_update"]
    assert len(set(ids)) == 3


def test_19_the_list_is_filtered_sorted_paged_and_never_null(connect: Connect, house: House) -> None:
    wire = connect(DONE, DONE)
    assert wire.call("session/list")["sessions"] == []
    other = house.folder / "other"
    other.mkdir()
    here = [wire.open(house.folder) for _ in range(60)]
    there = wire.open(other)
    wire.prompt(here[0], "Tidy up\nthe rest")
    sessions = wire.call("session/list")
    assert len(sessions["sessions"]) == 50
    rest = wire.call("session/list", cursor=sessions["nextCursor"])
    assert "nextCursor" not in rest
    ids = [one["sessionId"] for one in (*sessions["sessions"], *rest["sessions"])]
    assert sorted(ids) == sorted([*here, there])
    first = sessions["sessions"][0]
    assert (first["sessionId"], first["title"], first["cwd"]) == (here[0], "Tidy up", str(house.folder))
    assert first["updatedAt"].endswith("Z")
    assert "T" in first["updatedAt"]
    stamps = [one["updatedAt"] for one in (*sessions["sessions"], *rest["sessions"])]
    assert stamps == sorted(stamps, reverse=True)
    assert [one["sessionId"] for one in wire.call("session/list", cwd=str(other))["sessions"]] == [there]
    assert wire.call("session/list", cwd="/nowhere")["sessions"] == []
    assert [wire.fails("session/list", cursor=bad) for bad in ("x", "é", "%%%", "MTI=", 7)] == [-32602] * 5


def test_21_the_title_comes_once_after_the_first_exchange(connect: Connect, house: House) -> None:
    wire = connect(DONE, DONE, DONE)
    session = wire.open(house.folder)
    wire.prompt(session, "Mend the roof")
    (info,) = wire.updates(session, "session_info_update")
    assert info["title"] == "Mend the roof"
    assert info["updatedAt"].endswith("Z")
    assert wire.kinds(session)[-1] == "session_info_update"
    wire.prompt(session, "And the door")
    assert len(wire.updates(session, "session_info_update")) == 1
    assert wire.prompt(session, f"/title {'x' * 2_000_000}") == "end_turn"
    assert wire.text(session).endswith("the title has 2000000 characters; at most 200 are taken")
    assert wire.prompt(session, "/title A better name") == "end_turn"
    assert wire.updates(session, "session_info_update")[-1]["title"] == "A better name"


def test_19_a_session_that_was_never_prompted_hides_no_other_from_the_terminal(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    empty = wire.open(house.folder)
    assert house.events() == []
    house.planlog("run", "-m", house.script(DONE), "remember")
    wire.open(house.folder)
    assert house.events()[-1]["type"] == "turn/end"
    house.planlog("run", "-m", house.script(DONE), "--continue", "again")
    assert [event["type"] for event in house.events()].count("turn/end") == 2
    assert empty in [one["sessionId"] for one in wire.call("session/list")["sessions"]]


def test_18_how_full_the_context_is_comes_after_a_turn_a_load_and_every_resume(connect: Connect, house: House) -> None:
    usage = {"inputTokens": 900, "outputTokens": 100}
    options = ("--composition", other(house, "context_window = 0", "context_window = 8000", without="todo"))
    wire = connect({"text": "Done.", "usage": usage}, options=options)
    session = wire.open(house.folder)
    expected = [{"sessionUpdate": "usage_update", "used": 1000, "size": 8000}]
    wire.prompt(session)
    assert wire.updates(session, "usage_update") == expected
    wire.close()
    wire = connect(DONE, options=options)
    for method in ("session/resume", "session/resume", "session/load"):
        mark = wire.mark()
        wire.call(method, sessionId=session, cwd=str(house.folder), mcpServers=[])
        wire.call("session/list")
        kinds = wire.kinds(session, since=mark)
        assert wire.updates(session, "usage_update", since=mark) == expected
        assert kinds[-3:] == ["available_commands_update", "session_info_update", "usage_update"]
