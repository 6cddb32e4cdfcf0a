from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import anyio
import msgspec
import pytest
from anyio.lowlevel import checkpoint

from planlog.tools import outcome as outcomes_of
from planlog.tools.call import present, run_call
from planlog.tools.outcome import Outcome, capped
from planlog.tools.tool import Execution, Presentation, Tool, ToolFailure, Tools

HERE = Execution("c1", None, Path())


class Words(msgspec.Struct, forbid_unknown_fields=True):
    text: str


class Nothing(msgspec.Struct, forbid_unknown_fields=True):
    pass


async def repeat(params: Words, execution: Execution) -> list[str]:
    return [params.text, params.text]


def shouted(params: Words) -> Presentation:
    return Presentation(card="generic", title="Say it twice", kind="other", raw_input=params.text.upper())


ECHO = Tool("echo_twice", "Says it twice.", Words, repeat, " ".join, present_call=shouted)


@contextmanager
def mounted(*all_tools: Tool[Any, Any]) -> Iterator[Tools]:
    tools = Tools()
    with mounted_in(tools, *all_tools):
        yield tools


@contextmanager
def mounted_in(tools: Tools, first: Tool[Any, Any], *others: Tool[Any, Any]) -> Iterator[None]:
    with tools.add(first):
        if others:
            with mounted_in(tools, *others):
                yield
        else:
            yield


def doing(execute: Callable[[Nothing, Execution], Awaitable[str]], **settings: Any) -> Tool[Nothing, str]:
    return Tool("do", "Does it.", Nothing, execute, str, **settings)


async def outcome_of(execute: Callable[[Nothing, Execution], Awaitable[str]], **settings: Any) -> Outcome:
    with mounted(doing(execute, **settings)) as tools:
        return await run_call(tools, "do", "", HERE)


async def outcome_of_raising(exception: BaseException) -> Outcome:
    async def execute(params: Nothing, execution: Execution) -> NoReturn:
        raise exception

    return await outcome_of(execute)


# --- success


async def test_a_call_gives_the_rendered_text_and_keeps_the_typed_result() -> None:
    with mounted(ECHO) as tools:
        outcome = await run_call(tools, "echo_twice", '{"text":"hi"}', HERE)
    assert outcome == Outcome("hi hi", value=["hi", "hi"])


async def test_text_for_the_model_is_free_of_nul_and_lone_surrogates() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        return "a\0b \ud83d c"

    assert (await outcome_of(execute)).text == "a␀b \ufffd c"
    assert (await outcome_of_raising(ValueError("a\0b \udc97"))).text == "Error: a␀b \ufffd"


async def test_long_output_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        return "头" * 10 + "x" * 980 + "尾" * 10

    outcome = await outcome_of(execute, output_limit=11)
    assert outcome.text == "头头头头头头\n[… 989 characters dropped …]\n尾尾尾尾尾"


def test_the_cap_loses_exactly_what_it_says() -> None:
    assert capped("abc", 3) == "abc"
    assert capped("abcd", 1) == "a\n[… 3 characters dropped …]\n"
    assert capped("abcd", 3) == "ab\n[… 1 characters dropped …]\nd"


async def test_errors_are_capped_too() -> None:
    with mounted(Tool("echo_twice", "Says it twice.", Words, repeat, " ".join, output_limit=200)) as tools:
        raw = msgspec.json.encode({f"key{number}": 1 for number in range(1000)}).decode()
        outcome = await run_call(tools, "echo_twice", raw, HERE)
    assert outcome.text.startswith('Error: invalid arguments: missing required property "text"; "key0"')
    assert "characters dropped" in outcome.text
    assert len(outcome.text) < 250


# --- failures


async def test_bad_arguments_never_reach_the_tool() -> None:
    with mounted(ECHO) as tools:
        outcome = await run_call(tools, "echo_twice", '{"txt":3}', HERE)
    assert outcome == Outcome(
        'Error: invalid arguments: missing required property "text"; '
        '"txt" is not a declared property (additionalProperties: false)',
        is_error=True,
        error={"name": "ToolArgsError", "code": "INVALID_ARGS"},
    )


