"""Requests as each vendor takes them, from a conversation in which everything happened."""

import json
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests import chat_checker

from planlog.agent.conversation import valid_messages
from planlog.model.call_ids import CallIds
from planlog.model.chat.vendors import VENDORS
from planlog.model.message import (
    Block,
    Image,
    Message,
    ModelSource,
    Reasoning,
    Source,
    Text,
    ToolCall,
    ToolResult,
    ToolSource,
    UserSource,
)
from planlog.model.model import Request

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "string"}}},
    "required": ["rows"],
    "additionalProperties": False,
}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
TOOLS = (
    {"name": "bash", "description": "Runs a command.", "parameters": SCHEMA},
    {"name": "look", "description": "Looks around.", "parameters": NOTHING},
)
OWN = ModelSource("me", "m1")
OTHER = ModelSource("someone", "m1")


def user(*content: Block) -> Message:
    return Message("u", "user", UserSource(), list(content) or [Text("Go on.")])


def answer(*content: Block, source: Source = OWN, state: Any = None) -> Message:
    if state is not None:
        source = ModelSource("me", "m1", state)
    return Message("a", "assistant", source, list(content))


def result(id: str, *content: Text | Image) -> Message:
    return Message("r", "user", ToolSource(id), [ToolResult(id, list(content) or [Text("done")])])


def call(id: str, arguments: str = "{}", name: str = "bash") -> ToolCall:
    return ToolCall(id, name, arguments)


EVERYTHING = (
    user(Text("Begin."), Image(None), Text("Please.")),
    answer(Reasoning("Hm. "), Text("First."), call("call_1", '{"rows":["é",1.0]}'), Text("Then."), call("call_2")),
    result("call_1", Text("one"), Text("two")),
    result("call_2", Image(None)),
    answer(Reasoning("So."), Text("Now.")),
    user(),
    user(Text("Still there?")),
    answer(call("functions.bash:0"), source=OTHER),
    result("functions.bash:0"),
    user(Text("Stop.")),
    answer(call("x" * 50), call("toolu_01"), source=OTHER),
    result("x" * 50),
    result("toolu_01"),
)


def body(vendor: str, messages: Sequence[Message] = EVERYTHING, model: str = "m1", **fields: Any) -> bytes:
    request = Request("Be good.", messages, TOOLS)
    return VENDORS[vendor].body(model, "me", msgspec.structs.replace(request, **fields))


def sent(vendor: str, *messages: Message, **fields: Any) -> list[dict[str, Any]]:
    """The messages of a request, without the system prompt."""
    return json.loads(body(vendor, messages, **fields))["messages"][1:]


def checked_as(vendor: str) -> str:
    return chat_checker.COMPATIBLE if vendor == "chat" else vendor


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendor_takes_a_conversation_in_which_everything_happened(vendor: str) -> None:
    assert chat_checker.faults(body(vendor), checked_as(vendor)) == []
    bounded = body(vendor, max_tokens=5, effort="high", tools=())
    assert chat_checker.faults(bounded, checked_as(vendor)) == []


def test_a_whole_request() -> None:
    kept = EVERYTHING[:6]
    assert body("openai", kept, "gpt-5.6", max_tokens=900, tools=TOOLS[1:]).decode() == snapshot(
        '{"model":"gpt-5.6","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":900,"reasoning_effort":"none","tools":[{"type":"function","function":{"name":"look","description":"Looks around.","parameters":{"type":"object","properties":{},"additionalProperties":false}}}],"messages":[{"role":"system","content":"Be good."},{"role":"user","content":"Begin.\\n\\n[an image, which cannot be shown here]\\n\\nPlease."},{"role":"assistant","content":"First.\\n\\nThen.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\\"rows\\":[\\"é\\",1.0]}"}},{"id":"call_2","type":"function","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"one\\n\\ntwo"},{"role":"tool","tool_call_id":"call_2","content":"[an image, which cannot be shown here]"},{"role":"assistant","content":"Now."},{"role":"user","content":"Go on."}]}'
    )


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_longer_conversation_begins_with_the_bytes_of_a_shorter_one(vendor: str) -> None:
    asked = [body(vendor, EVERYTHING[:length]) for length in (1, 4, 6, 7, 9, 10, 13)]
    for shorter, longer in combinations(asked, 2):
        assert longer.startswith(re.sub(rb'"?\}\]\}$', b"", shorter))
    assert body(vendor) == body(vendor)


# --- options


