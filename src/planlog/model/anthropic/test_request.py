"""Requests as Anthropic takes them, from a conversation in which everything happened."""

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
from tests import messages_checker

from planlog.agent.conversation import valid_messages
from planlog.model.anthropic import AnthropicMessages
from planlog.model.anthropic.kept import binding_of
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

Json = dict[str, Any]

SCHEMA: Json = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "string"}}}}
TOOLS = (
    {"name": "bash", "description": "Runs a command.", "parameters": SCHEMA},
    {"name": "look", "description": "Looks around.", "parameters": {"type": "object", "properties": {}}},
)
MODEL = "claude-opus-5-5"
OWN = ModelSource("anthropic", MODEL)
OTHER = ModelSource("openai", "gpt-5.6", {"reasoning": "reasoning"})

SHOWN: Json = {"type": "thinking", "thinking": "Hm.", "signature": "s1"}
OMITTED: Json = {"type": "thinking", "thinking": "", "signature": "s2"}
REDACTED: Json = {"type": "redacted_thinking", "data": "d"}


def user(*content: Block) -> Message:
    return Message("u", "user", UserSource(), list(content) or [Text("Go on.")])


def answer(*content: Block, source: Source = OWN, thoughts: Sequence[tuple[int, Json]] = ()) -> Message:
    """`thoughts` are as the reply kept them: how many blocks of text and calls came before, and the thought."""
    if thoughts:
        kept = [{"after": after, "block": block} for after, block in thoughts]
        source = ModelSource("anthropic", MODEL, {"thoughts": kept})
    return Message("a", "assistant", source, list(content))


def result(id: str, *content: Text | Image, is_error: bool = False) -> Message:
    return Message("r", "user", ToolSource(id), [ToolResult(id, list(content) or [Text("done")], is_error)])


def call(id: str, arguments: str = "{}", name: str = "bash") -> ToolCall:
    return ToolCall(id, name, arguments)


EVERYTHING = (
    user(Text("Begin."), Image(None), Text("Please.")),
    answer(
        Reasoning("Hm."), Text("First."), call("toolu_1", '{"rows":["é",1.0]}'), call("toolu_2"),
        thoughts=[(0, SHOWN), (0, OMITTED), (2, REDACTED)],
    ),
    result("toolu_1", Text("one"), Text("two")),
    result("toolu_2", Image(None), is_error=True),
    answer(Reasoning("So."), Text("Now.")),
    user(),
    user(Text("Still there?")),
    answer(Reasoning("Oh."), call("functions.bash:0"), source=OTHER),
    result("functions.bash:0"),
    user(Text("Stop.")),
    answer(call("x" * 50), call("call_1"), Text("Bye."), source=OTHER),
    result("x" * 50),
    result("call_1"),
)  # fmt: skip


def body(messages: Sequence[Message] = EVERYTHING, model: str = MODEL, own_server: bool = True, **fields: Any) -> bytes:
    """A request whose thoughts are bound to what stands before them, as they were when they were thought."""
    dialect = AnthropicMessages(own_server=own_server)
    bound: list[Message] = []
    for message in messages:
        if message.role == "assistant":
            asked = msgspec.structs.replace(Request("Be good.", bound, TOOLS), **fields)
            message = bound_to(message, binding_of(dialect.body(model, "anthropic", asked)))
        bound.append(message)
    return dialect.body(model, "anthropic", msgspec.structs.replace(Request("Be good.", bound, TOOLS), **fields))


def bound_to(message: Message, digest: str) -> Message:
    """The answer as it was kept behind a request with that digest."""
    source = message.source
    if not isinstance(source, ModelSource) or not isinstance(source.replay_state, dict):
        return message
    state = {**source.replay_state, "bound_to": digest}
    return msgspec.structs.replace(message, source=msgspec.structs.replace(source, replay_state=state))


def sent(*messages: Message) -> list[Json]:
    return json.loads(body(messages))["messages"]


def answered(*content: Block, **fields: Any) -> list[Json]:
    """The blocks that become of an answer."""
    return sent(user(), answer(*content, **fields), user())[1]["content"]


# --- the whole


