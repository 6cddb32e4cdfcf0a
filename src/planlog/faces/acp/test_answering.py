from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.acp.answering import Answering
from planlog.faces.acp.updates import AgentChunk, ThoughtChunk, Update
from planlog.model.message import Reasoning, Text
from planlog.model.model import ReasoningDelta, TextDelta


def told(updates: list[Update], kind: type[AgentChunk] | type[ThoughtChunk]) -> str:
    return "".join(one.content.text for one in updates if isinstance(one, kind))


@given(st.lists(st.text("ab", min_size=1, max_size=3), max_size=6), st.data())
def test_whatever_comes_live_is_said_once(texts: list[str], data: st.DataObject) -> None:
    """Live deltas come before the log, but not all of them; the message at the end may be all that there is."""
    answering = Answering("1.1")
    updates: list[Update] = []
    offset = 0
    for number, text in enumerate(texts):
        chunk = ReasoningDelta(0, text) if number == 0 else TextDelta(1, text)
        if data.draw(st.booleans()):
            updates += answering.live(offset, chunk)
        offset += len(text)
    if data.draw(st.booleans()):
        for number, text in enumerate(texts):
            updates += answering.logged(ReasoningDelta(0, text) if number == 0 else TextDelta(1, text))
    updates += answering.whole([Reasoning("".join(texts[:1])), Text("".join(texts[1:]))])
    assert told(updates, ThoughtChunk) == "".join(texts[:1])
    assert told(updates, AgentChunk) == "".join(texts[1:])


def test_an_answer_that_begins_anew_is_another_message() -> None:
    answering = Answering("3.2")
    (first,) = answering.live(0, TextDelta(0, "half an"))
    (note,) = answering.start_again("it was cut off")
    (second,) = answering.whole([Text("an answer")])
    ids = [one.message_id for one in (first, note, second) if isinstance(one, AgentChunk | ThoughtChunk)]
    assert ids == ["3.2", "3.2.1-retry", "3.2.1"]
    assert told([second], AgentChunk) == "an answer"


def test_ids_are_the_same_from_the_log_alone() -> None:
    live, replayed = Answering("1.1"), Answering("1.1")
    assert live.live(0, TextDelta(0, "all")) == replayed.whole([Text("all")])
