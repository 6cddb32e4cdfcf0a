from msgspec import Struct

from planlog.agent.event import ApprovalAsked
from planlog.app.questions import question
from planlog.faces.renders import Line
from planlog.tools.tool import Execution, Tool

ASKED = ApprovalAsked("q1", "move")


class Move(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    source: str
    targets: list[str] = []
    force: bool | None = None


async def execute(params: Move, execution: Execution) -> str:
    return ""


MOVE = Tool("move", "Moves a file.", Move, execute, str, needs_approval=True)


def text(lines: list[Line] | None) -> str:
    return "\n".join("".join(span.text for span in line) for line in lines or [])


def test_a_question_shows_the_parameters_as_the_tool_will_get_them() -> None:
    shown = 'move wants to run:\n  source: a\n      b\n  targets: ["c","d"]'
    plain = r'{"source": "a\nb", "targets": ["c", "d"]}'
    assert text(question(ASKED, MOVE, plain)) == shown
    assert text(question(ASKED, MOVE, r'{"source": "hidden", "source": "a\nb", "targets": "[\"c\", \"d\"]"}')) == shown
    as_string = r'"{\"source\": \"a\\nb\", \"targets\": [\"c\", \"d\"]}"'
    assert text(question(ASKED, MOVE, as_string)) == shown


def test_nothing_is_asked_where_it_is_not_known_what_would_run() -> None:
    assert question(ASKED, MOVE, "{}") is None
