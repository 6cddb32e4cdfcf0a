import pytest

from planlog.agent.event import (
    Aborted,
    AbortReason,
    Blocked,
    Completed,
    EndReason,
    Failed,
    Failure,
    Interrupted,
    MaxTokens,
)
from planlog.faces.stdio.endings import ending


@pytest.mark.parametrize(
    ("reason", "text", "exit_code"),
    [
        (Completed(), "", 0),
        (Aborted(AbortReason("user")), "the turn was stopped by its user", 130),
        (Aborted(AbortReason("disposed")), "the turn was stopped because its program ended", 130),
        (Blocked(), "the prompt was refused by a hook", 1),
        (MaxTokens(), "the answer was cut off by the model's length limit", 1),
        (Interrupted(), "the turn was cut off when its process died; --resume goes on from there", 1),
        (Failed(Failure("no more replies in the script", "SCRIPT_END")), "no more replies in the script", 1),
        (Failed(Failure("<p>" * 200_000, "HTTP", 502)), "<p>" * 166 + "<…", 1),
    ],
)
def test_every_end_of_a_turn_has_its_words_and_its_exit_code(reason: EndReason, text: str, exit_code: int) -> None:
    assert ending(reason) == (text, exit_code)
