import pytest

from planlog.faces.stdio.summary import Tally, duration, summary_lines
from planlog.model.message import Usage


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [(0, "0.0 s"), (840, "0.8 s"), (9_940, "9.9 s"), (9_960, "10 s"), (59_400, "59 s"), (59_600, "1 min 00 s"),
     (64_000, "1 min 04 s"), (3_599_700, "1 h 00 min"), (7_500_000, "2 h 05 min")],
)  # fmt: skip
def test_time_is_said_as_people_say_it(milliseconds: int, said: str) -> None:
    assert duration(milliseconds) == said


def test_a_turn_is_added_up_from_what_its_features_and_its_model_count() -> None:
    tally = Tally(1_000)
    tally.use(Usage(3_000, 200, cache_read_tokens=9_000, cache_write_tokens=300))
    tally.use(Usage(40, 1_000))
    assert tally.parts(["2 files changed (+12 −3)", "3 commands"], 65_000) == [
        "2 files changed (+12 −3)",
        "3 commands",
        "1 min 04 s",
        "12.3k tokens in (9.0k from cache), 1.2k out",
    ]


def test_what_is_not_known_is_left_out_and_time_alone_says_nothing() -> None:
    assert Tally(0).parts([], 5_000) == []
    assert Tally(None).parts(["1 command"], 5_000) == ["1 command"]
    assert Tally(5_000).parts(["1 command"], 0) == ["1 command", "0.0 s"]
    tally = Tally(0)
    tally.use(Usage(1_999_000, 0))
    assert tally.parts([], 2_000) == ["2.0 s", "2.0M tokens in, 0 out"]


def test_a_narrow_window_gets_more_lines() -> None:
    parts = ["2 files changed (+12 −3)", "3 commands", "1 min 04 s"]
    texts = {width: [line[0].text for line in summary_lines(parts, width)] for width in (None, 40, 10)}
    assert texts == {
        None: ["2 files changed (+12 −3) · 3 commands · 1 min 04 s"],
        40: ["2 files changed (+12 −3) · 3 commands", "1 min 04 s"],
        10: parts,
    }
