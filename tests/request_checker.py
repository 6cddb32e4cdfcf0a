"""Says whether a request is one that every provider takes, from its JSON alone; it knows nothing of how it was made."""

import json
import re
from typing import Any

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


def faults_of(request: dict[str, Any]) -> list[str]:
    """Everything wrong with `{system, messages, tools}`, messages in the shape of the log; empty when it is valid."""
    faults = [*_text_faults(request), *_tool_faults(request.get("tools", []))]
    messages: list[dict[str, Any]] = request["messages"]
    if not messages:
        return [*faults, "there are no messages"]
    if messages[0]["role"] != "user" or _results(messages[0]):
        faults.append("the first message is not something that a user says")
    seen: set[str] = set()
    owed: list[str] = []
    for index, message in enumerate(messages):
        where = f"message {index}"
        results = _results(message)
        if results:
            if message["role"] != "user":
                faults.append(f"{where}: a result is not said by the user")
            if len(results) != len(message["content"]):
                faults.append(f"{where}: a result shares its message with something else")
            for result in results:
                faults += _result_faults(where, result, owed)
            continue
        if owed:
            faults.append(f"{where}: comes before the results of {', '.join(owed)}")
            owed = []
        if message["role"] == "assistant":
            faults += _answer_faults(where, message, seen)
            owed = [block["id"] for block in message["content"] if block["type"] == "tool-call"]
        elif message["role"] == "user":
            faults += _said_faults(where, message)
        else:
            faults.append(f"{where}: nobody has the role {message['role']!r}")
    if messages[-1]["role"] != "user":
        faults.append("the last message is not something that the model has to answer")
    if owed:
        faults.append(f"at the end: no results of {', '.join(owed)}")
    return faults


def _results(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in message["content"] if block["type"] == "tool-result"]


def _result_faults(where: str, result: dict[str, Any], owed: list[str]) -> list[str]:
    faults: list[str] = []
    if not owed:
        faults.append(f"{where}: a result of {result['toolCallId']}, which nothing called just before")
    elif result["toolCallId"] != owed[0]:
        faults.append(f"{where}: the result of {result['toolCallId']} comes where that of {owed[0]} belongs")
    if result["toolCallId"] in owed:
        owed.remove(result["toolCallId"])
    if not any(block["type"] == "image" or block.get("text") for block in result["content"]):
        faults.append(f"{where}: an empty result")
    return faults


def _answer_faults(where: str, message: dict[str, Any], seen: set[str]) -> list[str]:
    faults: list[str] = []
    content = message["content"]
    if not any(block["type"] in ("text", "tool-call") for block in content):
        faults.append(f"{where}: an answer that says nothing")
    for block in content:
        if block["type"] == "text" and not block["text"].strip():
            faults.append(f"{where}: a blank text block")
        if block["type"] == "tool-call":
            if not block["id"] or block["id"] in seen:
                faults.append(f"{where}: the call id {block['id']!r} is empty or used before")
            seen.add(block["id"])
            if not NAME.fullmatch(block["name"]):
                faults.append(f"{where}: no tool can be called {block['name']!r}")
            if not _is_object(block["arguments"]):
                faults.append(f"{where}: the arguments {block['arguments']!r} are not a JSON object")
    return faults


def _said_faults(where: str, message: dict[str, Any]) -> list[str]:
    if any(block["type"] == "image" or block.get("text", "").strip() for block in message["content"]):
        return []
    return [f"{where}: a user who says nothing"]


def _tool_faults(tools: list[dict[str, Any]]) -> list[str]:
    names = [tool["name"] for tool in tools]
    faults = [f"no tool can be called {name!r}" for name in names if not NAME.fullmatch(name)]
    if names != sorted(set(names)):
        faults.append(f"the tools {names} are not sorted, or one is there twice")
    return faults


def _text_faults(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [fault for pair in value.items() for part in pair for fault in _text_faults(part)]
    if isinstance(value, list):
        return [fault for part in value for fault in _text_faults(part)]
    if isinstance(value, str) and ("\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value)):
        return [f"text that no provider takes: {value!r}"]
    return []


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _is_object(text: str) -> bool:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not _text_faults(value)
