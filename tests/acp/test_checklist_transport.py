"""Behaviours of a bridge's transport that others have got wrong, each a test named after its item; on the raw wire."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import COMMAND, House
from tests.acp.conftest import Connect
from tests.acp.replies import DONE, answers, is_alive, line, runs
from tests.acp.wire import Wire


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


def test_06_a_command_may_print_lines_of_any_length(connect: Connect, house: House) -> None:
    long = runs("head -c 70000 /dev/zero | tr '\\0' x")
    wire = connect(long, runs("head -c 5000000 /dev/zero | tr '\\0' y"), DONE, options=("--approve", "auto"))
    session = wire.open(house.folder)
    assert wire.prompt(session) == "end_turn"
    ended = [one.get("status") for one in wire.updates(session, "tool_call_update")]
    assert ended.count("completed") == 2
    assert "xxxx" in str(wire.updates(session, "tool_call_update"))


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


def test_07_what_was_asked_before_the_end_of_stdin_is_answered(connect: Connect, house: House) -> None:
    wire = connect(DONE)
    new = wire.request("session/new", cwd=str(house.folder), mcpServers=[])
    listed = [wire.request("session/list") for _ in range(3)]
    assert wire.close() == 0
    assert wire.result(new)["sessionId"]
    assert all("sessions" in wire.result(id) for id in listed)


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


def test_a_signal_of_another_kind_is_an_orderly_end_too(connect: Connect, house: House) -> None:
    wire = connect(runs("sleep 100"), options=("--approve", "auto"))
    session = wire.open(house.folder)
    id = wire.begin_prompt(session)
    wire.until(lambda lines: any(u.get("name") == "bash" for u in wire.updates(session, "tool_call")))
    wire.process.send_signal(signal.SIGINT)
    assert wire.process.wait(5) == 0
    assert wire.answer(id)["result"] == {"stopReason": "cancelled"}