def test_a_whole_request() -> None:
    kept = EVERYTHING[:6]
    assert body(kept, max_tokens=900, effort="high", tools=TOOLS[:1]).decode() == snapshot(
        '{"model":"claude-opus-5-5","max_tokens":900,"output_config":{"effort":"high"},"stream":true,"cache_control":{"type":"ephemeral"},"tools":[{"name":"bash","description":"Runs a command.","input_schema":{"type":"object","properties":{"rows":{"type":"array","items":{"type":"string"}}}}}],"system":[{"type":"text","text":"Be good.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"Begin.\\n[an image, which cannot be shown here]\\nPlease."}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"s1"},{"type":"thinking","thinking":"","signature":"s2"},{"type":"text","text":"First."},{"type":"tool_use","id":"toolu_1","name":"bash","input":{"rows":["é",1.0]}},{"type":"redacted_thinking","data":"d"},{"type":"tool_use","id":"toolu_2","name":"bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"one\\ntwo"},{"type":"tool_result","tool_use_id":"toolu_2","content":"[an image, which cannot be shown here]","is_error":true}]},{"role":"assistant","content":[{"type":"text","text":"Now."}]},{"role":"user","content":[{"type":"text","text":"Go on."}]}]}'
    )


def test_it_takes_a_conversation_in_which_everything_happened() -> None:
    assert messages_checker.faults(body()) == []
    assert messages_checker.faults(body(max_tokens=5, effort="max", tools=(), system="")) == []
    assert messages_checker.faults(body(own_server=False)) == []


def test_a_longer_conversation_begins_with_the_bytes_of_a_shorter_one() -> None:
    asked = [body(EVERYTHING[:length]) for length in (1, 4, 6, 7, 9, 10, 13)]
    for shorter, longer in combinations(asked, 2):
        assert longer.startswith(re.sub(rb"\]\}\]\}$", b"", shorter))
    assert body() == body()


# --- options