@pytest.mark.parametrize(
    ("vendor", "model", "effort", "tools", "expected"),
    [
        ("openai", "gpt-5.6", None, TOOLS, "none"),
        ("openai", "gpt-5.4-mini", None, TOOLS, "none"),
        ("openai", "gpt-6-astra", None, TOOLS, "none"),
        ("openai", "gpt-5.10", None, TOOLS, "none"),
        ("openai", "ft:gpt-5.6:acme::x", None, TOOLS, "none"),
        ("openai", "gpt-5.6", None, (), None),
        ("openai", "gpt-5.6", "low", TOOLS, "low"),
        ("openai", "gpt-5.5-chat-latest", None, TOOLS, None),
        ("openai", "gpt-5.2", None, TOOLS, None),
        ("openai", "gpt-5-mini", None, TOOLS, None),
        ("openai", "gpt-4o", None, TOOLS, None),
        ("openai", "gpt-4.1", None, TOOLS, None),
        ("openai", "o4-mini", None, TOOLS, None),
        ("chat", "gpt-5.6", None, TOOLS, None),
        ("deepseek", "deepseek-v4-pro", "max", TOOLS, "max"),
    ],
)
def test_how_hard_to_think_is_said_where_it_was_asked_for_or_has_to_be(
    vendor: str, model: str, effort: str | None, tools: Any, expected: str | None
) -> None:
    assert json.loads(body(vendor, model=model, effort=effort, tools=tools)).get("reasoning_effort") == expected


def test_bound_and_usage_go_by_each_vendors_words() -> None:
    for vendor in VENDORS:
        request = json.loads(body(vendor, max_tokens=7))
        assert request["max_completion_tokens" if vendor == "openai" else "max_tokens"] == 7
        assert ("stream_options" in request) == (vendor != "mistral")
        assert not {"max_tokens", "max_completion_tokens"} & json.loads(body(vendor)).keys()


def test_a_key_goes_into_the_header_and_none_where_there_is_none() -> None:
    assert VENDORS["chat"].headers("k") == {"authorization": "Bearer k"}
    assert VENDORS["chat"].headers("") == {}


def test_tools_go_out_as_they_are_but_plain_to_gemini_and_not_at_all_where_there_are_none() -> None:
    def parameters(vendor: str) -> list[Any]:
        return [tool["function"].get("parameters") for tool in json.loads(body(vendor))["tools"]]

    assert parameters("openai") == [SCHEMA, NOTHING]
    assert parameters("gemini") == [{k: v for k, v in SCHEMA.items() if k != "additionalProperties"}, None]
    assert "tools" not in json.loads(body("openai", tools=()))
    assert json.loads(body("openai", system=""))["messages"][0]["role"] == "user"


# --- messages


def test_what_is_said_without_an_answer_between_is_one_message() -> None:
    assert sent("chat", user(), user(Text("Now?"))) == [{"role": "user", "content": "Go on.\n\nNow?"}]


def test_an_image_is_words_since_it_cannot_be_sent() -> None:
    assert sent("chat", user(Image({"id": 1})))[0]["content"] == "[an image, which cannot be shown here]"


def test_mistral_is_given_an_answer_between_results_and_what_a_person_says() -> None:
    said = user(), answer(call("abcdefgh1")), result("abcdefgh1"), user()
    assert [message["role"] for message in sent("chat", *said)] == ["user", "assistant", "tool", "user"]
    assert sent("mistral", *said)[3] == {"role": "assistant", "content": "Understood."}


# --- what goes back


THOUGHT = answer(Reasoning("Hm. "), Reasoning("So."), Text("Yes."), state={"reasoning": "reasoning"})


@pytest.mark.parametrize(
    ("vendor", "message", "expected"),
    [
        # only what came, under the name it came by
        ("chat", THOUGHT, {"reasoning": "Hm. So."}),
        ("chat", answer(Reasoning("Hm."), Text("Yes.")), {}),
        ("chat", answer(Text("Yes."), state={"reasoning": "reasoning"}), {}),
        # always, where the vendor insists, also where there was none
        ("deepseek", answer(Reasoning("Hm."), Text("Yes."), state={"reasoning": "reasoning_content"}), {"reasoning_content": "Hm."}),
        ("deepseek", answer(Reasoning("Hm."), Text("Yes.")), {"reasoning_content": "Hm."}),
        ("moonshot", answer(Text("Yes.")), {"reasoning_content": ""}),
        # of others nothing
        ("chat", answer(Reasoning("Hm."), Text("Yes."), source=ModelSource("me", "m2", {"reasoning": "reasoning"})), {}),
        ("chat", answer(Reasoning("Hm."), Text("Yes."), source=ModelSource("you", "m1", {"reasoning": "reasoning"})), {}),
        ("deepseek", answer(Reasoning("Hm."), Text("Yes."), source=OTHER), {"reasoning_content": ""}),
        ("chat", answer(Text("Yes."), source=ModelSource("you", "m1", {"details": [{"type": "x"}]})), {}),
        # verbatim
        ("chat", answer(Text("Yes."), state={"details": [{"type": "x", "n": 1}]}), {"reasoning_details": [{"type": "x", "n": 1}]}),
        # states that this dialect never wrote
        ("chat", answer(Reasoning("Hm."), Text("Yes."), state={"reasoning": "role"}), {}),
        ("chat", answer(Reasoning("Hm."), Text("Yes."), state=[1]), {}),
        ("chat", answer(Reasoning("Hm."), Text("Yes."), state="x"), {}),
    ],
)  # fmt: skip
def test_thinking_goes_back_to_who_wants_it(vendor: str, message: Message, expected: dict[str, Any]) -> None:
    written = sent(vendor, user(), message, user())[1]
    assert written == {"role": "assistant", "content": "Yes.", **expected}


