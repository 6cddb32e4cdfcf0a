"""Servers of tools that an editor hands over with a session, on the raw wire."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.acceptance.conftest import House
from tests.acp.conftest import Connect
from tests.acp.replies import DONE, is_alive
from tests.acp.wire import Wire

SERVER = Path(__file__).parents[1] / "mcp_server.py"


def server(name: str, *args: str) -> dict[str, Any]:
    """One that is started from the tests' own script."""
    return {"name": name, "command": sys.executable, "args": [str(SERVER), *args], "env": [{"name": "A", "value": "b"}]}


def opened(wire: Wire, house: House, *servers: dict[str, Any]) -> str:
    """A session with servers."""
    return wire.call("session/new", cwd=str(house.folder), mcpServers=list(servers))["sessionId"]


def calls(tool: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls a tool of a server."""
    return {"text": "Calling.", "tool_calls": [{"name": f"mcp__{tool}", "arguments": arguments}]}


def results(house: House, session: str) -> list[str]:
    """What the model was told of its calls."""
    return [
        event["data"]["message"]["content"][0]["content"][0]["text"]
        for event in house.events(session)
        if event["type"] == "tool/result"
    ]


def test_the_tools_of_a_server_are_called_once_they_are_allowed(connect: Connect, house: House) -> None:
    wire = connect(calls("box__say", text="hello"), calls("box__say", text="again"), DONE)
    session = opened(wire, house, server("box"))
    assert wire.prompt(session) == "end_turn"
    assert results(house, session) == ["said: hello", "said: again"]
    asked = [one["params"] for one in wire.lines if one.get("method") == "session/request_permission"]
    assert [one["toolCall"]["title"] for one in asked] == ["box: say", "box: say"]
    assert '"text": "hello"' in str(asked[0]["toolCall"]["content"])
    assert [option["kind"] for option in asked[0]["options"]].count("allow_always") == 1


def test_a_tool_that_is_always_allowed_is_not_asked_about_again(connect: Connect, house: House) -> None:
    def always(params: dict[str, Any]) -> dict[str, Any]:
        (option,) = [one for one in params["options"] if one["kind"] == "allow_always"]
        return {"outcome": "selected", "optionId": option["optionId"]}

    wire = connect(calls("box__say", text="hello"), calls("box__say", text="again"), DONE, permit=always)
    session = opened(wire, house, server("box"))
    assert wire.prompt(session) == "end_turn"
    assert results(house, session) == ["said: hello", "said: again"]
    assert len([one for one in wire.lines if one.get("method") == "session/request_permission"]) == 1


def test_a_tool_that_is_denied_does_not_run(connect: Connect, house: House) -> None:
    wire = connect(calls("box__say", text="hello"), DONE, options=("--approve", "deny"))
    session = opened(wire, house, server("box"))
    assert wire.prompt(session) == "end_turn"
    (result,) = results(house, session)
    assert result.startswith("Error: ")


def test_servers_that_fail_or_hang_are_reported_in_the_first_turn(connect: Connect, house: House) -> None:
    missing = {"name": "missing", "command": "/no/such/program", "args": [], "env": []}
    far = {"type": "http", "name": "far", "url": "http://127.0.0.1:9/", "headers": []}
    wire = connect(calls("box__say", text="hello"), DONE, options=("--approve", "auto"))
    session = opened(wire, house, missing, far, server("silent", "silent"), server("box"))
    assert wire.prompt(session) == "end_turn"
    assert results(house, session) == ["said: hello"]
    text = wire.text(session)
    assert 'MCP server "missing": its tools cannot be used: /no/such/program cannot be started' in text
    assert 'MCP server "far": only servers over stdio can be used, not http' in text


def test_two_sessions_have_servers_of_their_own(connect: Connect, house: House) -> None:
    wire = connect(calls("box__environ"), DONE, calls("box__environ"), DONE, options=("--approve", "auto"))
    one, other = opened(wire, house, server("box")), opened(wire, house)
    assert wire.prompt(one) == "end_turn"
    assert wire.prompt(other) == "end_turn"
    assert results(house, other)[0].startswith('Error: unknown tool "mcp__box__environ"')


def test_no_server_outlives_its_session_or_the_program(connect: Connect, house: House) -> None:
    wire = connect(calls("box__wait"), options=("--approve", "auto"))
    marks = [f"--of-{os.getpid()}-{n}" for n in range(3)]
    closed = opened(wire, house, server("box", "", marks[0]))
    opened(wire, house, server("box", "stubborn", marks[1]))
    running = opened(wire, house, server("box", "", marks[2]))
    until(lambda: all(map(is_alive, marks)))
    wire.call("session/close", sessionId=closed)
    until(lambda: not is_alive(marks[0]))
    assert is_alive(marks[1])
    wire.begin_prompt(running)
    wire.until(lambda lines: wire.updates(running, "tool_call"))
    assert wire.close() == 0
    assert not any(map(is_alive, marks))


def until(condition: Callable[[], bool]) -> None:
    """Waits for something that no line tells of."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
