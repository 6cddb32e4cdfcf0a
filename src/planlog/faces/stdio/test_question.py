import shlex

import pytest
from msgspec import Struct

from planlog.agent.event import ApprovalAsked
from planlog.faces.renders import Line
from planlog.faces.stdio.question import answer_of, final_prompt, next_prompt, question, refusal
from planlog.tools.tool import Execution, Presentation, Tool

ASKED = ApprovalAsked("q1", "move")
WIDE = 100


class Move(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    source: str
    targets: list[str] = []
    force: bool | None = None


class Change(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    path: str
    text: str = ""


async def execute(params: Struct, execution: Execution) -> str:
    return ""


def whole(params: Move) -> Presentation:
    return Presentation("generic", "", "execute", text=params.source)


MOVE = Tool("move", "Moves a file.", Move, execute, str, needs_approval=True)
RUN = Tool("run", "Runs it.", Move, execute, str, needs_approval=True, present_call=whole)
CHANGE = Tool(
    "edit", "", Change, execute, str, needs_approval=True, present_call=lambda _: Presentation("generic", "", "edit")
)
DIFF = """\
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,2 @@
-one
+two
--- not a head
 three
"""


def text(lines: list[Line] | None) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines or [])


def test_a_question_shows_the_parameters_as_the_tool_will_get_them() -> None:
    shown = 'move wants to run:\n  source: a\n      b\n  targets: ["c","d"]'
    plain = r'{"source": "a\nb", "targets": ["c", "d"]}'
    assert text(question(ASKED, MOVE, plain)) == shown
    assert text(question(ASKED, MOVE, r'{"source": "hidden", "source": "a\nb", "targets": "[\"c\", \"d\"]"}')) == shown
    as_string = r'"{\"source\": \"a\\nb\", \"targets\": [\"c\", \"d\"]}"'
    assert text(question(ASKED, MOVE, as_string)) == shown


def test_the_parameter_that_is_the_call_needs_no_name_and_the_others_are_not_hidden() -> None:
    asked = ApprovalAsked("q1", "run")
    assert text(question(asked, RUN, r'{"source": "make\ntest", "force": true}')) == (
        "run wants to run:\n  make\n  test\n  force: true"
    )


def test_nothing_is_asked_where_it_is_not_known_what_would_run() -> None:
    assert question(ASKED, MOVE, "{}") is None


def test_a_preview_stands_for_the_parameters() -> None:
    asked = ApprovalAsked("q1", "move", reason="it is risky", preview="a -> b\nc -> d\n")
    lines = question(asked, MOVE, '{"source": "a"}')
    assert text(lines) == "move wants to run:\n  a -> b\n  c -> d\n  (it is risky)"


def test_a_diff_is_shown_as_one_under_the_name_of_what_it_changes() -> None:
    lines = question(ApprovalAsked("q1", "edit", preview=DIFF), CHANGE, r'{"path": "src/a\u001b.py"}') or []
    assert text(lines).removesuffix("\n") == "edit wants to change src/a␛.py:\n" + DIFF.removesuffix("\n")
    assert [line[0].style for line in lines] == ["busy", "bold", "bold", "dim", "bad", "good", "bad", "plain"]


def test_whoever_may_always_allow_reads_what_that_means() -> None:
    assert final_prompt(None, [], WIDE) == ("Allow it? [y/N] ", [])
    assert final_prompt("bash git diff", [], WIDE).text == (
        'Allow it? [y]es, [n]o, [a]lways "git diff" in this session: '
    )
    assert final_prompt("edit", [], WIDE).text == 'Allow it? [y]es, [n]o, [a]lways "edit" in this session: '
    lines = question(ApprovalAsked("q1", "run"), RUN, '{"source": "rm x"}') or []
    assert final_prompt("run = rm x", lines, WIDE).text == (
        "Allow it? [y]es, [n]o, [a]lways just this in this session: "
    )
    assert final_prompt("run = rm y", lines, WIDE).text.count('"= rm y"') == 1


@pytest.mark.parametrize(("rule", "columns"), [("bash git diff", 20), (f"bash = {'x' * 99}", WIDE)])
def test_where_the_prompt_has_no_room_for_it_it_stands_above(rule: str, columns: int) -> None:
    prompt = final_prompt(rule, [], columns)
    assert prompt.text == "Allow it? [y/n/a] "
    assert text(prompt.above) == f'  a: always "{rule[5:]}" in this session'


def test_a_question_that_goes_on_says_for_how_long() -> None:
    assert next_prompt(72, WIDE) == "72 more lines; return shows them, n denies the call: "
    assert next_prompt(1, WIDE).startswith("1 more line;")
    assert next_prompt(72, 20) == "72 more [return/n] "


@pytest.mark.parametrize(
    ("typed", "rule", "answer"),
    [
        ("y\n", None, "yes"),
        (" YES \n", "bash", "yes"),
        ("a\n", "bash", "always"),
        ("Always\n", "bash", "always"),
        ("a\n", None, "no"),
        ("", "bash", "no"),
        ("yep\n", "bash", "no"),
        ("n\n", "bash", "no"),
    ],
)
def test_what_is_not_said_clearly_is_a_no(typed: str, rule: str | None, answer: str) -> None:
    assert answer_of(typed, rule) == answer


def test_where_nobody_can_be_asked_it_says_what_would_help() -> None:
    assert refusal(ApprovalAsked("q1", "bash")) == (
        "bash needs approval and nobody can be asked here, so it is denied; --approve auto lets every call run"
    )
    named = refusal(ApprovalAsked("q1", "bash", rule="bash = echo 'it is' \"x\""))
    assert named.startswith("bash needs approval and nobody can be asked here, so it is denied; --approve auto lets ")
    assert "bash = echo 'it is' \"x\"" in shlex.split(named)
