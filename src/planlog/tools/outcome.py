"""Words what came of a call: the text that the model reads, and the error that programs tell apart."""

import re
from dataclasses import dataclass
from typing import Any

from planlog.log.text import clean_text
from planlog.tools.tool import OUTPUT_LIMIT, ToolFailure

_CLASS_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


NEVER_RAN = frozenset(
    {"INVALID_ARGS", "UNKNOWN_TOOL", "ABORTED_BEFORE_DISPATCH", "TOOL_NOT_STARTED", "ARGUMENTS_TRUNCATED", "DENIED"}
)
"""The codes of results of calls that did nothing at all."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call ends with.

    `text` is for the model; `error` is `{name, code}` where programs have to tell a failure apart; `meta` is JSON for
    faces; `value` is the typed result of a call that succeeded.
    """

    text: str
    is_error: bool = False
    error: dict[str, str] | None = None
    meta: dict[str, Any] | None = None
    value: Any = None


def failed(text: str, name: str | None = None, code: str | None = None, limit: int = OUTPUT_LIMIT) -> Outcome:
    """An error result that reads `Error: <text>`."""
    error = {"name": name, "code": code} if name is not None and code is not None else None
    return Outcome(capped(clean_text(f"Error: {text}"), limit), is_error=True, error=error)


def failed_by(exception: BaseException, limit: int = OUTPUT_LIMIT) -> Outcome:
    """The error result of an exception: its message, never a traceback; a group of one counts as the one."""
    while isinstance(exception, BaseExceptionGroup) and len(exception.exceptions) == 1:
        exception = exception.exceptions[0]
    if isinstance(exception, ToolFailure):
        return failed(_message(exception), exception.name, exception.code, limit)
    return failed(_message(exception), limit=limit)


def invalid_arguments(violations: str, limit: int = OUTPUT_LIMIT) -> Outcome:
    """The tool did not run: its arguments do not fit its schema."""
    return failed(f"invalid arguments: {violations}", "ToolArgsError", "INVALID_ARGS", limit)


def unknown_tool(name: str, meant: str | None, names: list[str]) -> Outcome:
    """There is no such tool; `meant` is the one that the model probably meant, `names` are all that there are."""
    shown = name if len(name) <= 80 else f"{name[:80]}…"
    if meant is not None:
        hint = f"did you mean {meant}?"
    else:
        hint = f"available: {', '.join(names) or 'none'}"
    return failed(f'unknown tool "{shown}", {hint}', "UnknownToolError", "UNKNOWN_TOOL")


def other_tool(name: str) -> Outcome:
    """The tool came, or was replaced, while the call waited."""
    return failed(f"{name} was loaded anew while this call waited; call it again", "UnknownToolError", "UNKNOWN_TOOL")


def timed_out(seconds: float) -> Outcome:
    """The tool was stopped because its time was over."""
    return failed_by(time_out(seconds))


def time_out(seconds: float, more: str = "") -> ToolFailure:
    """The same for a tool that keeps time itself, and can say `more` after the sentence."""
    text = f"timed out after {seconds:g} s and was stopped; it may have taken effect in part, check before you retry"
    return ToolFailure(text + more, name="ToolTimeoutError", code="TOOL_TIMEOUT")


def aborted() -> Outcome:
    """The call was cancelled while it ran."""
    text = "aborted while it was running; it may have taken effect in part, check before you retry"
    return failed(text, "ToolAbortedError", "ABORTED")


def aborted_before_dispatch() -> Outcome:
    """The turn was cancelled before the call's turn came."""
    text = "aborted before it was started; nothing was done, you may call it again if it is still wanted"
    return failed(text, "ToolAbortedError", "ABORTED_BEFORE_DISPATCH")


def not_started() -> Outcome:
    """Repair: the program ended before the call was logged."""
    text = "the program ended before this call was started; nothing was done, you may call it again"
    return failed(text, "ToolNotStartedError", "TOOL_NOT_STARTED")


def outcome_unknown() -> Outcome:
    """Repair: the program ended after the call was logged and before its result was."""
    text = "the program ended during this call; whether it took effect is unknown, check before you retry"
    return failed(text, "ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN")


def truncated_arguments() -> Outcome:
    """The reply was cut off inside the arguments; they are never executed, not even where they look complete."""
    text = "arguments truncated: your reply was cut off, nothing was done; call again, with less in one call"
    return failed(text, "ToolArgsError", "ARGUMENTS_TRUNCATED")


def denied(reason: str) -> Outcome:
    """A person or a policy refused the call."""
    because = f": {reason.strip()}" if reason.strip() else ""
    return failed(
        f"denied{because}; nothing was done, do not repeat this call unless asked to", "ToolDeniedError", "DENIED"
    )


def capped(text: str, limit: int) -> str:
    """`text` with at most `limit` of its characters, from head and tail, and between them how many are missing."""
    dropped = len(text) - limit
    if dropped <= 0:
        return text
    tail = limit // 2
    return f"{text[: limit - tail]}\n[… {dropped} characters dropped …]\n{text[len(text) - tail :]}"


def _message(exception: BaseException) -> str:
    if isinstance(exception, BaseExceptionGroup):
        return "; ".join(_message(one) for one in exception.exceptions)
    try:
        text = str(exception).strip()
    except Exception:  # an exception that cannot even be printed still has a class
        text = ""
    return text or _CLASS_WORD.sub(" ", type(exception).__name__).lower()
