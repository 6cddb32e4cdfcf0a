"""Says what a vendor of chat completions would refuse in a request, from its bytes alone; it knows nothing of how it
was made.

The rules are those of the vendors' documentation and of what their servers are known to answer with 400 or 422. A
vendor that is not named is a compatible server: it has OpenAI's rules, but takes back what only such servers send.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?")
OPTIONS = {
    "model", "stream", "stream_options", "max_tokens", "max_completion_tokens", "reasoning_effort", "tools", "messages",
}  # fmt: skip
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}
KEYWORDS = {"type", "description", "enum", "items", "properties", "required", "additionalProperties"}
TYPES = {"object", "array", "string", "integer", "number", "boolean"}
THINKS = ("deepseek", "moonshot")
"""Who wants the thinking of every answer back as `reasoning_content` where there are tools."""
COMPATIBLE = "compatible"
FIELDS = {
    COMPATIBLE: {"reasoning", "reasoning_content", "reasoning_details"},
    "deepseek": {"reasoning_content"},
    "moonshot": {"reasoning_content"},
    "groq": {"reasoning"},
    "openrouter": {"reasoning", "reasoning_content", "reasoning_details"},
}
"""What an answer may have beside role, content and calls."""


def faults(body: bytes, vendor: str = COMPATIBLE) -> list[str]:
    """Everything wrong with a request to `vendor`; empty when it is valid."""
    try:
        request = json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return [f"no JSON: {error}"]
    if not isinstance(request, dict):
        return ["no JSON object"]
    found = [*_text_faults(request), *_option_faults(request, vendor)]
    tools = request.get("tools")
    if tools is not None:
        found += _tool_faults(tools, vendor)
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return [*found, "there are no messages"]
    return [*found, *_message_faults(messages, vendor, bool(tools))]


# --- options


def _option_faults(request: Json, vendor: str) -> Iterator[str]:
    allowed = OPTIONS - ({"stream_options", "max_completion_tokens"} if vendor == "mistral" else set())
    yield from (f"nobody takes the option {key!r}" for key in request if key not in allowed)
    if not _is_text(request.get("model")):
        yield "no model is named"
    if request.get("stream") is not True:
        yield "the answer is not streamed"
    if request.get("stream_options", {"include_usage": True}) != {"include_usage": True}:
        yield "the stream options are others than to include the usage"
    limits = [request[key] for key in ("max_tokens", "max_completion_tokens") if key in request]
    if len(limits) > 1 or any(type(limit) is not int or limit < 1 for limit in limits):
        yield "the bound of the answer is no positive number, or there are two"
    effort = request.get("reasoning_effort", "none" if vendor != "openai" else None)
    if effort is not None and effort not in EFFORTS:
        yield f"no model knows the effort {effort!r}"
    gpt = GPT.match(str(request.get("model")))
    thinks = gpt is not None and (int(gpt[1]), int(gpt[2] or 0)) >= (5, 4)
    if vendor == "openai" and thinks and request.get("tools") and effort != "none":
        yield "from gpt-5.4 on there are no tools without the effort none"


# --- tools


def _tool_faults(tools: Any, vendor: str) -> Iterator[str]:
    if not isinstance(tools, list) or not 1 <= len(tools) <= 128:
        yield "the tools are no list of 1 to 128"
        return
    names: set[str] = set()
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.keys() != {"type", "function"} or tool["type"] != "function":
            yield f"no tool is {tool!r}"
            continue
        name = function.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            yield f"no tool can be called {name!r}"
        elif name in names:
            yield f"two tools are called {name}"
        names.add(str(name))
        yield from (f"no tool has the field {key!r}" for key in function.keys() - _FUNCTION)
        if not isinstance(function.get("description", ""), str):
            yield f"{name}: the description is no text"
        if "parameters" in function:
            schema = function["parameters"]
            if not isinstance(schema, dict) or schema.get("type") != "object":
                yield f"{name}: the parameters are no object"
            yield from _schema_faults(schema, f"{name}", vendor, function.get("strict") is True)


_FUNCTION = {"name", "description", "parameters", "strict"}


def _schema_faults(schema: Any, where: str, vendor: str, strict: bool) -> Iterator[str]:
    if not isinstance(schema, dict) or schema.get("type") not in TYPES:
        yield f"{where}: a schema without one type"
        return
    keywords = KEYWORDS - ({"additionalProperties"} if vendor == "gemini" else set())
    yield from (f"{where}: the keyword {key!r} is not taken" for key in schema.keys() - keywords)
    if not isinstance(schema.get("description", ""), str):
        yield f"{where}: the description is no text"
    if "enum" in schema and (not isinstance(schema["enum"], list) or not schema["enum"]):
        yield f"{where}: an enum without values"
    if schema["type"] == "array":
        yield from _schema_faults(schema.get("items"), f"{where}[]", vendor, strict)
    if schema["type"] == "object":
        properties = schema.get("properties", {})
        if not isinstance(properties, dict):
            yield f"{where}: the properties are no object"
            return
        required = schema.get("required", [])
        if not isinstance(required, list) or not set(required) <= properties.keys():
            yield f"{where}: what is required is no property"
        if vendor == "gemini" and not properties:
            yield f"{where}: an object without properties"
        if strict and (set(required) != properties.keys() or schema.get("additionalProperties") is not False):
            yield f"{where}: strict, but with optional or further properties"
        for name, child in properties.items():
            yield from _schema_faults(child, f"{where}.{name}", vendor, strict)


# --- messages


def _message_faults(messages: list[Json], vendor: str, tools: bool) -> Iterator[str]:
    owed: list[str] = []
    seen: set[str] = set()
    before = ""
    for number, message in enumerate(messages):
        where, role = f"message {number}", message.get("role")
        if role == "tool":
            yield from _result_faults(where, message, owed)
        elif owed:
            yield f"{where}: comes before the results of {', '.join(owed)}"
            owed = []
        if role == "assistant":
            yield from _answer_faults(where, message, vendor, tools, seen)
            owed = [call["id"] for call in _calls(message)]
            if before in ("", "system") and vendor in ("mistral", "gemini"):
                yield f"{where}: nobody has said anything yet"
        elif role in ("system", "user"):
            if message.keys() != {"role", "content"} or not _is_text(message.get("content")):
                yield f"{where}: {role} does not say one text"
            if role == "system" and number:
                yield f"{where}: the system speaks first or not at all"
            if role == "user" and before == "tool" and vendor == "mistral":
                yield f"{where}: a user speaks right after a result"
        elif role != "tool":
            yield f"{where}: nobody has the role {role!r}"
        before = str(role)
    if owed:
        yield f"at the end: no results of {', '.join(owed)}"
    if before in ("assistant", "system"):
        yield "at the end: nothing that the model has to answer"


def _result_faults(where: str, message: Json, owed: list[str]) -> Iterator[str]:
    if message.keys() != {"role", "tool_call_id", "content"} or not _is_text(message.get("content")):
        yield f"{where}: a result is a call's id and a text"
    id = message.get("tool_call_id")
    if id in owed:
        owed.remove(id)
    else:
        yield f"{where}: a result of {id!r}, which nothing called just before"


def _answer_faults(where: str, message: Json, vendor: str, tools: bool, seen: set[str]) -> Iterator[str]:
    allowed = {"role", "content", "tool_calls"} | FIELDS.get(vendor, set())
    yield from (f"{where}: an answer has no field {key!r}" for key in message.keys() - allowed)
    content = message.get("content")
    if isinstance(content, list):
        if vendor not in ("mistral", COMPATIBLE) or not content or not all(map(_is_part, content)):
            yield f"{where}: content in parts that are not taken"
    elif content is not None and not isinstance(content, str):
        yield f"{where}: the content is no text"
    if not content and not _calls(message):
        yield f"{where}: an answer that says nothing"
    if content == "":
        yield f"{where}: empty text instead of none"
    if vendor in THINKS and tools and not isinstance(message.get("reasoning_content"), str):
        yield f"{where}: its thinking does not come back"
    if not isinstance(message.get("reasoning_content", ""), str) or not isinstance(message.get("reasoning", ""), str):
        yield f"{where}: its thinking is no text"
    if "tool_calls" in message:
        calls = message["tool_calls"]
        if not isinstance(calls, list) or not calls:
            yield f"{where}: the calls are no list with something in it"
            return
        for place, call in enumerate(calls):
            yield from _call_faults(where, call, place, vendor, seen)


def _call_faults(where: str, call: Any, place: int, vendor: str, seen: set[str]) -> Iterator[str]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or function.keys() != {"name", "arguments"} or call.get("type") != "function":
        yield f"{where}: no call is {call!r}"
        return
    extra = {"extra_content"} if vendor in ("gemini", "openrouter", COMPATIBLE) else set[str]()
    yield from (f"{where}: a call has no field {key!r}" for key in call.keys() - {"id", "type", "function"} - extra)
    id, name, arguments = call.get("id"), function["name"], function["arguments"]
    pattern = (
        r"[A-Za-z0-9]{9}"
        if vendor == "mistral"
        else r"(?s:.{1,40})"
        if vendor in ("openai", COMPATIBLE)
        else r"(?s:.+)"
    )
    if not isinstance(id, str) or not re.fullmatch(pattern, id):
        yield f"{where}: the call id {id!r} is not taken"
    elif id in seen:
        yield f"{where}: the call id {id!r} was used before"
    seen.add(str(id))
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield f"{where}: no tool can be called {name!r}"
    if not _is_object(arguments):
        yield f"{where}: the arguments {arguments!r} are no text of a JSON object"
    if vendor == "gemini" and place == 0 and not _signature(call):
        yield f"{where}: the first call is not signed"


# --- values


def _calls(message: Json) -> list[Json]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict) and "id" in call] if isinstance(calls, list) else []


def _signature(call: Json) -> Any:
    google = call["extra_content"].get("google") if isinstance(call.get("extra_content"), dict) else None
    return google.get("thought_signature") if isinstance(google, dict) else None


def _is_part(part: Any) -> bool:
    if not isinstance(part, dict):
        return False
    if part.get("type") == "thinking":
        inner = part.get("thinking")
        return isinstance(inner, list) and all(one.get("type") == "text" and _is_part(one) for one in inner)
    return part.get("type") == "text" and part.keys() == {"type", "text"} and _is_text(part["text"])


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_object(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _text_faults(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield from _text_faults(key)
            yield from _text_faults(child)
    elif isinstance(value, list):
        for child in value:
            yield from _text_faults(child)
    elif isinstance(value, str) and ("\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value)):
        yield f"text that nobody takes: {value!r}"
