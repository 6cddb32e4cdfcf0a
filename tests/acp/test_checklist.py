"""Behaviours of a bridge that others have got wrong, one test for each and named after its number; all on the raw wire.

The numbers are those of a checklist that was drawn up from the protocol, its schema and running clients. What each of
them asks for is said by the rest of the test's name.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import COMMAND, House
from tests.acp.conftest import Connect
from tests.acp.wire import Wire, allow, is_answer

PLAN = [{"content": "read", "status": "in_progress"}, {"content": "write", "status": "pending"}]
TOLD = [("read", "in_progress"), ("write", "pending")]
DONE = {"text": "Done."}


def writes(*todos: dict[str, str], text: str = "On it.", **more: Any) -> dict[str, Any]:
    """A reply that writes a plan."""
    return {"text": text, "tool_calls": [{"name": "todo_write", "arguments": {"todos": list(todos)}}], **more}


def runs(command: str, **more: Any) -> dict[str, Any]:
    """A reply that runs a command."""
    return {"text": "Running.", "tool_calls": [{"name": "bash", "arguments": {"command": command}}], **more}


def line(message: Any) -> bytes:
    """A message as bytes."""
    return json.dumps(message).encode() + b"\n"


def answers(wire: Wire) -> list[dict[str, Any]]:
    """All answers so far."""
    return [one for one in wire.lines if is_answer(one)]


def is_alive(marker: str) -> bool:
    """Whether a process runs whose command line holds `marker`."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


# Transport


def test_01_stdout_holds_protocol_lines_only_whatever_else_is_printed(connect: Connect, house: House) -> None:
    noisy = house.folder.parent / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import logging, os, subprocess, sys, threading, warnings, atexit\n"
        "logging.basicConfig(level=1, stream=sys.stdout)\n"
        "def shout():\n"
        "    import time\n"
        "    while 'planlog.app.serving' not in sys.modules: time.sleep(0.01)\n"
        "    threading.Thread(target=lambda: 1 / 0).start()\n"
        "    for turn in range(60):\n"
        "        time.sleep(0.02)\n"
        "        print('print', flush=True); sys.stdout.buffer.write(b'raw'); sys.stdout.flush()\n"
        "        os.write(1, b'descriptor'); logging.critical('log'); warnings.warn('warning')\n"
        "        if turn % 20 == 0: subprocess.run(['echo', 'child' * 20_000])\n"
        "threading.Thread(target=shout, daemon=True).start()\n"
    )
    env = {**house.env, "PYTHONPATH": str(noisy)}
    command = runs("echo from a child; sleep 1.5; echo on stdout >&1")
    with (noisy / "stderr").open("wb") as stderr:
        wire = connect(command, DONE, options=("--approve", "auto"), env=env, stderr=stderr)
        session = wire.open(house.folder)
        assert wire.prompt(session) == "end_turn"
        assert wire.close() == 0
    said = (noisy / "stderr").read_bytes()
    assert b"print" in said
    assert b"child" in said
    assert b"ZeroDivisionError" in said


def test_02_a_malformed_line_is_answered_and_the_connection_goes_on(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    parse, invalid = -32700, -32600
    for bad, code in (
        (b"{\n", parse),
        (b'{"jsonrpc":"2.0","id":1,"method":"initialize"\n', parse),
        (b"\xff\xfe\n", parse),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"x"}\n', parse),
        (b"[" * 100_000 + b"\n", parse),
        (b"[]\n", invalid),
        (b'[{"jsonrpc":"2.0","id":7,"method":"session/list","params":{}}]\n', invalid),
        (b'"text"\n', invalid),
        (b"3\n", invalid),
        (b"null\n", invalid),
        (b"{}\n", invalid),
        (b'{"jsonrpc":"2.0","id":9}\n', invalid),
        (b'{"jsonrpc":"2.0","id":9,"method":7}\n', invalid),
        (b'{"id":9,"method":"session/list"}\n', invalid),
    ):
        mark = wire.mark()
        wire.send_bytes(bad)
        answer = wire.until(lambda lines, mark=mark: lines[mark:])[0]
        assert (answer["id"], answer["error"]["code"]) == (None, code), bad
    mark = wire.mark()
    wire.send_bytes(
        b"\n  \n\r\n" + b'{"jsonrpc":"2.0","id":99,"result":{}}\n{"id":null,"error":3}\n{"jsonrpc":"2.0","result":1}\n'
    )
    assert wire.call("session/list")["sessions"] == []
    assert len(wire.lines) == mark + 1