@pytest.mark.parametrize("name", ["EchoTwice", "echotwice", " echo_twice ", "functions.echo_twice", "twice_echo"])
async def test_a_name_that_is_nearly_right_is_not_run_and_the_right_one_is_told(name: str) -> None:
    with mounted(ECHO) as tools:
        outcome = await run_call(tools, name, '{"text":"hi"}', HERE)
    assert outcome == Outcome(
        f'Error: unknown tool "{name}", did you mean echo_twice?',
        is_error=True,
        error={"name": "UnknownToolError", "code": "UNKNOWN_TOOL"},
    )


async def test_a_name_unlike_all_others_gets_the_list_of_what_there_is() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        return ""

    with mounted(ECHO, doing(execute)) as tools:
        outcome = await run_call(tools, "no_such_tool\0", "{}", HERE)
        assert outcome.text == 'Error: unknown tool "no_such_tool␀", available: do, echo_twice'
        assert len((await run_call(tools, "x" * 1_000_000, "{}", HERE)).text) < 200
    assert (await run_call(Tools(), "echo", "", HERE)).text == 'Error: unknown tool "echo", available: none'


@pytest.mark.parametrize(
    "exception, text",
    [
        (ValueError("no such page"), "Error: no such page"),
        (RuntimeError("one\ntwo"), "Error: one\ntwo"),
        (ZeroDivisionError(), "Error: zero division error"),
        (TimeoutError(), "Error: timeout error"),
        (OSError(28, "No space left on device", "/x"), "Error: [Errno 28] No space left on device: '/x'"),
        (
            ToolFailure("invalid todo: `content` must be a non-empty string"),
            "Error: invalid todo: `content` must be a non-empty string",
        ),
        (ExceptionGroup("tasks", [ExceptionGroup("inner", [ValueError("the cause")])]), "Error: the cause"),
        (ExceptionGroup("tasks", [ValueError("one"), KeyError()]), "Error: one; key error"),
    ],
)
async def test_any_exception_becomes_its_message(exception: Exception, text: str) -> None:
    assert await outcome_of_raising(exception) == Outcome(text, is_error=True)


