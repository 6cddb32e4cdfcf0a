import pytest

from planlog.app.chat_moves import (
    BUSY,
    COMMANDS,
    NAMES,
    ChooseModel,
    Clear,
    Complete,
    Drop,
    Entitle,
    Help,
    Key,
    Leave,
    Move,
    Prompt,
    Renew,
    Say,
    ShowPlan,
    Situation,
    Stop,
    decide,
)

IDLE = Situation()
RUNNING = Situation(busy=True)
STOPPING = Situation(busy=True, stopping=True)
WARNED = Situation(warned=True)


def typed(text: str, now: Situation = IDLE) -> Situation:
    return Situation(text, now.busy, now.stopping, now.warned)


@pytest.mark.parametrize(
    ("key", "now", "move"),
    [
        ("enter", IDLE, None),
        ("enter", typed("  \n"), None),
        ("enter", typed("do it"), Prompt("do it")),
        ("enter", typed("do it", RUNNING), Prompt("do it", steers=True)),
        ("enter", typed("do it", STOPPING), Prompt("do it")),
        ("tab", IDLE, None),
        ("tab", typed("do it"), None),
        ("tab", typed("do it", RUNNING), Prompt("do it")),
        ("tab", typed("/he"), Complete()),
        ("tab", typed("/he", RUNNING), Complete()),
        ("tab", typed("//he", RUNNING), Prompt("/he")),
        ("interrupt", RUNNING, Stop()),
        ("interrupt", typed("half", RUNNING), Stop()),
        ("interrupt", STOPPING, Leave(at_once=True)),
        ("interrupt", typed("half"), Clear()),
        ("interrupt", typed("half", WARNED), Clear()),
        ("interrupt", WARNED, Leave()),
        ("end", IDLE, Leave()),
        ("end", RUNNING, Leave()),
        ("end", typed("half"), None),
    ],
)
def test_what_a_key_means(key: Key, now: Situation, move: Move) -> None:
    assert decide(key, now) == move


@pytest.mark.parametrize(
    ("text", "idle", "running"),
    [
        ("/help", Help(), Help()),
        ("/plan", ShowPlan(), ShowPlan()),
        ("/model", ChooseModel(), ChooseModel()),
        ("/model  script:F ", ChooseModel("script:F"), ChooseModel("script:F")),
        ("/new", Renew(), Say(BUSY)),
        ("/title A\n name", Entitle("A name"), Say(BUSY)),
        ("/title ", Say("/title wants a text behind it"), Say("/title wants a text behind it")),
        ("/queue and\nthis", Prompt("and\nthis"), Prompt("and\nthis")),
        ("/queue", Say("/queue wants a text behind it"), Say("/queue wants a text behind it")),
        ("/drop", Drop(), Drop()),
        ("/quit", Leave(), Leave()),
        ("/etc/passwd says what?", Prompt("/etc/passwd says what?"), Prompt("/etc/passwd says what?", steers=True)),
        ("/usr/bin\nis what?", Prompt("/usr/bin\nis what?"), Prompt("/usr/bin\nis what?", steers=True)),
        ("//etc is what?", Prompt("/etc is what?"), Prompt("/etc is what?", steers=True)),
    ],
)
def test_what_a_word_with_a_slash_means(text: str, idle: Move, running: Move) -> None:
    assert decide("enter", typed(text)) == idle
    assert decide("enter", typed(text, RUNNING)) == running


@pytest.mark.parametrize("text", ["/", "/nope", "/Help", "/etc is what?"])
def test_a_word_that_nobody_knows_is_said_so_and_not_sent(text: str) -> None:
    move = decide("enter", typed(text))
    assert isinstance(move, Say)
    assert move.text.startswith(f"there is no {text.split()[0]}; /help")


def test_how_to_leave_is_said_before_ctrl_c_leaves() -> None:
    move = decide("interrupt", IDLE)
    assert isinstance(move, Say)
    assert move.warns


def test_every_word_that_help_tells_of_is_one() -> None:
    assert len(NAMES) == len(COMMANDS)
    for name in NAMES:
        move = decide("enter", typed(f"{name} x"))
        assert move is not None
        assert not isinstance(move, Say)
