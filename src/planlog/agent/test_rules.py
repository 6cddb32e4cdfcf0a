"""Rules spare questions or answer them with no; what a person allowed for good is on the log."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import anyio
import pytest

from planlog.agent.agent import Agent
from planlog.agent.approval import APPROVALS, Question, decide
from planlog.agent.conftest import House, Process, Say, Script, call, calls, told
from planlog.agent.event import APPROVAL_DECIDED, ApprovalDecided, Completed, Policy
from planlog.agent.inbox import Wish, new_command
from planlog.agent.rules import GRANTED, NO_RULES, Rules, allowed, check_named, read_rules, verdict
from planlog.kernel.errors import ConfigError
from planlog.log.session import Session
from planlog.tools.tool import Coverage, Execution, Proposal, Tool, Tools

HERE = Path("/work")
FORBIDDEN = "a rule of this program forbids it"
NOT_ALLOWED = "the approval policy of this session allows no such calls"


def tool(name: str = "risk", *, asks: bool = True, judges: bool = True, offer: str = "") -> Tool[Say, str]:
    """A tool whose patterns are beginnings of words: "a" covers all of "ab", some of "cab"."""

    async def execute(params: Say, execution: Execution) -> str:
        return params.text

    async def propose(params: Say, execution: Execution) -> Proposal:
        return Proposal(f"says {params.text}", offer.format(params.text))

    def covered(pattern: str, params: Say, folder: Path) -> Coverage:
        if params.text == "riddle":
            raise ValueError("cannot tell")
        if params.text.startswith(pattern):
            return "all"
        return "some" if pattern in params.text else "none"

    return Tool(
        name,
        "Dares it.",
        Say,
        execute,
        str,
        needs_approval=asks,
        propose=propose,
        covered=covered if judges else None,
    )


@pytest.mark.parametrize(
    ("text", "policy", "allow", "deny", "granted", "becomes"),
    [
        ("ab", "ask", [], [], [], "ask"),
        ("ab", "auto", [], [], [], "run"),
        ("ab", "deny", [], [], [], NOT_ALLOWED),
        # A rule that allows covers all of a call.
        ("ab", "ask", ["risk"], [], [], "run"),
        ("ab", "ask", ["risk a"], [], [], "run"),
        ("ab", "ask", [], [], ["risk a"], "run"),
        ("cab", "ask", ["risk a"], [], ["risk a"], "ask"),
        ("ab", "ask", ["risky", "ris", "risky a", "other"], [], ["other a"], "ask"),
        ("ab", "ask", ["risk x", "risk a"], [], [], "run"),
        # One that forbids covers any part, and comes before all else.
        ("cab", "auto", [], ["risk a"], [], FORBIDDEN),
        ("ab", "ask", ["risk", "risk a"], ["risk a"], ["risk a"], FORBIDDEN),
        ("ab", "ask", ["risk a"], ["risk"], [], FORBIDDEN),
        ("ab", "deny", [], ["risk"], [], FORBIDDEN),
        ("ab", "auto", [], ["risk x", "other"], [], "run"),
        # Where nothing is allowed, rules allow nothing.
        ("ab", "deny", ["risk"], [], ["risk"], NOT_ALLOWED),
        # What cannot be judged.
        ("riddle", "ask", ["risk r"], [], ["risk r"], "ask"),
        ("riddle", "auto", [], ["risk x"], [], FORBIDDEN),
    ],
)
def test_what_becomes_of_a_call(
    text: str, policy: Policy, allow: list[str], deny: list[str], granted: list[str], becomes: str
) -> None:
    assert verdict(tool(), Say(text), HERE, policy, read_rules(allow, deny), granted) == becomes


@pytest.mark.parametrize(("deny", "becomes"), [([], "run"), (["say"], FORBIDDEN), (["say a"], FORBIDDEN)])
def test_a_tool_that_asks_nobody_can_be_forbidden_too(deny: list[str], becomes: str) -> None:
    assert verdict(tool("say", asks=False), Say("ab"), HERE, "ask", read_rules([], deny), ()) == becomes


def test_a_pattern_that_a_tool_does_not_understand_allows_nothing_and_forbids() -> None:
    dull = tool(judges=False)
    assert not allowed(dull, Say("ab"), HERE, ["risk a"])
    assert allowed(dull, Say("ab"), HERE, ["risk"])
    assert verdict(dull, Say("ab"), HERE, "auto", Rules(deny=("risk a",)), ()) == FORBIDDEN


def test_white_space_around_a_rule_means_nothing_and_that_within_its_pattern_stays() -> None:
    assert read_rules(["  risk  "], ["risk\t git  diff "]) == Rules(("risk",), ("risk git  diff",))


@pytest.mark.parametrize("rule", ["", "  ", "\t\n"])
def test_an_empty_rule_is_refused(rule: str) -> None:
    with pytest.raises(ConfigError, match="one is empty"):
        read_rules([rule], [])


def test_a_rule_about_no_tool_is_refused_where_it_was_typed() -> None:
    tools = Tools()
    with tools.add(tool()), tools.add(tool("say")):
        check_named(["risk", "say a b", "mcp__box__put"], tools)
        with pytest.raises(ConfigError) as caught:
            check_named(["risk", "git diff"], tools)
    assert str(caught.value) == 'the rule "git diff" names no tool; it begins with one of: risk, say'


# A person who says always


class Daring(Protocol):
    """Begins a process with the tool `dare`, which offers a rule with each question."""

    def __call__(self, offer: str = "dare {}", rules: Rules = NO_RULES) -> Process: ...


@pytest.fixture
def daring(house: House) -> Iterator[Daring]:
    with ExitStack() as stack:

        def begin(offer: str = "dare {}", rules: Rules = NO_RULES) -> Process:
            process = house.process()
            stack.enter_context(process.tools.add(tool("dare", offer=offer)))
            process.agent = Agent(process.tools, process.live, max_steps=9, policy="ask", clock=lambda: 0, rules=rules)
            return process

        yield begin


async def asked(process: Process, session: Session, *texts: str, says: str = "always", model: Any = None) -> list[Any]:
    """Runs a turn that calls `dare` with each text; the questions that a person is asked, and answers with `says`."""
    questions: list[Any] = []
    model = model or Script([calls(*(call("dare", text=text) for text in texts)), {"text": "Done."}])

    async def answer() -> None:
        while True:
            news = session.news
            for question in await session.view(APPROVALS):
                if question not in questions:
                    questions.append(question)
                    outcome = "denied" if "no" in says else "allowed"
                    await process.agent.answer(session, question.id, outcome, always="always" in says)
            await session.changed(news)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer)
        assert await process.run(session, model) == Completed()
        tasks.cancel_scope.cancel()
    return questions


async def begun(process: Process) -> Session:
    return await process.sessions.create(HERE)


async def test_what_was_always_allowed_is_not_asked_again_not_even_in_the_same_answer(daring: Daring) -> None:
    process = daring()
    session = await begun(process)
    questions = await asked(process, session, "a", "ab", "b")
    assert [question.rule for question in questions] == ["dare a", "dare b"]
    assert await session.view(GRANTED) == ("dare a", "dare b")
    assert await asked(process, session, "abc", "b") == []
    assert (await told(session)).count("approval/asked") == 2


async def test_it_counts_in_another_process_and_after_a_restart(daring: Daring) -> None:
    first, second = daring(), daring()
    session = await begun(first)
    await asked(first, session, "a")
    again = await second.sessions.open(session.id)
    assert await asked(second, again, "ab") == []


async def test_it_does_not_count_in_another_session(daring: Daring) -> None:
    process = daring()
    await asked(process, await begun(process), "a")
    other = await begun(process)
    assert len(await asked(process, other, "a", says="yes")) == 1
    assert await other.view(GRANTED) == ()


@pytest.mark.parametrize("says", ["yes", "no", "no, always"])
async def test_a_mere_yes_allows_no_rule_and_a_no_never_does(daring: Daring, says: str) -> None:
    process = daring()
    session = await begun(process)
    assert len(await asked(process, session, "a", "a", says=says)) == 2
    assert await session.view(GRANTED) == ()


@pytest.mark.parametrize("offer", ["", "dare x", "risk", "x"])
async def test_a_rule_that_would_not_have_spared_the_question_is_not_offered(daring: Daring, offer: str) -> None:
    process = daring(offer)
    session = await begun(process)
    questions = await asked(process, session, "a", "a")
    assert [question.rule for question in questions] == [None, None]
    assert await session.view(GRANTED) == ()


async def test_what_was_always_allowed_is_no_match_for_a_rule_that_forbids(daring: Daring) -> None:
    process = daring()
    session = await begun(process)
    await asked(process, session, "a")
    strict = daring(rules=Rules(deny=("dare b",)))
    again = await strict.sessions.open(session.id)
    assert await asked(strict, again, "ab", "aa") == []
    text = await told(again)
    denied, ran = [line for line in text.splitlines() if "tool/result" in line][-2:]
    assert f"denied: {FORBIDDEN}" in denied
    assert ran.partition(": ")[2].startswith("'aa'")


async def test_rules_of_the_program_spare_the_question(daring: Daring) -> None:
    process = daring(rules=Rules(allow=("dare a",)))
    session = await begun(process)
    [question] = await asked(process, session, "a", "cab", says="yes")
    assert isinstance(question, Question)
    assert "approval/asked dare#call-1-2" in await told(session)


def test_only_what_was_offered_and_allowed_is_written_and_only_that_counts() -> None:
    def said(outcome: str, *, always: bool) -> Any:
        wish = new_command("approve", Wish(id="q1", outcome=outcome, always=always), 0)
        decision = decide("q1", "dare a", [wish])
        return decision.fact.value if decision else None

    assert said("allowed", always=True) == ApprovalDecided("q1", "allowed", "dare a")
    assert said("allowed", always=False) == ApprovalDecided("q1", "allowed")
    assert said("denied", always=True) == ApprovalDecided("q1", "denied")
    assert said("?", always=True) == ApprovalDecided("q1", "denied")


def test_a_log_from_elsewhere_allows_what_was_allowed_there_once() -> None:
    granted: tuple[str, ...] = ()
    for decided in (
        ApprovalDecided("q1", "denied", "dare a"),
        ApprovalDecided("q2", "allowed", "dare b"),
        ApprovalDecided("q3", "allowed", "dare b"),
        ApprovalDecided("q4", "allowed", ""),
    ):
        fact = APPROVAL_DECIDED.fact(decided)
        granted = GRANTED.apply(granted, fact.placed(0, 0))
    assert granted == ("dare b",)


async def test_calls_with_long_arguments_are_judged_once_each(house: House) -> None:
    process, judged = house.process(), list[str]()

    def covered(pattern: str, params: Say, folder: Path) -> Coverage:
        judged.append(params.text)
        return "none"

    async def execute(params: Say, execution: Execution) -> str:
        return ""

    with process.tools.add(Tool("many", "", Say, execute, str, concurrency_safe=True, covered=covered)):
        process.agent = Agent(
            process.tools,
            process.live,
            max_steps=9,
            policy="ask",
            clock=lambda: 0,
            rules=Rules(deny=("risk", "many x")),
        )
        session = await begun(process)
        texts = [str(number) for number in range(40)]
        model = Script([calls(*(call("many", text=text) for text in texts)), {"text": "Done."}])
        assert await process.run(session, model) == Completed()
    assert sorted(judged) == sorted(texts)


async def test_calls_that_end_while_others_are_judged_are_not_waited_for(house: House) -> None:
    process = house.process()

    def covered(pattern: str, params: Say, folder: Path) -> Coverage:
        return "none"

    async def execute(params: Say, execution: Execution) -> str:
        return ""

    with process.tools.add(Tool("many", "", Say, execute, str, concurrency_safe=True, covered=covered)):
        rules = Rules(deny=("many x",))
        process.agent = Agent(process.tools, process.live, max_steps=9, policy="ask", clock=lambda: 0, rules=rules)
        session = await begun(process)
        model = Script([calls(*(call("many", text=str(number)) for number in range(25))), {"text": "Done."}])
        assert await process.run(session, model) == Completed()