@pytest.mark.parametrize("id", [0, 7, -3, 2**53 + 1, "text", "", 'quo"te\n', "é☃", None])
def test_03_ids_are_echoed_and_each_request_is_answered_once(connect: Connect, id: Any) -> None:
    wire = connect(DONE)
    mark = wire.mark()
    wire.send({"jsonrpc": "2.0", "id": id, "method": "session/list", "params": {}})
    wire.send({"jsonrpc": "2.0", "method": "session/list", "params": {}})
    wire.send({"jsonrpc": "2.0", "method": "session/prompt", "params": {"sessionId": "no"}})
    wire.send({"jsonrpc": "2.0", "method": "session/cancel", "params": 5})
    assert "result" in wire.answer(id)
    wire.call("session/list")
    assert [answer["id"] for answer in wire.lines[mark:]] == [id, wire._count]  # pyright: ignore[reportPrivateUsage]


def test_04_unknown_methods_are_refused_and_unknown_notifications_ignored(connect: Connect) -> None:
    wire = connect(DONE)
    assert [wire.fails(name) for name in ("nope", "_x/y", "session/fork", "logout", "x" * 10_000)] == [-32601] * 5
    mark = wire.mark()
    wire.notify("nope")
    wire.notify("_x/y", a=1)
    for id in (1, 12345, "gone", None, [1]):
        wire.notify("$/cancel_request", requestId=id)
    wire.notify("$/cancel_request")
    wire.call("session/list")
    assert len(wire.lines) == mark + 1


def test_05_nothing_comes_before_initialize_and_a_second_one_is_answered_alike(connect: Connect, house: House) -> None:
    wire = connect(DONE, initialize=False)
    assert wire.fails("session/new", cwd=str(house.folder), mcpServers=[]) == -32600
    assert wire.fails("session/list") == -32600
    wire.notify("session/cancel", sessionId="x")
    first = wire.initialize()
    assert wire.initialize() == first
    assert wire.open(house.folder)


@pytest.mark.timeout(120)
def test_06_long_lines_are_taken_and_too_long_ones_refused(connect: Connect, house: House) -> None:
    wire = connect(DONE, DONE, DONE)
    session = wire.open(house.folder)
    for size in (8 << 20, 32 << 20):
        wire.send_bytes(
            b'{"jsonrpc":"2.0","id":0,"method":"session/list","params":{"_meta":{"x":"%b"}}}\n' % (b"x" * size)
        )
        wire.judge.sent({"id": 0, "method": "session/list"})
        mark = len(answers(wire))
        wire.until(lambda lines, mark=mark: len(answers(wire)) > mark - 1 and answers(wire)[-1]["id"] == 0)
    assert wire.prompt(session, "word " * 1_000_000) == "end_turn"
    mark = wire.mark()
    wire.send_bytes(b'{"x":"')
    for _ in range(65):
        wire.send_bytes(b"y" * (1 << 20))
    wire.send_bytes(b'"}\n')
    answer = wire.until(lambda lines: lines[mark:])[0]
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert wire.prompt(session) == "end_turn"
    mark = wire.mark()
    wire.load(session, house.folder)
    assert len(wire.text(session, "user_message_chunk", since=mark)) > 5_000_000