def test_there_are_two_cache_breakpoints_and_the_server_moves_one_of_them() -> None:
    request = json.loads(body())
    assert request["cache_control"] == request["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert body().count(b"cache_control") == 2


def test_other_servers_get_only_what_all_of_them_know() -> None:
    request = json.loads(body(own_server=False))
    assert request.keys() == {"model", "max_tokens", "stream", "tools", "system", "messages"}
    assert request["system"][0]["cache_control"] == {"type": "ephemeral"}
    other = AnthropicMessages(own_server=False)
    assert other.headers("") == {"anthropic-version": "2023-06-01"}
    assert other.headers("k") == {"anthropic-version": "2023-06-01", "x-api-key": "k"}
    assert AnthropicMessages().headers("k") == other.headers("k")


def test_bound_and_effort_are_said_where_they_were_asked_for() -> None:
    assert json.loads(body())["max_tokens"] == 32_000
    assert json.loads(body(max_tokens=7))["max_tokens"] == 7
    assert "output_config" not in json.loads(body())
    assert json.loads(body(effort="low"))["output_config"] == {"effort": "low"}


def test_without_tools_or_a_system_prompt_nothing_is_said_of_them() -> None:
    assert not {"tools", "system"} & json.loads(body(tools=(), system="")).keys()


# --- thinking


A, B = call("a"), call("b")


@pytest.mark.parametrize(
    ("content", "thoughts", "expected"),
    [
        # in its place: before, between, two in a row, one that is not shown, one that nobody can read
        ([Text("Yes.")], [(0, SHOWN)], [SHOWN, "Yes."]),
        ([Text("Yes.")], [(0, SHOWN), (0, OMITTED), (0, REDACTED)], [SHOWN, OMITTED, REDACTED, "Yes."]),
        ([A, B], [(0, OMITTED), (1, SHOWN)], [OMITTED, "a", SHOWN, "b"]),
        ([Text("Yes."), A], [(1, SHOWN), (1, REDACTED)], ["Yes.", SHOWN, REDACTED, "a"]),
        # blank text was not counted
        ([Text(" "), Text("Yes."), A], [(0, SHOWN), (1, OMITTED)], [SHOWN, "Yes.", OMITTED, "a"]),
        # stopped in mid-thinking
        ([Text("Yes.")], [(0, SHOWN), (1, OMITTED)], [SHOWN, "Yes."]),
        ([Text("Yes.")], [(1, SHOWN), (1, OMITTED)], ["Yes."]),
        ([A], [(0, SHOWN), (1, OMITTED)], [SHOWN, "a"]),
        # cut off by its length, in text behind its calls
        ([A, B, Text("And")], [(0, SHOWN)], [SHOWN, "And", "a", "b"]),
        ([A, B, Text("And")], [(0, SHOWN), (1, OMITTED), (2, REDACTED)], [SHOWN, "a", OMITTED, "And", "b"]),
        # the order of the model's own
        ([Text("1"), A, Text("2"), B], [], ["1", "a", "2", "b"]),
    ],
)
def test_thoughts_go_back_where_they_stood_but_never_at_the_end(
    content: list[Block], thoughts: list[tuple[int, Json]], expected: list[str | Json]
) -> None:
    results = [result(block.id) for block in content if isinstance(block, ToolCall)]
    written = sent(user(), answer(*content, thoughts=thoughts), *(results or [user()]))[1]["content"]
    assert [block.get("text") or block.get("id") or block for block in written] == expected


def test_thoughts_go_back_only_where_all_before_them_is_what_it_was() -> None:
    began, thought, ended = user(), answer(Text("Yes."), thoughts=[(0, SHOWN)]), user()
    dialect = AnthropicMessages()

    def request(*messages: Message, **fields: Any) -> Request:
        return msgspec.structs.replace(Request("Be good.", messages, TOOLS), **fields)

    digest = binding_of(dialect.body(MODEL, "anthropic", request(began)))
    kept = bound_to(thought, digest)

    def goes_back(asked: Request, dialect: AnthropicMessages = dialect) -> bool:
        return b'"signature":"s1"' in dialect.body(MODEL, "anthropic", asked)

    assert goes_back(request(began, kept, ended))
    assert goes_back(request(began, kept, ended, effort="low", max_tokens=5))
    assert goes_back(request(began, kept, ended, user(Text("And then?"))))
    assert not goes_back(request(user(Text("A summary.")), kept, ended))
    assert not goes_back(request(began, kept, ended, system="Be better."))
    assert not goes_back(request(began, kept, ended, tools=TOOLS[:1]))
    assert not goes_back(request(user(), answer(Text("Before.")), began, kept, ended))


@pytest.mark.parametrize(
    "source",
    [
        ModelSource("anthropic", "claude-opus-5", {"thoughts": [{"after": 0, "block": SHOWN}]}),
        ModelSource("elsewhere", MODEL, {"thoughts": [{"after": 0, "block": SHOWN}]}),
        ModelSource("anthropic", MODEL, {"reasoning": "reasoning"}),
        ModelSource("anthropic", MODEL, {"thoughts": [{"block": 7}]}),
        ModelSource("anthropic", MODEL, {"thoughts": [{"after": 0, "block": {}}]}),
        ModelSource("anthropic", MODEL, {"thoughts": [{"after": 10**30, "block": SHOWN}]}),
        ModelSource("anthropic", MODEL, {"thoughts": [{"after": -1, "block": SHOWN}]}),
        ModelSource("anthropic", MODEL, {"thoughts": [{"after": 0, "block": {**SHOWN, "signature": ""}}]}),
        ModelSource("anthropic", MODEL, [1]),
        ModelSource("anthropic", MODEL, "x"),
        OTHER,
        UserSource(),
    ],
)
def test_of_another_model_or_dialect_only_what_was_said_goes_on(source: Source) -> None:
    assert answered(Reasoning("Hm."), Text("Yes."), source=source) == [{"type": "text", "text": "Yes."}]


# --- messages


def test_what_is_said_without_an_answer_between_is_one_message_with_results_first() -> None:
    written = sent(user(), answer(A, B), result("a"), result("b", is_error=True), user(), user(Text("Now?")))
    assert written[2] == snapshot(
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "done"},
                {"type": "tool_result", "tool_use_id": "b", "content": "done", "is_error": True},
                {"type": "text", "text": "Go on."},
                {"type": "text", "text": "Now?"},
            ],
        }
    )


