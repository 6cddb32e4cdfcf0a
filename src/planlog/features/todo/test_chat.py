"""The plan as a person sees it who chats."""

from tests.acceptance.conftest import House as Machine
from tests.acceptance.terminal import Terminal

from planlog.features.todo.test_person import TODOS, write_todos

READY = "Enter sends, /help"


def test_the_plan_stands_in_the_bar_and_is_shown_when_it_is_asked_for(machine: Machine) -> None:
    model = machine.script(write_todos(TODOS), {"text": "Later."}, {"text": "No plan."})
    terminal = Terminal(machine, "chat", "-m", model)
    terminal.sees(READY)
    terminal.type("plan it\r")
    terminal.expect("[todos]\r\n  [x] read the code\r\n  [~] write the tests\r\n  [ ] 提交\r\n", "Later.")
    terminal.sees("· plan 1/3 · Enter sends")
    terminal.type("/plan\r")
    terminal.expect("[todos]\r\n  [x] read the code\r\n  [~] write the tests\r\n  [ ] 提交\r\n")
    terminal.type("and now?\r")
    terminal.expect("No plan.")
    terminal.sees("~/work · Enter sends")
    terminal.type("/plan\r")
    terminal.expect("no plan stands; left open in turn 1: 1 of 3 done\r\n")
    terminal.type("\x04")
    assert terminal.finish() == 0


def test_the_plan_of_a_session_that_is_gone_on_in_stands_from_the_beginning(machine: Machine) -> None:
    machine.planlog("run", "-m", machine.script(write_todos(TODOS), {"text": "Later."}), "plan")
    terminal = Terminal(machine, "chat", "--continue", "-m", machine.script({"text": "x"}))
    terminal.sees("· plan 1/3 · Enter sends")
    terminal.type("\x04")
    assert terminal.finish() == 0
