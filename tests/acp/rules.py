"""Judges what an agent writes on the wire: each line by the official schema, all of them by the protocol's order."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = json.loads((Path(__file__).parent / "schema.json").read_text())
DEFINITIONS: dict[str, Any] = SCHEMA["$defs"]
LONGEST = 1_000_000
"""Bytes of a line: some clients read no more."""
RESULTS = {
    definition["x-method"]: name
    for name, definition in DEFINITIONS.items()
    if name.endswith("Response") and definition.get("x-side") == "agent"
}
"""The definition of the result of each method that an agent carries out."""
ASKED = {
    definition["x-method"]: name
    for name, definition in DEFINITIONS.items()
    if name.endswith(("Request", "Notification")) and definition.get("x-side") in ("client", "protocol")
}
"""The definition of what an agent sends of its own accord."""
TOLD_WITHIN = (
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
)
"""Updates that belong into the answering of a request."""
NEVER = ("fs/", "terminal/", "elicitation/")
"""Methods for which a client has to have said that it can do them."""


@cache
def validator(name: str) -> Draft202012Validator:
    """For the definition of that name."""
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": DEFINITIONS})


@cache
def variant(update: str) -> tuple[Draft202012Validator, frozenset[str]] | None:
    """For one kind of `session/update`, with the fields that it may have; None where there is no such kind."""
    for one in DEFINITIONS["SessionUpdate"]["oneOf"]:
        if one["properties"]["sessionUpdate"]["const"] == update:
            name = one["allOf"][0]["$ref"].rpartition("/")[2]
            return validator(name), frozenset((*DEFINITIONS[name]["properties"], "sessionUpdate", "_meta"))
    return None


class Judge:
    """Watches both directions of one connection; `faults` are sentences about what the agent has done wrong.

    With `follows` a session may tell of turns that this client has not asked for.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.follows = False
        self._requests: dict[str, tuple[str, str]] = {}
        self._open: dict[str, tuple[str, str]] = {}
        self._sessions: set[str] = set()
        self._resumed: set[str] = set()

    def sent(self, message: Any) -> None:
        """The client sends a message."""
        if isinstance(message, dict) and isinstance(message.get("method"), str) and "id" in message:
            params = message.get("params")
            session = params.get("sessionId", "") if isinstance(params, dict) else ""
            key = json.dumps(message["id"])
            self._requests[key] = self._open[key] = (message["method"], str(session))
            if message["method"] in ("session/load", "session/resume"):
                self._sessions.add(str(session))

    def received(self, line: bytes) -> Any:
        """The agent has written a line; returns its message."""
        if len(line) > LONGEST:
            self._fault(f"a line of {len(line)} bytes")
        try:
            message = json.loads(line.decode())
        except ValueError as error:
            return self._fault(f"no JSON: {error}", line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return self._fault("no message of JSON-RPC 2.0", line)
        if "method" in message:
            self._judge_asked(message, line)
        else:
            self._judge_answer(message, line)
        return message

    def unanswered(self) -> list[str]:
        """Methods that have not been answered."""
        return [method for method, _ in self._open.values()]

    def _judge_answer(self, message: dict[str, Any], line: bytes) -> None:
        if ("result" in message) == ("error" in message):
            self._fault("not exactly one of result and error", line)
        key = json.dumps(message.get("id"))
        method, session = self._open.pop(key, ("", ""))
        if not method and message.get("id") is not None:
            self._fault("an answer to nothing, or the second one", line)
        if "error" in message:
            self._validate("Error", message["error"], line)
        elif method:
            name = RESULTS.get(method)
            if name:
                self._validate(name, message["result"], line)
            if not isinstance(message["result"], dict):
                self._fault("a result that is no object", line)
            elif method == "session/new":
                self._sessions.add(message["result"]["sessionId"])
        if method == "session/resume":
            self._resumed.add(session)

    def _judge_asked(self, message: dict[str, Any], line: bytes) -> None:
        method, params = message["method"], message.get("params")
        if method.startswith(NEVER):
            self._fault("a method that this client does not have", line)
        name = ASKED.get(method)
        if name is None:
            return self._fault("a method that clients do not have", line)
        if ("id" in message) != name.endswith("Request"):
            self._fault("an id where none belongs, or none where one does", line)
        if method == "session/update" and isinstance(params, dict):
            return self._judge_update(params, line)
        self._validate(name, params, line)
        return None

    def _judge_update(self, params: dict[str, Any], line: bytes) -> None:
        session, update = params.get("sessionId"), params.get("update")
        if set(params) - {"sessionId", "update", "_meta"} or not isinstance(update, dict):
            return self._fault("no session/update", line)
        kind = str(update.get("sessionUpdate"))
        known = variant(kind)
        if known is None:
            return self._fault("an unknown kind of update", line)
        self.faults += [f"{fault.message[:200]} in {line[:300]!r}" for fault in known[0].iter_errors(update)]
        if more := set(update) - known[1]:
            self._fault(f"fields that {kind} does not have: {more}", line)
        if session not in self._sessions:
            self._fault("an update of a session that this client has not opened", line)
        asked = any(
            of == session and method in ("session/prompt", "session/load") for method, of in self._open.values()
        )
        if kind in TOLD_WITHIN and not asked and not self.follows:
            if kind == "plan" and session in self._resumed:
                self._resumed.discard(str(session))
            else:
                self._fault("an update that no open request has led to", line)
        return None

    def _validate(self, name: str, value: Any, line: bytes) -> None:
        for fault in validator(name).iter_errors(value):
            self._fault(f"{name}: {fault.message[:200]}", line)

    def _fault(self, text: str, line: bytes = b"") -> None:
        self.faults.append(f"{text}: {line[:300]!r}" if line else text)
