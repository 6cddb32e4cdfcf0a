"""The checker of Anthropic's messages sees each fault by itself, and none in a request that is good."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.messages_checker import faults

Json = dict[str, Any]
EPHEMERAL = {"type": "ephemeral"}


def good() -> Json:
    """A request in which everything occurs."""
    tool = {"name": "write", "description": "Writes.", "input_schema": {"type": "object", "properties": {}}}
    call = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
    answer = [
        {"type": "thinking", "thinking": "", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "I write."},
        call,
        {**call, "id": "toolu_2"},
    ]
    results = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "no", "is_error": True},
        {"type": "text", "text": "Go on."},
    ]
    return {
        "model": "claude-opus-5-5",
        "max_tokens": 100,
        "stream": True,
        "cache_control": EPHEMERAL,
        "output_config": {"effort": "high"},
        "tools": [tool],
        "system": [{"type": "text", "text": "Be good.", "cache_control": EPHEMERAL}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Write."}]},
            {"role": "assistant", "content": answer},
            {"role": "user", "content": results},
        ],
    }


def test_a_good_request_has_no_faults() -> None:
    assert faults(json.dumps(good()).encode()) == []


def said(request: Json, index: int) -> list[Json]:
    return request["messages"][index]["content"]


def call_of(request: Json) -> Json:
    return said(request, 1)[3]


def rename(request: Json, id: str) -> None:
    call_of(request)["id"] = said(request, 2)[0]["tool_use_id"] = id


CASES: list[tuple[Callable[[Json], Any], str]] = [
    (lambda r: r.update(temperature=1), "an option 'temperature' is not known"),
    (lambda r: r.update(model=""), "no model is named"),
    (lambda r: r.update(max_tokens=0), "max_tokens has to be a whole number above 0"),
    (lambda r: r.pop("max_tokens"), "max_tokens has to be a whole number above 0"),
    (lambda r: r.pop("stream"), "no stream is asked for"),
    (lambda r: r.update(output_config={"effort": "none"}), "an effort that is not known"),
    (lambda r: r["system"][0].update(text=" "), "the system prompt is not text"),
    (lambda r: r["system"][0].update(id=1), "the system prompt: a field 'id' is not known"),
    (lambda r: r["tools"].append(r["tools"][0]), "a tool is there twice"),
    (lambda r: r["tools"][0].update(name="a b"), "no tool can be called 'a b'"),
    (lambda r: r["tools"][0].update(parameters={}), "the tool write: a field 'parameters' is not known"),
    (lambda r: r["tools"][0].update(input_schema={}), "the input of the tool write is no object"),
    (lambda r: [said(r, 2)[n].update(cache_control=EPHEMERAL) for n in range(3)], "more than 4 cache breakpoints"),
    (lambda r: r.update(messages=[]), "there are no messages"),
    (lambda r: r["messages"].pop(0), "the first message is not the user's"),
    (lambda r: r["messages"].pop(2), "the last message is not the user's"),
    (lambda r: r["messages"].pop(2), "at the end: no results of ['toolu_1', 'toolu_2']"),
    (lambda r: r["messages"][0].update(name="x"), "message 0: a field 'name' is not known"),
    (lambda r: r["messages"][0].update(role="system"), "message 0: nobody has the role 'system'"),
    (lambda r: r["messages"].insert(0, r["messages"][0]), "message 1: user speaks twice in turn"),
    (lambda r: r["messages"][0].update(content=[]), "message 0: nothing is said"),
    (lambda r: r["messages"][0].update(content="x"), "message 0: nothing is said"),
    (lambda r: said(r, 0).append(call_of(r)), "message 0: user cannot say 'tool_use'"),
    (lambda r: said(r, 1).append(said(r, 2)[0]), "message 1: assistant cannot say 'tool_result'"),
    (lambda r: said(r, 0)[0].update(text="\n"), "message 0: blank text"),
    (lambda r: said(r, 0)[0].update(id="x"), "message 0: text: a field 'id' is not known"),
    (lambda r: said(r, 1)[0].pop("signature"), "message 1: thinking without its signature"),
    (lambda r: said(r, 1)[0].pop("thinking"), "message 1: thinking without its signature"),
    (lambda r: said(r, 1)[1].pop("data"), "message 1: redacted thinking without its data"),
    (lambda r: rename(r, "a:b"), "message 1: the id 'a:b' is not taken"),
    (lambda r: call_of(r).update(name="a b"), "message 1: no tool can be called 'a b'"),
    (lambda r: call_of(r).update(input="{}"), "message 1: the input of a call is no object"),
    (lambda r: said(r, 1).append(said(r, 1)[0]), "message 1: an answer may not end with thinking"),
    (lambda r: said(r, 1).append(said(r, 1)[2]), "message 1: an answer with calls has to end with one"),
    (lambda r: rename(r, "toolu_2"), "message 1: an id is used twice"),
    (lambda r: r["messages"].extend(copy.deepcopy(r["messages"][1:])), "message 3: the id 'toolu_1' was used before"),
    (lambda r: said(r, 2).reverse(), "message 2: results do not come first"),
    (lambda r: said(r, 2).pop(0), "message 2: results of ['toolu_2'] where those of ['toolu_1', 'toolu_2'] belong"),
    (lambda r: said(r, 2).insert(0, said(r, 2)[0]), "message 2: results of ['toolu_1', 'toolu_1', 'toolu_2'] where"),
    (lambda r: said(r, 2)[0].update(content=""), "message 2: a result says nothing"),
    (lambda r: said(r, 2)[0].update(content=None), "message 2: a result says nothing"),
    (lambda r: said(r, 0)[0].update(text="a\0"), "text that is not taken: 'a\\x00'"),
    (lambda r: said(r, 0)[0].update(text="\ud83d"), "text that is not taken: '\\ud83d'"),
]  # fmt: skip


@pytest.mark.parametrize(("spoil", "said"), CASES, ids=[said for _, said in CASES])
def test_each_fault_is_seen(spoil: Callable[[Json], Any], said: str) -> None:
    request = good()
    spoil(request)
    assert any(fault.startswith(said) for fault in faults(json.dumps(request).encode()))


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"model":NaN}', b"{" * 100_000])
def test_what_is_no_request_at_all_is_seen(body: bytes) -> None:
    assert len(faults(body)) == 1
