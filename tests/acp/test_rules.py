"""The judge of the wire has been seen to find fault: each rule with a line that breaks it, after lines that do not."""

import json
from typing import Any

import pytest

from tests.acp.rules import LONGEST, Judge

PROMPT = {"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {"sessionId": "s", "prompt": []}}


def update(kind: str, session: str = "s", **more: Any) -> dict[str, Any]:
    """A `session/update`."""
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **more}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def plan(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An update with a plan."""
    return update("plan", entries=list(entries), **more)


ENTRY = {"content": "a", "status": "pending", "priority": "medium"}


def judged(*lines: bytes | dict[str, Any], prompts: bool = True) -> list[str]:
    """The faults of an agent with one session, in which a prompt is open, that writes these lines."""
    judge = Judge()
    judge.sent({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}})
    judge.received(b'{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}')
    if prompts:
        judge.sent(PROMPT)
    assert judge.faults == []
    for line in lines:
        judge.received(line if isinstance(line, bytes) else json.dumps(line).encode())
    return judge.faults


def test_what_is_right_is_without_fault() -> None:
    answer = {"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}
    assert judged(plan(ENTRY), plan(), answer) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"hello", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[]", "no message of JSON-RPC 2.0"),
        (b'{"id":2,"result":{}}', "no message of JSON-RPC 2.0"),
        (b'{"jsonrpc":"2.0","x":"' + b"y" * LONGEST + b'"}', "a line of"),
        ({"jsonrpc": "2.0", "id": 9, "result": {}}, "an answer to nothing"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}}, "the second one"),
        ({"jsonrpc": "2.0", "id": 2, "result": {}, "error": {"code": 1, "message": ""}}, "not exactly one of"),
        ({"jsonrpc": "2.0", "id": 2, "error": {"message": "no code"}}, "Error: "),
        ({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "tired"}}, "PromptResponse: "),
        ({"jsonrpc": "2.0", "id": 2, "result": None}, "a result that is no object"),
        ({"jsonrpc": "2.0", "id": 5, "method": "fs/read_text_file", "params": {}}, "that this client does not have"),
        ({"jsonrpc": "2.0", "method": "session/nope", "params": {}}, "a method that clients do not have"),
        ({"jsonrpc": "2.0", "id": 5, **update("plan", entries=[])}, "an id where none belongs"),
        ({"jsonrpc": "2.0", "method": "session/request_permission", "params": {}}, "RequestPermissionRequest: "),
        (update("plans", entries=[]), "an unknown kind of update"),
        (plan({"content": "a", "status": "cancelled", "priority": "medium"}), "'cancelled' is not valid under any"),
        (plan({"content": "a", "status": "pending"}), "'priority' is a required property"),
        (plan(ENTRY, title="x"), "fields that plan does not have"),
        (plan(ENTRY, session="other"), "a session that this client has not opened"),
    ],
)
def test_each_rule_finds_its_fault(line: bytes | dict[str, Any], said: str) -> None:
    faults = judged(line)
    assert any(said in fault for fault in faults), faults


def test_nothing_of_a_turn_may_follow_its_answer() -> None:
    (fault,) = judged(plan(ENTRY), prompts=False)
    assert "no open request has led to" in fault
