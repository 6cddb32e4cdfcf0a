"""The request follows from the log alone, and is valid whatever the log went through."""

import itertools
from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from tests.request_checker import faults_of

from planlog.agent.conversation import valid_messages
from planlog.agent.surface import Node, Surface
from planlog.log.event import Replace
from planlog.model.message import (
    Block,
    Message,
    ModelSource,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ToolSource,
    UserSource,
)

HELLO = Message("u", "user", UserSource(), [Text("hello")])


def said(*content: Block) -> Message:
    return Message("a", "assistant", ModelSource("p", "m"), list(content))


def result(call: str, text: str = "ok") -> Message:
    return Message("r", "user", ToolSource(call), [ToolResult(call, [Text(text)])])


def valid(*messages: Message) -> list[Message]:
    return list(valid_messages(messages))


def test_what_is_valid_stays_as_it_is() -> None:
    messages = [HELLO, said(Text("x"), ToolCall("c", "say", "{}")), result("c"), said(Text("done"))]
    assert valid(*messages) == messages


def test_results_follow_their_calls_in_the_order_of_the_calls() -> None:
    answer = said(ToolCall("c", "say", "{}"), ToolCall("d", "say", "{}"))
    assert valid(HELLO, answer, result("d"), HELLO, result("c")) == [HELLO, answer, result("c"), result("d"), HELLO]


def test_an_answer_that_says_nothing_is_left_out_and_so_is_a_result_without_a_call() -> None:
    assert valid(HELLO, said(Reasoning("hm"), Text(" ")), result("c"), HELLO) == [HELLO, HELLO]


def test_an_id_that_comes_twice_is_told_apart_with_its_result() -> None:
    twice = said(ToolCall("c", "say", "{}"), ToolCall("c", "say", "{}"))
    sent = valid(HELLO, twice, result("c", "1"), result("c", "2"), twice, result("c", "3"), result("c", "4"))
    pairs = [
        (block.tool_call_id, block.content[0])
        for message in sent
        for block in message.content
        if isinstance(block, ToolResult)
    ]
    assert pairs == [("c", Text("1")), ("c-2", Text("2")), ("c-3", Text("3")), ("c-4", Text("4"))]


BLOCKS = st.one_of(
    st.builds(Text, st.sampled_from(["", " ", "hi"])),
    st.builds(Reasoning, st.just("hm")),
    st.builds(ToolCall, st.sampled_from(["", "a", "b", "a-2"]), st.just("say"), st.just("{}")),
)
MESSAGES = st.lists(
    st.one_of(
        st.just(HELLO),
        st.builds(result, st.sampled_from(["", "a", "b", "a-2"])),
        st.lists(BLOCKS, max_size=4).map(lambda blocks: said(*blocks)),
    )
)


@given(MESSAGES)
def test_any_surface_makes_a_valid_request(messages: list[Message]) -> None:
    sent = msgspec.to_builtins(valid(HELLO, *messages, HELLO))
    assert faults_of({"messages": sent}) == []


@given(MESSAGES)
def test_a_longer_surface_sends_all_the_bytes_of_a_shorter_one_where_its_calls_are_answered(
    messages: list[Message],
) -> None:
    whole = [HELLO, *messages]
    ends = [index for index, message in enumerate(whole) if message.role == "assistant"]
    sent = [msgspec.json.encode(valid(*whole[:end])) for end in ends]
    for shorter, longer in itertools.pairwise(sent):
        assert longer.startswith(shorter.removesuffix(b"]"))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99))))
def test_a_surface_never_changes_the_ones_that_came_before(steps: list[tuple[int, int]]) -> None:
    states: list[tuple[Surface, Sequence[int]]] = [(Surface(), ())]
    for seq, (which, cut) in enumerate(steps):
        surface, seqs = states[which % len(states)]
        node = Node(seq, HELLO)
        if seqs and cut % 3 == 0:
            first = cut % len(seqs)
            place = Replace(seqs[first], seqs[-1])
            states.append((surface.replaced(place, node), [*seqs[:first], seq]))
        else:
            states.append((surface.appended(node), [*seqs, seq]))
    for surface, seqs in states:
        assert [node.seq for node in surface] == list(seqs)
        assert len(surface) == len(seqs)


def test_a_place_that_is_gone_is_the_end() -> None:
    surface = Surface().appended(Node(1, HELLO))
    assert [node.seq for node in surface.replaced(Replace(7, 9), Node(10, HELLO))] == [1, 10]