async def test_an_exception_that_cannot_be_printed_still_becomes_words() -> None:
    class BrokenPrinter(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    assert (await outcome_of_raising(BrokenPrinter())).text == "Error: broken printer"


async def test_a_result_that_cannot_be_rendered_is_an_error() -> None:
    async def execute(params: Nothing, execution: Execution) -> int:
        return 0

    with mounted(Tool("do", "Does it.", Nothing, execute, lambda number: str(1 // number))) as tools:
        outcome = await run_call(tools, "do", "", HERE)
    assert outcome == Outcome("Error: integer division or modulo by zero", is_error=True)


async def test_a_failure_may_carry_a_code_of_its_own_also_out_of_a_task_group() -> None:
    failure = ToolFailure("no sandbox here", name="SandboxUnavailableError", code="SANDBOX_UNAVAILABLE")
    coded = Outcome(
        "Error: no sandbox here",
        is_error=True,
        error={"name": "SandboxUnavailableError", "code": "SANDBOX_UNAVAILABLE"},
    )
    assert await outcome_of_raising(failure) == coded
    assert await outcome_of_raising(ExceptionGroup("tasks", [failure])) == coded


# --- time and cancellation


async def test_a_tool_that_takes_too_long_is_stopped_and_the_seconds_are_told() -> None:
    left: list[str] = []

    async def execute(params: Nothing, execution: Execution) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            left.append("cleaned up")
        return "never"

    outcome = await outcome_of(execute, timeout=0.01)
    assert outcome == Outcome(
        "Error: timed out after 0.01 s and was stopped; it may have taken effect in part, check before you retry",
        is_error=True,
        error={"name": "ToolTimeoutError", "code": "TOOL_TIMEOUT"},
    )
    assert left == ["cleaned up"]


async def test_a_tool_that_fails_while_it_is_stopped_has_still_timed_out() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            raise RuntimeError("stopped") from error
        return "never"

    outcome = await outcome_of(execute, timeout=0.01)
    assert outcome.error == {"name": "ToolTimeoutError", "code": "TOOL_TIMEOUT"}


async def cancelled_during(execute: Callable[[Nothing, Execution], Awaitable[str]]) -> list[Outcome]:
    """Every outcome that the caller could still write down after the cancellation."""
    outcomes: list[Outcome] = []
    with anyio.CancelScope() as scope:

        async def cancelling(params: Nothing, execution: Execution) -> str:
            scope.cancel()
            return await execute(params, execution)

        outcomes.append(await outcome_of(cancelling, timeout=60))
        await checkpoint()
        outcomes.append(Outcome("the loop went on"))
    assert scope.cancelled_caught
    return outcomes


async def test_cancellation_travels_up() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        await anyio.sleep_forever()
        return "never"

    assert await cancelled_during(execute) == []


async def test_a_tool_cannot_turn_its_cancellation_into_an_error() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            raise RuntimeError("interrupted") from error
        return "never"

    assert await cancelled_during(execute) == []


async def test_work_that_was_finished_in_spite_of_a_cancellation_keeps_its_result_and_the_caller_stops() -> None:
    async def execute(params: Nothing, execution: Execution) -> str:
        with anyio.CancelScope(shield=True):
            await checkpoint()
        return "written"

    assert await cancelled_during(execute) == [Outcome("written", value="written")]


async def test_what_ends_the_program_is_no_outcome() -> None:
    with pytest.raises(KeyboardInterrupt):
        await outcome_of_raising(KeyboardInterrupt())


# --- outcomes that the loop and the repair write


def test_outcomes_tell_the_model_whether_it_may_retry() -> None:
    outcomes = [
        outcomes_of.aborted(),
        outcomes_of.aborted_before_dispatch(),
        outcomes_of.not_started(),
        outcomes_of.outcome_unknown(),
        outcomes_of.truncated_arguments(),
        outcomes_of.denied("not on a Friday"),
        outcomes_of.denied(" "),
    ]
    assert all(outcome.is_error for outcome in outcomes)
    told = [f"{outcome.error and outcome.error['code']}: {outcome.text}" for outcome in outcomes]
    assert told == [
        "ABORTED: Error: aborted while it was running; it may have taken effect in part, check before you retry",
        (
            "ABORTED_BEFORE_DISPATCH: Error: aborted before it was started; nothing was done, "
            "you may call it again if it is still wanted"
        ),
        (
            "TOOL_NOT_STARTED: Error: the program ended before this call was started; nothing was done, "
            "you may call it again"
        ),
        (
            "TOOL_OUTCOME_UNKNOWN: Error: the program ended during this call; whether it took effect is unknown, "
            "check before you retry"
        ),
        (
            "ARGUMENTS_TRUNCATED: Error: arguments truncated: your reply was cut off, nothing was done; "
            "call again, with less in one call"
        ),
        "DENIED: Error: denied: not on a Friday; nothing was done, do not repeat this call unless asked to",
        "DENIED: Error: denied; nothing was done, do not repeat this call unless asked to",
    ]


# --- how a call looks before it runs


def test_a_tool_says_how_its_call_looks() -> None:
    with mounted(ECHO) as tools:
        assert present(tools, "echo_twice", '{"text":"hi"}').raw_input == "HI"


@pytest.mark.parametrize("name, raw", [("echo_twice", '{"txt":'), ("nobody", "{}"), ("nobody\0", "\0")])
def test_a_call_that_will_not_run_looks_plain(name: str, raw: str) -> None:
    with mounted(ECHO) as tools:
        plain = present(tools, name, raw)
    assert plain == Presentation(
        card="generic", title=name.replace("\0", "␀"), kind="other", raw_input=raw.replace("\0", "␀")
    )
