"""The checker of chat completions sees each fault by itself, and none in a request that is good."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.chat_checker import faults

Json = dict[str, Any]


def good() -> Json:
    """A request in which everything occurs, as OpenAI takes it."""
    item = {"type": "object", "properties": {"text": {"type": "string", "enum": ["a"]}}, "required": ["text"]}
    schema = {
        "type": "object",
        "properties": {"rows": {"type": "array", "description": "All.", "items": item}},
        "required": ["rows"],
        "additionalProperties": False,
    }
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "write", "arguments": '{"rows":[]}'}}
    return {
        "model": "gpt-5.6",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 100,
        "reasoning_effort": "none",
        "tools": [{"type": "function", "function": {"name": "write", "description": "Writes.", "parameters": schema}}],
        "messages": [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": "Write."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "abcdefghi", "content": "done"},
            {"role": "assistant", "content": "I did."},
            {"role": "user", "content": "Thanks."},
        ],
    }


def good_for(vendor: str) -> Json:
    """The same as `vendor` takes it."""
    request = good()
    answers = [message for message in request["messages"] if message["role"] == "assistant"]
    function = request["tools"][0]["function"]
    if vendor in ("deepseek", "moonshot"):
        for answer in answers:
            answer["reasoning_content"] = ""
    if vendor == "mistral":
        del request["stream_options"], request["max_completion_tokens"]
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
        answers[1]["content"] = [thinking, {"type": "text", "text": "I did."}]
    if vendor == "gemini":
        del function["parameters"]["additionalProperties"]
        answers[0]["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "x"}}
    if vendor == "openrouter":
        answers[0] |= {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}
    if vendor == "groq":
        answers[0]["reasoning"] = "Hm."
    if vendor == "compatible":
        answers[0] |= {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}
        answers[0]["tool_calls"][0]["extra_content"] = {"google": {}}
    return request


VENDORS = ("openai", "deepseek", "moonshot", "mistral", "gemini", "openrouter", "groq", "compatible")


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_good_request_has_no_faults(vendor: str) -> None:
    assert faults(json.dumps(good_for(vendor)).encode(), vendor) == []


def call_of(request: Json) -> Json:
    return request["messages"][2]["tool_calls"][0]


def function_of(request: Json) -> Json:
    return request["tools"][0]["function"]


def rename(request: Json, id: str) -> None:
    call_of(request)["id"] = request["messages"][3]["tool_call_id"] = id


def repeat_call(request: Json) -> None:
    request["messages"] += copy.deepcopy(request["messages"][2:4])


CASES: list[tuple[str, Callable[[Json], Any], str]] = [
    ("openai", lambda r: r.update(thinking={}), "nobody takes the option 'thinking'"),
    ("openai", lambda r: r.update(model=""), "no model is named"),
    ("openai", lambda r: r.pop("stream"), "the answer is not streamed"),
    ("openai", lambda r: r.update(stream_options={}), "the stream options are others than to include the usage"),
    ("openai", lambda r: r.update(max_completion_tokens=0), "the bound of the answer is no positive number, or there are two"),
    ("openai", lambda r: r.update(max_tokens=9), "the bound of the answer is no positive number, or there are two"),
    ("openai", lambda r: r.update(model="gpt-5", reasoning_effort="hard"), "no model knows the effort 'hard'"),
    ("openai", lambda r: r.update(reasoning_effort="low"), "from gpt-5.4 on there are no tools without the effort none"),
    ("openai", lambda r: r.pop("reasoning_effort"), "from gpt-5.4 on there are no tools without the effort none"),
    ("openai", lambda r: r.update(tools=[]), "the tools are no list of 1 to 128"),
    ("openai", lambda r: r["tools"][0].pop("type"), "no tool is {"),
    ("openai", lambda r: function_of(r).update(name="a b"), "no tool can be called 'a b'"),
    ("openai", lambda r: r["tools"].append(r["tools"][0]), "two tools are called write"),
    ("openai", lambda r: function_of(r).update(input_schema={}), "no tool has the field 'input_schema'"),
    ("openai", lambda r: function_of(r).update(description=None), "write: the description is no text"),
    ("openai", lambda r: function_of(r).update(parameters={"type": "string"}), "write: the parameters are no object"),
    ("openai", lambda r: function_of(r)["parameters"].update({"$ref": "#"}), "write: the keyword '$ref' is not taken"),
    ("openai", lambda r: function_of(r)["parameters"]["properties"]["rows"].pop("items"), "write.rows[]: a schema without one type"),
    ("openai", lambda r: function_of(r)["parameters"]["properties"]["rows"].update(enum=[]), "write.rows: an enum without values"),
    ("openai", lambda r: function_of(r)["parameters"]["properties"]["rows"].update(description=1), "write.rows: the description is no text"),
    ("openai", lambda r: function_of(r)["parameters"].update(properties=[]), "write: the properties are no object"),
    ("openai", lambda r: function_of(r)["parameters"].update(required=["no"]), "write: what is required is no property"),
    ("openai", lambda r: function_of(r).update(strict=True), "write.rows[]: strict, but with optional or further properties"),
    ("openai", lambda r: r.update(messages=[]), "there are no messages"),
    ("openai", lambda r: r["messages"][1].update(role="person"), "message 1: nobody has the role 'person'"),
    ("openai", lambda r: r["messages"][1].update(content=""), "message 1: user does not say one text"),
    ("openai", lambda r: r["messages"][1].update(name="Ann"), "message 1: user does not say one text"),
    ("openai", lambda r: r["messages"].insert(2, r["messages"][0]), "message 2: the system speaks first or not at all"),
    ("openai", lambda r: r["messages"].pop(3), "message 3: comes before the results of abcdefghi"),
    ("openai", lambda r: r["messages"].pop(2), "message 2: a result of 'abcdefghi', which nothing called just before"),
    ("openai", lambda r: r["messages"][3].update(content=None), "message 3: a result is a call's id and a text"),
    ("openai", lambda r: r.update(messages=r["messages"][:3]), "at the end: no results of abcdefghi"),
    ("openai", lambda r: r.update(messages=r["messages"][:5]), "at the end: nothing that the model has to answer"),
    ("openai", lambda r: r["messages"][4].update(content=None), "message 4: an answer that says nothing"),
    ("openai", lambda r: r["messages"][2].update(content=""), "message 2: empty text instead of none"),
    ("openai", lambda r: r["messages"][4].update(content=7), "message 4: the content is no text"),
    ("openai", lambda r: r["messages"][4].update(content=[{"type": "text", "text": "x"}]), "message 4: content in parts that are not taken"),
    ("openai", lambda r: r["messages"][4].update(tool_calls=[]), "message 4: the calls are no list with something in it"),
    ("openai", lambda r: r["messages"][4].update(reasoning_content="x"), "message 4: an answer has no field 'reasoning_content'"),
    ("openai", lambda r: call_of(r).pop("type"), "message 2: no call is {"),
    ("openai", lambda r: call_of(r).update(extra_content={}), "message 2: a call has no field 'extra_content'"),
    ("openai", lambda r: rename(r, "x" * 41), f"message 2: the call id '{'x' * 41}' is not taken"),
    ("openai", lambda r: rename(r, ""), "message 2: the call id '' is not taken"),
    ("openai", repeat_call, "message 6: the call id 'abcdefghi' was used before"),
    ("openai", lambda r: call_of(r)["function"].update(name="functions.write"), "message 2: no tool can be called 'functions.write'"),
    ("openai", lambda r: call_of(r)["function"].update(arguments={}), "message 2: the arguments {} are no text of a JSON object"),
    ("openai", lambda r: call_of(r)["function"].update(arguments="{"), "message 2: the arguments '{' are no text of a JSON object"),
    ("openai", lambda r: call_of(r)["function"].update(arguments="[NaN]"), "message 2: the arguments '[NaN]' are no text of a JSON object"),
    ("openai", lambda r: r["messages"][1].update(content="a\0"), "text that nobody takes: 'a\\x00'"),
    ("openai", lambda r: r["messages"][1].update(content="\ud83d"), "text that nobody takes: '\\ud83d'"),
    ("compatible", lambda r: rename(r, "x" * 41), f"message 2: the call id '{'x' * 41}' is not taken"),
    ("compatible", lambda r: r["messages"][4].update(thinking="x"), "message 4: an answer has no field 'thinking'"),
    ("deepseek", lambda r: r["messages"][2].pop("reasoning_content"), "message 2: its thinking does not come back"),
    ("deepseek", lambda r: r["messages"][4].pop("reasoning_content"), "message 4: its thinking does not come back"),
    ("moonshot", lambda r: r["messages"][2].pop("reasoning_content"), "message 2: its thinking does not come back"),
    ("openrouter", lambda r: r["messages"][2].update(reasoning=None), "message 2: its thinking is no text"),
    ("groq", lambda r: r["messages"][4].update(reasoning_content="x"), "message 4: an answer has no field 'reasoning_content'"),
    ("mistral", lambda r: r.update(stream_options={"include_usage": True}), "nobody takes the option 'stream_options'"),
    ("mistral", lambda r: r.update(max_completion_tokens=5), "nobody takes the option 'max_completion_tokens'"),
    ("mistral", lambda r: rename(r, "call_abcd"), "message 2: the call id 'call_abcd' is not taken"),
    ("mistral", lambda r: r["messages"].pop(4), "message 4: a user speaks right after a result"),
    ("mistral", lambda r: r["messages"].pop(1), "message 1: nobody has said anything yet"),
    ("mistral", lambda r: r["messages"][4]["content"].append({"type": "text"}), "message 4: content in parts that are not taken"),
    ("gemini", lambda r: call_of(r).pop("extra_content"), "message 2: the first call is not signed"),
    ("gemini", lambda r: call_of(r)["extra_content"].update(google={}), "message 2: the first call is not signed"),
    ("gemini", lambda r: function_of(r)["parameters"].update(additionalProperties=False), "write: the keyword 'additionalProperties' is not taken"),
    ("gemini", lambda r: function_of(r).update(parameters={"type": "object", "properties": {}}), "write: an object without properties"),
]  # fmt: skip


@pytest.mark.parametrize(("vendor", "spoil", "said"), CASES, ids=[f"{vendor}: {said}" for vendor, _, said in CASES])
def test_each_fault_is_seen(vendor: str, spoil: Callable[[Json], Any], said: str) -> None:
    request = good_for(vendor)
    spoil(request)
    assert any(fault.startswith(said) for fault in faults(json.dumps(request).encode(), vendor))


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"model":NaN}', b"{" * 100_000])
def test_what_is_no_request_at_all_is_seen(body: bytes) -> None:
    assert len(faults(body)) == 1
