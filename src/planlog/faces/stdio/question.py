"""Puts a question about a call into words: what it would do, and what can be answered."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from planlog.agent.event import ApprovalAsked
from planlog.faces.renders import Line, Span
from planlog.faces.stdio.cleaning import clean_line
from planlog.faces.stdio.diffs import diff_lines, is_diff
from planlog.faces.stdio.painting import cells
from planlog.tools.schema import Violations, check_arguments
from planlog.tools.tool import Tool

Answer = Literal["yes", "no", "always"]

YES = ("y", "yes")
NO = ("n", "no")
ALWAYS = ("a", "always")
WORDS = (*YES, *NO, *ALWAYS)
"""All that answers a question."""

_VERBS = {"edit": "change", "delete": "delete", "move": "move", "read": "read", "fetch": "fetch"}
"""What a tool of that kind does, where a preview shows it."""
_EXACTLY = "= "
"""Begins a pattern that means one thing and no more; where that stands in the question it is not said twice."""
_SHORT_RULE = 40
"""Cells of a rule that may stand in the prompt; a longer one gets lines of its own above it."""
# Soft hyphen, joiners and spaces of no width, fillers, tags, selectors and spaces that look like the usual one.
_UNSEEN = re.compile(
    "[\u00a0\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200d\u202f\u205f-\u2064\u206a-\u206f\u3000"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_ROWS = 2
"""What a prompt may take; where it takes more it is put into fewer words."""


class Prompt(NamedTuple):
    """What stands where the answer is typed, and the lines that have to stand above it."""

    text: str
    above: list[Line]


def question(asked: ApprovalAsked, tool: Tool[Any, Any], arguments: str) -> list[Line] | None:
    """What is asked: the preview that says all of it, else every parameter as the tool will get it.

    None where that is not known, because the tool would refuse the arguments: what is hidden cannot be judged.
    """
    params = check_arguments(tool.params, arguments)
    if isinstance(params, Violations):
        return None
    shown = tool.present_call(params) if tool.present_call else None
    if asked.preview:
        path = getattr(params, "path", "")
        what = f" {clean_line(path)}" if isinstance(path, str) and path else ""
        verb = _VERBS.get(shown.kind if shown else "", "run")
        lines = [_heading(f"{asked.tool_name} wants to {verb}{what}:"), *_preview_lines(asked.preview)]
    else:
        whole = shown.text if shown else None
        rows = _parameter_rows(msgspec.to_builtins(params), whole)
        lines = [_heading(f"{asked.tool_name} wants to run:"), *((Span(f"  {row}"),) for row in rows)]
    if asked.reason:
        lines.append((Span(f"  ({asked.reason})", "dim"),))
    return [tuple(Span(_seen(span.text), span.style) for span in line) for line in lines]


def _seen(text: str) -> str:
    """`text` with a sign for each character that takes part in what is done and cannot be seen."""
    return text if text.isascii() else _UNSEEN.sub(lambda match: f"‹U+{ord(match[0]):04X}›", text)


def _heading(text: str) -> Line:
    return (Span(text, "busy"),)


def _preview_lines(preview: str) -> Sequence[Line]:
    if is_diff(preview):
        return diff_lines(preview)
    return [(Span(f"  {line}"),) for line in preview.removesuffix("\n").split("\n")]


def _parameter_rows(values: dict[str, Any], whole: str | None) -> Iterator[str]:
    """Each parameter behind its name; the one that says as much as the call's whole text needs none."""
    for name, value in values.items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        if text == whole:
            yield from text.split("\n")
            whole = None
            continue
        first, *rest = text.split("\n")
        yield f"{name}: {first}"
        yield from (f"    {line}" for line in rest)


def final_prompt(rule: str | None, question: list[Line], columns: int) -> Prompt:
    """Asks for the answer; `rule` is what may always be allowed, see `ApprovalAsked`."""
    if not rule:
        return Prompt("Allow it? [y/N] ", [])
    meant = _meant(rule, question)
    text = f"Allow it? [y]es, [n]o, [a]lways {meant} in this session: "
    if cells(meant) <= _SHORT_RULE and _fits(text, columns):
        return Prompt(text, [])
    return Prompt("Allow it? [y/n/a] ", [(Span(f"  a: always {meant} in this session", "dim"),)])


def _meant(rule: str, question: list[Line]) -> str:
    name, _, pattern = rule.partition(" ")
    shown = ("".join(span.text for span in line).strip() for line in question)
    if pattern.startswith(_EXACTLY) and pattern.removeprefix(_EXACTLY) in shown:
        return "just this"
    return f'"{clean_line(pattern or name)}"'


def next_prompt(left: int, columns: int) -> str:
    """Says that the question goes on, for `left` more lines."""
    text = f"{left} more line{'s' if left > 1 else ''}; return shows them, n denies the call: "
    return text if _fits(text, columns) else f"{left} more [return/n] "


def _fits(text: str, columns: int) -> bool:
    return cells(text) + len("always") <= _ROWS * columns


def answer_of(typed: str, rule: str | None) -> Answer:
    """What was answered; all that is not said clearly is a no."""
    word = said(typed)
    if word in ALWAYS and rule:
        return "always"
    return "yes" if word in YES else "no"


def said(typed: str) -> str:
    """The word that was typed."""
    return typed.strip().lower()


def refusal(asked: ApprovalAsked) -> str:
    """Why a call is denied where nobody can be asked, and what would let it run; one line that a shell can read."""
    import shlex  # only where nobody can be asked

    help = "--approve auto lets every call run"
    if asked.rule:
        help += f", --allow {shlex.quote(clean_line(asked.rule))} such as this"
    return f"{asked.tool_name} needs approval and nobody can be asked here, so it is denied; {help}"