def test_mistrals_thinking_goes_back_within_the_content() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    said = answer(Reasoning("Hm."), Text("Yes."), state={"reasoning": "content"})
    assert sent("mistral", user(), said, user())[1]["content"] == [thinking, {"type": "text", "text": "Yes."}]
    silent = answer(Reasoning("Hm."), call("abcdefgh1"), state={"reasoning": "content"})
    assert sent("mistral", user(), silent, result("abcdefgh1"))[1]["content"] == [thinking]


def extras(vendor: str, message: Message) -> list[Any]:
    made = [block.id for block in message.content if isinstance(block, ToolCall)]
    written = sent(vendor, user(), message, *map(result, made))[1]
    return [call.get("extra_content") for call in written["tool_calls"]]


def test_signatures_go_back_with_their_calls_and_gemini_gets_a_placeholder_where_the_first_has_none() -> None:
    signed = {"google": {"thought_signature": "s"}}
    unsigned = {"google": {"thought_signature": "skip_thought_signature_validator"}}
    two = call("1"), call("2")
    assert extras("gemini", answer(*two, state={"calls": [signed, None]})) == [signed, None]
    assert extras("gemini", answer(*two, state={"calls": [signed]})) == [signed, None]
    assert extras("gemini", answer(*two)) == [unsigned, None]
    assert extras("gemini", answer(*two, source=ModelSource("me", "m2", {"calls": [signed]}))) == [unsigned, None]
    assert extras("gemini", answer(*two, state={"calls": [None, signed]})) == [unsigned, signed]
    assert extras("chat", answer(*two, state={"calls": [signed]})) == [signed, None]
    assert extras("chat", answer(*two)) == [None, None]


# --- ids


def ids(vendor: str, *made: tuple[str, Source]) -> list[str]:
    """What becomes of the ids of calls, each in an answer of its own."""
    messages = [one for id, source in made for one in (answer(call(id), source=source), result(id))]
    written = sent(vendor, user(), *messages)
    asked = [message["tool_calls"][0]["id"] for message in written if message["role"] == "assistant"]
    assert asked == [message["tool_call_id"] for message in written if message["role"] == "tool"]
    return asked


def test_ids_stay_where_they_are_taken_and_are_replaced_where_not() -> None:
    assert ids("openai", ("call_1", OWN), ("toolu_2", OTHER)) == ["call_1", "toolu_2"]
    assert ids("moonshot", ("functions.bash:0", OWN)) == ["functions.bash:0"]
    [foreign] = ids("moonshot", ("functions.bash:0", OTHER))
    [long] = ids("openai", ("x" * 41, OWN))
    kept, *changed = ids("mistral", ("D681PevKs", OTHER), ("call_1", OTHER), ("D681PevK", OWN), ("D681-evKs", OWN))
    assert kept == "D681PevKs"
    replaced = [foreign, long, *changed]
    assert len(set(replaced)) == 5
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", id) for id in replaced)
    assert ids("mistral", ("call_1", OTHER)) == changed[:1]


def test_a_replacement_is_never_an_id_that_is_there_already() -> None:
    pattern = VENDORS["mistral"].call_ids
    first = CallIds(pattern).of_call("call_1", own=True)
    there = CallIds(pattern)
    assert there.of_call(first, own=True) == first
    assert there.of_call("call_1", own=True) != first
    assert (there.of_result(first), there.of_result("call_1") != first) == (first, True)
    later = CallIds(pattern)
    assert later.of_call("call_1", own=True) == first
    assert later.of_call(first, own=True) != first


# --- laws


IDS = st.sampled_from(["", "a", "call_1", "D681PevKs", "functions.bash:0", "x" * 50])
SOURCES = st.sampled_from(
    [OWN, OTHER, ModelSource("me", "m1", {"reasoning": "reasoning", "calls": [None, {"google": {}}]})]
)
WORDS = st.sampled_from(["", " ", "Yes.", "é\n"])
BLOCKS = st.builds(Text, WORDS) | st.builds(Reasoning, WORDS) | st.builds(ToolCall, IDS, st.just("bash"), st.just("{}"))
MESSAGES = st.one_of(
    st.builds(lambda text: user(Text(text)), st.sampled_from(["Go on.", "Stop."])),
    st.builds(lambda content, source: answer(*content, source=source), st.lists(BLOCKS, max_size=4), SOURCES),
    st.builds(result, IDS),
)


@given(st.lists(MESSAGES, max_size=12))
def test_whatever_happened_every_vendor_takes_it(surface: list[Message]) -> None:
    messages = list(valid_messages([user(), *surface, user()]))
    for vendor in VENDORS:
        reasoning = VENDORS[vendor].reasoning_field or "reasoning"
        faults = chat_checker.faults(body(vendor, messages), checked_as(vendor))
        # The replay states above are none that every one of them would have given.
        foreign = f"an answer has no field '{reasoning}'", "a call has no field 'extra_content'"
        assert [fault for fault in faults if not fault.endswith(foreign)] == []
