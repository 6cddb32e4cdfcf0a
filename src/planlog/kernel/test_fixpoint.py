from collections.abc import Sequence
from typing import Any

import pytest

from planlog.kernel.fixpoint import Standing, Start, Stop, next_move


class Words: ...


class Tools: ...


class Home: ...


def words(state: Any, wanted: bool = True) -> Standing:
    return Standing("words", (Home,), Words, state, wanted)


def tools(state: Any, wanted: bool = True) -> Standing:
    return Standing("tools", (Words,), Tools, state, wanted)


def todo(state: Any, wanted: bool = True) -> Standing:
    return Standing("todo", (Words, Tools), None, state, wanted)


def other_words(state: Any) -> Standing:
    return Standing("other words", (), Words, state)


TABLE: list[tuple[str, Sequence[Standing], str]] = [
    ("nothing is mounted", [], "rest"),
    ("a need is given", [words("waiting")], "start words"),
    ("a need is not met", [tools("waiting")], "rest"),
    ("a need is only being started", [words("starting"), tools("waiting")], "rest"),
    ("a need is met by a running mount", [words("running"), tools("waiting")], "start tools"),
    ("one need of two is met", [words("running"), todo("waiting")], "rest"),
    ("all is well", [words("running"), tools("running"), todo("running")], "rest"),
    ("a failed mount is not tried again", [words("failed")], "rest"),
    ("what stands on a failed mount stops", [words("failed"), tools("running")], "stop tools"),
    ("the top goes first", [words("running", False), tools("running"), todo("running")], "stop todo"),
    ("then what it stood on", [words("running", False), tools("running"), todo("waiting")], "stop tools"),
    ("and the removed mount last", [words("running", False), tools("waiting"), todo("waiting")], "stop words"),
    ("but not while something above still stops", [words("running", False), tools("stopping")], "rest"),
    ("a start under way loses its need", [words("running", False), tools("starting")], "stop tools"),
    ("an unwanted start is cancelled", [words("starting", False)], "stop words"),
    ("an unwanted mount does not start", [words("waiting", False)], "rest"),
    ("nothing starts upon what is about to go", [words("running", False), tools("waiting")], "stop words"),
    ("a successor waits for the predecessor", [words("stopping", False), other_words("waiting")], "rest"),
    ("also for one of the same id", [words("stopping", False), Standing("words", (), None)], "rest"),
    ("and follows it", [other_words("waiting"), tools("waiting")], "start other words"),
    ("a circle never starts", [Standing("a", (Words,), Tools), Standing("b", (Tools,), Words)], "rest"),
    ("stopping comes before starting", [other_words("waiting"), tools("running")], "stop tools"),
]


@pytest.mark.parametrize("mounts, expected", [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_rule_stops_what_may_not_stay_and_else_starts_what_may(mounts: Sequence[Standing], expected: str) -> None:
    match next_move(mounts, {Home}):
        case Start(mount=mount):
            assert expected == f"start {mount.id}"
        case Stop(mount=mount):
            assert expected == f"stop {mount.id}"
        case _:
            assert expected == "rest"