def test_07_the_end_of_stdin_and_sigterm_end_everything_in_time(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    began = time.monotonic()
    assert wire.close() == 0
    assert time.monotonic() - began < 1
    for end in (Wire.close, Wire.terminate):
        marker = f"sleep 10{os.getpid()}{end.__name__}"
        wire = connect(runs(f"exec -a '{marker}' sleep 1000"), DONE, options=("--approve", "auto"))
        session = wire.open(house.folder)
        id = wire.begin_prompt(session)
        wire.until(lambda lines, marker=marker: is_alive(marker))
        began = time.monotonic()
        assert end(wire) == 0
        assert time.monotonic() - began < 3
        assert not is_alive(marker)
        assert wire.answer(id)["result"] == {"stopReason": "cancelled"}
        ended = [event for event in house.events(session) if event["type"] == "turn/end"]
        assert ended[-1]["data"]["reason"] == {"kind": "aborted", "reason": {"kind": "disposed"}}


def test_08_a_broken_stdout_ends_it_without_a_flood(connect: Connect, house: House) -> None:
    marker = f"sleep 20{os.getpid()}"
    wire = connect(runs(f"exec -a '{marker}' sleep 1000"), DONE, options=("--approve", "auto"))
    session = wire.open(house.folder)
    wire.begin_prompt(session)
    wire.until(lambda lines, marker=marker: is_alive(marker))
    wire.hang_up()
    wire.send_bytes(line({"jsonrpc": "2.0", "id": 77, "method": "session/list", "params": {}}) * 3)
    assert wire.process.wait(5) == 0
    assert not is_alive(marker)
    said = wire.process.stderr.read().decode() if wire.process.stderr else ""
    assert "Traceback" not in said


def test_08_it_works_with_files_sockets_and_nothing(house: House, tmp_path: Path) -> None:
    import socket

    hello = line({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
    lists = line({"jsonrpc": "2.0", "id": 2, "method": "session/list", "params": {}})
    (tmp_path / "in").write_bytes(hello + lists.rstrip(b"\n"))
    with (tmp_path / "in").open() as given, (tmp_path / "out").open("w") as taken:
        done = house.start("acp", stdin=given, stdout=taken)
        assert done.wait(10) == 0
    assert [json.loads(one)["id"] for one in (tmp_path / "out").read_text().splitlines()] == [1, 2]
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = house.start("acp", stdin=theirs, stdout=theirs)
        theirs.close()
        ours.settimeout(10)
        ours.sendall(hello)
        assert json.loads(ours.recv(1 << 16))["result"]["protocolVersion"] == 1
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(10) == 0
    with open(os.devnull, "w") as nowhere:
        assert house.start("acp", stdin=subprocess.DEVNULL, stdout=nowhere).wait(10) == 0
    closed = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m planlog acp <&-"],
        env=house.env,
        capture_output=True,
        text=True,
        timeout=10,
    )
    assert (closed.returncode, closed.stderr.count("\n")) == (2, 1)


def test_09_initialize_is_answered_before_what_is_slow_is_imported(house: House, tmp_path: Path) -> None:
    """How fast it is, bench measures; here is what would make it slow."""
    watch = tmp_path / "watch"
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(
        "import os, sys\n"
        "write = os.write\n"
        "def spying(descriptor, data):\n"
        "    if b'protocolVersion' in bytes(data):\n"
        "        open(os.environ['SPY'], 'w').write('\\n'.join(sys.modules))\n"
        "    return write(descriptor, data)\n"
        "os.write = spying\n"
    )
    hello = line({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}})
    env = {**house.env, "PYTHONPATH": str(watch), "SPY": str(tmp_path / "spied")}
    done = subprocess.run([*COMMAND, "acp", "-m", "anthropic:x"], input=hello, env=env, capture_output=True, timeout=20)
    assert json.loads(done.stdout)["result"]["protocolVersion"] == 1
    spied = set((tmp_path / "spied").read_text().split())
    assert "planlog.faces.acp.hello" in spied
    slow = {
        "pydantic",
        "httpx2",
        "mcp",
        "acp",
        "anyio",
        "asyncio",
        "apsw",
        "planlog.agent.agent",
        "planlog.model.remote",
    }
    assert spied & slow == set()


# Initialise


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


# Sessions


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


def test_15_what_a_missing_feature_wrote_is_skipped(connect: Connect, house: House) -> None:
    assert house.planlog("run", "-m", house.script(writes(*PLAN), DONE), "go").returncode == 0
    (session,) = [one["id"] for one in house.json("sessions")]
    composition = house.folder.parent / "bare.toml"
    composition.write_text(
        'roles = ["event", "fold", "service", "tool", "acp"]\n'
        '[[plugin]]\nid = "agent"\nuse = "planlog.agent"\nmax_steps = 9\napproval = "ask"\n'
        '[[plugin]]\nid = "model"\nuse = "planlog.model"\nmodel = ""\neffort = ""\nmax_tokens = 0\n'
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
    assert wire.prompt(session, "/title A better name") == "end_turn"
    assert wire.updates(session, "session_info_update")[-1]["title"] == "A better name"


# Plan


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
    wire = connect(*[writes(*PLAN, text=f"turn {n}") for n in range(20)], options=("--composition", _one_step(house)))
    session = wire.open(house.folder)
    for turn in range(20):
        mark = wire.mark()
        assert wire.prompt(session) == "max_turn_requests"
        kinds = wire.kinds(session, since=mark)
        order = ["plan"] * (turn > 0) + ["agent_message_chunk", "tool_call", "plan", "tool_call_update"]
        assert [kind for kind in kinds if kind != "session_info_update"] == order
        assert is_answer(wire.lines[-1])


def _one_step(house: House) -> str:
    shipped = Path(__file__).parents[2] / "src" / "planlog" / "app" / "compositions" / "acp.toml"
    composition = house.folder.parent / "one_step.toml"
    composition.write_text(shipped.read_text().replace("max_steps = 200", "max_steps = 1"))
    return str(composition)


# 30 is a search of its own: test_plan_model.py. 31 comes with subagents.


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


# Turns


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
    limited = connect(runs("echo hi"), DONE, options=("--approve", "auto", "--composition", _one_step(house)))
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


def _memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def test_44_every_line_of_every_test_is_judged_by_the_schema() -> None:
    """The judge itself has been seen to object: `test_rules.py`. Peers: `test_peers.py`."""
    from tests.acp.rules import Judge

    judge = Judge()
    judge.received(
        b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"x","update":{"sessionUpdate":"plan"}}}'
    )
    assert len(judge.faults) == 3


def test_a_signal_of_another_kind_is_an_orderly_end_too(connect: Connect, house: House) -> None:
    wire = connect(runs("sleep 100"), options=("--approve", "auto"))
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(5) == 0
    assert wire.answer(id)["result"] == {"stopReason": "cancelled"}
