import pytest
from inline_snapshot import snapshot

from planlog.faces.stdio.painting import cells
from planlog.faces.stdio.toolbar import Toolbar, toolbar_text, waiting_text

BAR = Toolbar("anthropic:opus", "~/code/planlog", "2/5", "running", "running: Enter steers, Tab queues, Ctrl-C stops")


def test_what_matters_least_goes_first_where_it_is_narrow() -> None:
    assert [toolbar_text(BAR, width) for width in (200, 90, 80, 50, 40, 30, 20, 5)] == snapshot(
        [
            "anthropic:opus · ~/code/planlog · plan 2/5 · running: Enter steers, Tab queues, Ctrl-C stops",
            "anthropic:opus · planlog · plan 2/5 · running: Enter steers, Tab queues, Ctrl-C stops",
            "anthropic:opus · plan 2/5 · running: Enter steers, Tab queues, Ctrl-C stops",
            "anthropic:opus · planlog · plan 2/5 · running",
            "anthropic:opus · plan 2/5 · running",
            "plan 2/5 · running",
            "plan 2/5 · running",
            "runn…",
        ]
    )


def test_nothing_is_said_of_a_plan_where_none_stands() -> None:
    assert toolbar_text(Toolbar("script:F", "/tmp", "", "/help", "Enter sends, /help"), 80) == (
        "script:F · /tmp · Enter sends, /help"
    )


@pytest.mark.parametrize("width", range(1, 40))
def test_a_bar_is_never_wider_than_its_terminal(width: int) -> None:
    bar = Toolbar("模型" * 9, "/\x1b[2J/文件夹", "1/2", "running", "running: keys")
    assert cells(toolbar_text(bar, width)) <= width
    assert "\x1b" not in toolbar_text(bar, 80)


def test_what_waits_is_counted_and_begins_to_be_told() -> None:
    assert waiting_text([], 80) == ""
    assert waiting_text(["fix the\ntests"], 80) == "1 waits: fix the tests"
    assert waiting_text(["fix the tests", "and the \x1b[2Jdocs"], 80) == "2 wait: fix the tests · and the ␛[2Jdocs"
    assert waiting_text(["fix the tests", "and the docs"], 20) == "2 wait: fix the tes…"
