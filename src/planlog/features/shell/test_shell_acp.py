from planlog.faces.acp.updates import Card, text_item
from planlog.faces.renders import Call
from planlog.features.shell.acp import bash_card

COMMAND = '{"command":"for x in *; do\\n  echo $x\\ndone"}'
WHOLE = text_item("```sh\nfor x in *; do\n  echo $x\ndone\n```")


def test_a_command_is_shown_whole_and_then_with_what_it_printed() -> None:
    assert bash_card(Call("bash", COMMAND)) == Card((WHOLE,))
    assert bash_card(Call("bash", COMMAND, "one\ntwo\n")) == Card((WHOLE, text_item("```\none\ntwo\n```")))
    assert bash_card(Call("bash", COMMAND, "")) == Card((WHOLE, text_item("```\n[it printed nothing]\n```")))


def test_a_failed_command_shows_how_it_ended() -> None:
    card = bash_card(Call("bash", COMMAND, "Error: exit code 3\nno such file", True))
    assert card.content[1:] == (text_item("```\nError: exit code 3\nno such file\n```"),)


def test_a_fence_in_a_command_does_not_end_its_own() -> None:
    assert bash_card(Call("bash", '{"command":"echo \'```\'"}')) == Card((text_item("````sh\necho '```'\n````"),))


def test_arguments_that_are_none_show_the_result_alone() -> None:
    assert bash_card(Call("bash", "[]")) == Card()
    assert bash_card(Call("bash", "[]", "Error: no", True)) == Card((text_item("```\nError: no\n```"),))
