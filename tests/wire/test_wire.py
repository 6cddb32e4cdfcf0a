"""Byte files in the wire forms that vendors document: served byte by byte, and cut at every offset."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from planlog.agent.event import Completed, EndReason, Failed, MaxTokens
from tests.provider import Provider, Reply
from tests.wire.house import WireHouse, events_of, wire_house
from tests.wire.says import Dialect, reply

HERE = Path(__file__).parent
FILES = sorted(path.relative_to(HERE) for path in HERE.glob("*/*.sse"))
NEVER_WHOLE = {"openrouter-error", "overloaded"}
"""Replies in which the provider says that it failed."""
REFUSED = {"refusal"}


class Story:
    """What the log says that came of one prompt, and which calls were run."""

    def __init__(self, end: EndReason, events: Sequence[dict[str, Any]], done: Sequence[str]) -> None:
        self.end = end
        self.retries = [event["data"]["failure"]["code"] for event in events if event["type"] == "llm/retry"]
        self.done = list(done)
        answers = [event["data"]["message"] for event in events if event["type"] == "assistant/message"]
        self.answers = [(answer["content"], answer["source"].get("replayState")) for answer in answers]
        chunks = [event["data"]["chunk"] for event in events if event["type"] == "assistant/chunk"]
        self.streamed = "".join(chunk.get("text", "") + chunk.get("argumentsDelta", "") for chunk in chunks)


async def told(house: WireHouse, first: Reply) -> Story:
    """One turn of a new session, whose first request is answered by `first` and every other one by a few words."""
    house.done.clear()
    house.provider.queue(first, Reply(reply(house.dialect, "So be it.")))
    session = await house.session()
    end = await house.turn(session)
    return Story(end, await events_of(session), house.done)


def check_whole(name: str, story: Story) -> None:
    """A reply that came to its end was taken as it was said."""
    if name in NEVER_WHOLE:
        assert len(story.retries) == 1
    elif name in REFUSED:
        assert isinstance(story.end, Failed)
        assert story.end.error.code == "REFUSAL"
    else:
        assert story.retries == []
        assert isinstance(story.end, Completed | MaxTokens)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.with_suffix("")))
async def test_a_reply_means_the_same_byte_by_byte_and_nothing_unless_it_is_whole(file: Path) -> None:
    dialect, name, body = cast(Dialect, file.parts[0]), file.stem, (HERE / file).read_bytes()
    provider = Provider()
    async with provider.serve(), wire_house(provider, dialect) as house:
        whole = await told(house, Reply(body))
        check_whole(name, whole)
        slowly = await told(house, Reply(body, piece=1))
        assert (slowly.end, slowly.answers, slowly.done) == (whole.end, whole.answers, whole.done)
        is_whole = False
        for offset in range(len(body) + 1):
            story = await told(house, replace(Reply(body, cut_after=offset), chunked=offset % 2 == 0))
            is_whole = not story.retries and name not in NEVER_WHOLE
            if is_whole:
                assert (story.end, story.answers, story.done) == (whole.end, whole.answers, whole.done), offset
                continue
            # What was cut is made again, and nothing that it asked for was done.
            assert len(story.retries) == 1, (offset, story.retries)
            assert isinstance(story.end, Completed), offset
            assert [content for content, _ in story.answers] == [[{"type": "text", "text": "So be it."}]], offset
            assert story.done == [], offset
        assert is_whole or name in NEVER_WHOLE


def test_there_are_files_of_both_dialects_and_each_is_small() -> None:
    assert {file.parts[0] for file in FILES} == {"chat", "messages"}
    assert all((HERE / file).stat().st_size < 2500 for file in FILES)
