"""Says what Anthropic's messages interface would refuse in a request, from its bytes alone; it knows nothing of how it
was made.

The rules are those of the documentation (platform.claude.com/docs/en/api/messages, and the pages on tool use, thinking
and prompt caching) and of what its servers answer with 400. Where those take more than we ever want to send (two
messages of one role in turn, an empty answer), we refuse it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9_-]+")
OPTIONS = {"model", "max_tokens", "stream", "cache_control", "output_config", "system", "tools", "messages"}
EFFORTS = {"low", "medium", "high", "xhigh", "max"}
BLOCKS = {
    "text": {"text"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
    "tool_use": {"id", "name", "input"},
    "tool_result": {"tool_use_id", "content", "is_error"},
}
SAID_BY = {"user": {"text", "tool_result"}, "assistant": {"text", "thinking", "redacted_thinking", "tool_use"}}
BREAKPOINTS = 4


def faults(body: bytes) -> list[str]:
    """Everything wrong with a request; empty when it is valid."""
    try:
        request = json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return [f"no JSON: {error}"]
    if not isinstance(request, dict):
        return ["no JSON object"]
    found = [*_text_faults(request), *_option_faults(request), *_tool_faults(request.get("tools", []))]
    if _breakpoints(request) > BREAKPOINTS:
        found.append("more than 4 cache breakpoints")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, "there are no messages"]
    return [*found, *_message_faults(messages)]


def _option_faults(request: Json) -> Iterator[str]:
    yield from (f"an option {name!r} is not known" for name in request.keys() - OPTIONS)
    if not isinstance(request.get("model"), str) or not request["model"]:
        yield "no model is named"
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        yield "max_tokens has to be a whole number above 0"
    if request.get("stream") is not True:
        yield "no stream is asked for"
    if "output_config" in request and request["output_config"].get("effort") not in EFFORTS:
        yield "an effort that is not known"
    for block in request.get("system", []):
        if block.get("type") != "text" or not block.get("text", "").strip():
            yield "the system prompt is not text"
        yield from _extra(block, {"type", "text", "cache_control"}, "the system prompt")


def _tool_faults(tools: Any) -> Iterator[str]:
    names = [tool.get("name") for tool in tools]
    if len(set(names)) != len(names):
        yield "a tool is there twice"
    for tool in tools:
        name = tool.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            yield f"no tool can be called {name!r}"
        yield from _extra(tool, {"name", "description", "input_schema", "cache_control"}, f"the tool {name}")
        if not isinstance(tool.get("input_schema"), dict) or tool["input_schema"].get("type") != "object":
            yield f"the input of the tool {name} is no object"


def _message_faults(messages: list[Json]) -> Iterator[str]:
    if messages[0].get("role") != "user":
        yield "the first message is not the user's"
    if messages[-1].get("role") != "user":
        yield "the last message is not the user's"
    owed: list[str] = []
    seen: set[str] = set()
    before = ""
    for index, message in enumerate(messages):
        where, role, content = f"message {index}", message.get("role"), message.get("content")
        yield from _extra(message, {"role", "content"}, where)
        if role not in SAID_BY:
            yield f"{where}: nobody has the role {role!r}"
            continue
        if role == before:
            yield f"{where}: {role} speaks twice in turn"
        before = role
        if not isinstance(content, list) or not content:
            yield f"{where}: nothing is said"
            continue
        yield from _block_faults(where, role, content)
        if role == "user":
            yield from _result_faults(where, content, owed)
            owed = []
        else:
            owed = [block.get("id", "") for block in content if block.get("type") == "tool_use"]
            yield from (f"{where}: the id {id!r} was used before" for id in owed if id in seen)
            if len(set(owed)) != len(owed):
                yield f"{where}: an id is used twice"
            seen |= set(owed)
    if owed:
        yield f"at the end: no results of {owed}"


def _block_faults(where: str, role: str, content: list[Json]) -> Iterator[str]:
    for block in content:
        kind = block.get("type")
        if kind not in SAID_BY[role]:
            yield f"{where}: {role} cannot say {kind!r}"
            continue
        yield from _extra(block, {"type", "cache_control", *BLOCKS[kind]}, f"{where}: {kind}")
        if kind == "text" and not str(block.get("text", "")).strip():
            yield f"{where}: blank text"
        if kind == "thinking" and not (isinstance(block.get("thinking"), str) and block.get("signature")):
            yield f"{where}: thinking without its signature"
        if kind == "redacted_thinking" and not block.get("data"):
            yield f"{where}: redacted thinking without its data"
        if kind == "tool_use":
            if not ID.fullmatch(str(block.get("id", ""))):
                yield f"{where}: the id {block.get('id')!r} is not taken"
            if not NAME.fullmatch(str(block.get("name", ""))):
                yield f"{where}: no tool can be called {block.get('name')!r}"
            if not isinstance(block.get("input"), dict):
                yield f"{where}: the input of a call is no object"
    kinds = [block.get("type") for block in content]
    if kinds[-1] in ("thinking", "redacted_thinking"):
        yield f"{where}: an answer may not end with thinking"
    if "tool_use" in kinds and kinds[-1] != "tool_use":
        yield f"{where}: an answer with calls has to end with one"


def _result_faults(where: str, content: list[Json], owed: list[str]) -> Iterator[str]:
    results = [block for block in content if block.get("type") == "tool_result"]
    if content[: len(results)] != results:
        yield f"{where}: results do not come first"
    ids = [block.get("tool_use_id") for block in results]
    if sorted(map(str, ids)) != sorted(owed):
        yield f"{where}: results of {ids} where those of {owed} belong"
    for block in results:
        said = block.get("content")
        if not isinstance(said, str) or not said.strip():
            yield f"{where}: a result says nothing"


def _breakpoints(request: Json) -> int:
    """Those on the request itself, the system prompt, tools and blocks, not what is named so inside of them."""
    system = request.get("system")
    places = [request, *(system if isinstance(system, list) else []), *(request.get("tools") or [])]
    for message in request.get("messages") or []:
        places += message.get("content") if isinstance(message.get("content"), list) else []
    return sum("cache_control" in place for place in places)


def _extra(value: Json, known: set[str], where: str) -> Iterator[str]:
    yield from (f"{where}: a field {name!r} is not known" for name in value.keys() - known)


def _text_faults(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for pair in value.items():
            yield from (fault for part in pair for fault in _text_faults(part))
    elif isinstance(value, list):
        yield from (fault for part in value for fault in _text_faults(part))
    elif isinstance(value, str) and ("\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value)):
        yield f"text that is not taken: {value!r}"


def _refuse(constant: str) -> None:
    raise ValueError(constant)
