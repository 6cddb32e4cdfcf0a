from planlog.faces.stdio.running import Running


def test_a_call_is_named_then_timed_and_says_its_last_line() -> None:
    running = Running()
    assert running.status(0) == ""
    running.begin("a", "$ pytest -q", "in short", 10.0)
    assert running.status(11.9) == "$ pytest -q  in short"
    assert running.status(12.0) == "$ pytest -q  2 s"
    running.say("a", "test_foo.py ...")
    assert running.status(75.4) == "$ pytest -q  1 min 05 s  test_foo.py ..."
    running.end("a")
    assert running.status(80) == ""


def test_a_narrow_window_shows_the_time_before_the_end_of_a_long_title() -> None:
    running = Running()
    running.begin("a", "$ for i in 1 2 3 4 5; do sleep 1; done", "", 0.0)
    assert running.status(5, 20) == "$ for i i…  5 s"


def test_of_several_calls_the_one_that_spoke_last_is_named() -> None:
    running = Running()
    for number, id in enumerate("abc"):
        running.begin(id, f"$ {id}", "", float(number))
    running.say("b", "hello")
    running.say("gone", "never")
    assert running.status(1.5) == "3 running  $ b  hello"
    assert running.status(9.9) == "3 running  9 s  $ b  hello"
    running.end("b")
    assert running.status(9.9) == "2 running  9 s  $ c"


def test_whoever_waits_for_calls_waits_only_while_none_runs() -> None:
    running = Running()
    assert not running.begun.is_set()
    running.begin("a", "$ a", "", 0.0)
    assert running.begun.is_set()
    running.clear()
    assert not running.begun.is_set()
