from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.acp.telling import coalesced
from planlog.faces.acp.updates import AgentChunk, PlanUpdate, TextBlock, ThoughtChunk, Update
from planlog.faces.acp.wording import PIECE


def chunks() -> st.SearchStrategy[Update]:
    kinds = st.sampled_from([AgentChunk, ThoughtChunk])
    texts = st.sampled_from(["a", "b\n", "é" * PIECE, "c" * (PIECE // 2)])
    return st.builds(lambda kind, text, id: kind(TextBlock(text), id), kinds, texts, st.sampled_from(["1", "2"]))


def said(updates: list[Update]) -> list[tuple[object, str]]:
    """What was told, however it was cut: texts of one message in a row are one, everything else is itself."""
    pairs = [
        ((type(one), one.message_id), one.content.text) if isinstance(one, AgentChunk | ThoughtChunk) else (one, "")
        for one in updates
    ]
    return [(key, "".join(text for _, text in same)) for key, same in groupby(pairs, key=lambda pair: pair[0])]


@given(st.lists(chunks() | st.just(PlanUpdate(())), max_size=8))
def test_chunks_are_joined_in_their_order_and_never_past_another_update(updates: list[Update]) -> None:
    joined = list(coalesced(updates))
    assert said(joined) == said(updates)
    assert all(len(one.content.text) <= PIECE for one in joined if isinstance(one, AgentChunk | ThoughtChunk))


def test_what_fits_is_one() -> None:
    pieces = [AgentChunk(TextBlock(text), "1.1") for text in ("a", "b", "c")]
    assert list(coalesced(pieces)) == [AgentChunk(TextBlock("abc"), "1.1")]