def test_images_are_words_since_they_cannot_be_sent() -> None:
    words = "[an image, which cannot be shown here]"
    assert sent(user(Image({"id": 1}), Text("See?")))[0]["content"] == [{"type": "text", "text": f"{words}\nSee?"}]
    assert sent(user(), answer(A), result("a", Image(None)))[2]["content"][0]["content"] == words
    assert answered(Image(None), source=OTHER) == [{"type": "text", "text": words}]


def test_blank_text_is_left_out_or_said_to_be_nothing() -> None:
    assert sent(user(Text(" \n")))[0]["content"] == [{"type": "text", "text": "(nothing)"}]
    assert sent(user(), answer(A), result("a", Text("")))[2]["content"][0]["content"] == "(nothing)"
    assert answered(Text("\n"), Text("Yes.")) == [{"type": "text", "text": "Yes."}]


def test_arguments_go_back_as_they_were_written() -> None:
    assert b'"input":{"b": 1.0,"a":"\\u00e9"}' in body(
        (user(), answer(call("a", '{"b": 1.0,"a":"\\u00e9"}')), result("a"))
    )


def ids(*made: tuple[str, Source]) -> list[str]:
    """What becomes of the ids of calls, each in an answer of its own."""
    written = sent(user(), *(one for id, source in made for one in (answer(call(id), source=source), result(id))))
    asked = [message["content"][0]["id"] for message in written if message["role"] == "assistant"]
    assert asked == [message["content"][0]["tool_use_id"] for message in written[2::2]]
    return asked


def test_ids_stay_where_they_are_taken_and_are_replaced_where_not() -> None:
    kept = [("toolu_1", OWN), ("call_1", OTHER), ("x" * 60, OWN)]
    assert ids(*kept) == [id for id, _ in kept]
    replaced = ids(("functions.bash:0", OTHER), ("x" * 65, OWN), ("x" * 50, OTHER), ("é", OWN))
    assert len(set(replaced)) == 4
    assert all(re.fullmatch(r"[A-Za-z0-9]{9}", id) for id in replaced)


# --- laws


WORDS = st.sampled_from(["", " ", "Yes.", "é\n"])
IDS = st.sampled_from(["", "a", "toolu_1", "functions.bash:0", "x" * 70])
BLOCKS = st.one_of(
    st.builds(Text, WORDS),
    st.builds(Reasoning, WORDS),
    st.builds(Image, st.none()),
    st.builds(ToolCall, IDS, st.just("bash"), st.sampled_from(["{}", '{"a": [1.0]}'])),
)
THOUGHTS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from([SHOWN, OMITTED, REDACTED])), max_size=4)
ANSWERS = st.builds(
    lambda content, source, thoughts: answer(*content, source=source, thoughts=sorted(thoughts, key=lambda one: one[0])),
    st.lists(BLOCKS, max_size=5), st.sampled_from([OWN, OTHER]), THOUGHTS,
)  # fmt: skip
PARTS = st.lists(st.builds(Text, WORDS) | st.builds(Image, st.none()), max_size=2)
MESSAGES = st.one_of(
    st.builds(lambda content: user(*content), PARTS),
    st.builds(lambda id, content, failed: result(id, *content, is_error=failed), IDS, PARTS, st.booleans()),
    ANSWERS,
)


@given(st.lists(MESSAGES, max_size=12), st.sampled_from([MODEL, "claude-fake"]), st.booleans())
def test_whatever_happened_it_is_taken(surface: list[Message], model: str, own_server: bool) -> None:
    messages = list(valid_messages([user(), *surface, user()]))
    assert messages_checker.faults(body(messages, model, own_server)) == []


@given(st.lists(ANSWERS, min_size=1, max_size=6))
def test_whatever_was_said_a_longer_conversation_begins_with_the_bytes_of_a_shorter_one(said: list[Message]) -> None:
    turns = [
        list(valid_messages([one for message in said[:n] for one in (user(), message)] + [user()]))
        for n in range(len(said) + 1)
    ]
    asked = [body(messages) for messages in turns]
    for shorter, longer in combinations(asked, 2):
        assert longer.startswith(shorter.removesuffix(b"]}]}"))
