from collections.abc import Sequence

import pytest

from planlog.agent.event import (
    ASSISTANT_CHUNK,
    ASSISTANT_MESSAGE,
    LLM_RETRY,
    STEP_START,
    TOOL_CALL,
    TOOL_RESULT,
    TURN_END,
    TURN_START,
    USER_MESSAGE,
    AssistantChunk,
    AssistantMessage,
    Completed,
    EndReason,
    Failure,
    Retry,
    StepMark,
    ToolCallLogged,
    ToolResultLogged,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from planlog.agent.live import LiveDelta, LiveNews, LiveNotice, LiveProgress
from planlog.faces.renders import Call, Renders, Row, Span
from planlog.faces.stdio.console import Console
from planlog.faces.stdio.registry import StdioRenders
from planlog.faces.stdio.screen import Screen
from planlog.faces.stdio.transcript import Transcript
from planlog.kernel.errors import ConfigError
from planlog.log.event import Event, Fact
from planlog.model.message import Message, ModelSource, PluginSource, Source, Text, ToolResult, ToolSource, UserSource
from planlog.model.model import ReasoningDelta, TextDelta


class Shown:
    """A transcript on two screens that are no terminals, or one with `is_terminal`."""

    def __init__(self, *, is_terminal: bool = False, quiet: bool = False, own: Sequence[str] = ()) -> None:
        self._out, self._err = bytearray(), bytearray()
        env = {"TERM": "xterm", "NO_COLOR": "1"}
        self.renders = StdioRenders()
        self.ended: list[EndReason] = []
        self.now = 0.0
        console = Console(
            Screen(self._out.extend, is_terminal=is_terminal, env=env, columns=lambda: 40),
            Screen(self._err.extend, is_terminal=is_terminal, env=env, columns=lambda: 40),
        )
        self.transcript = Transcript(
            console, self.renders, self.ended.append, own=own, quiet=quiet, clock=lambda: self.now
        )
        self._seq = 0

    def see(self, *news: Fact | LiveNews) -> "Shown":
        for one in news:
            if isinstance(one, Fact):
                self.transcript.event(self._placed(one))
            else:
                self.transcript.live(one)
        return self

    def _placed(self, fact: Fact) -> Event:
        self._seq += 1
        return fact.placed(self._seq - 1, 0)

    @property
    def out(self) -> str:
        return self._out.decode()

    @property
    def err(self) -> str:
        return self._err.decode()


TURN = TURN_START.fact(TurnStart(1))
END = TURN_END.fact(TurnEnd(1, Completed()))


def step(number: int) -> Fact:
    return STEP_START.fact(StepMark(1, number))


def said(text: str, number: int = 1) -> Fact:
    message = Message(f"m{number}", "assistant", ModelSource("script", "s"), [Text(text)])
    return ASSISTANT_MESSAGE.fact(AssistantMessage(1, number, message), surface_op="append")


def prompt(text: str, id: str = "p", source: Source | None = None) -> Fact:
    return USER_MESSAGE.fact(UserMessage(id, "user", source or UserSource(), [Text(text)]), surface_op="append")


def delta(text: str, offset: int, number: int = 1) -> LiveDelta:
    return LiveDelta(1, number, offset, TextDelta(0, text))


def call(id: str = "c", name: str = "bash", arguments: str = '{"command": "ls"}') -> Fact:
    return TOOL_CALL.fact(ToolCallLogged(1, 1, id, name, arguments))


def result(text: str, id: str = "c", *, is_error: bool = False) -> Fact:
    block = ToolResult(id, [Text(text)], is_error)
    message = Message(f"r{id}", "user", ToolSource(id), [block])
    return TOOL_RESULT.fact(ToolResultLogged(1, 1, message), surface_op="append")


def test_text_is_printed_as_it_comes_and_once() -> None:
    shown = Shown().see(TURN, step(1), delta("Hel", 0), delta("lo", 3))
    assert shown.out == "Hello"
    shown.see(ASSISTANT_CHUNK.fact(AssistantChunk(1, 1, TextDelta(0, "Hello"))), said("Hello"), END)
    assert shown.out == "Hello\n"


def test_a_delta_that_is_early_waits_for_its_step_and_a_late_one_is_dropped() -> None:
    shown = Shown().see(TURN, step(1), delta("two", 0, 2), said("one"))
    assert shown.out == "one\n"
    shown.see(step(2), delta("late", 0, 1))
    assert shown.out == "one\ntwo"


def test_a_retry_is_a_note_and_repeats_nothing() -> None:
    retry = Retry("r", 1, 1, "p", "backoff", "default", 1, 1500, Failure("overloaded", "HTTP", 503))
    shown = Shown().see(
        TURN, step(1), delta("Hello", 0), LLM_RETRY.fact(retry), delta("Hello you", 5), said("Hello you")
    )
    assert shown.out == "Hello you\n"
    assert shown.err == "overloaded; retrying in 1.5 s\n"


def test_a_call_without_a_renderer_is_a_row_of_its_arguments_or_its_error() -> None:
    shown = Shown().see(
        TURN, step(1), call(), result("a.txt"), call("d", "nope", "{\n}"), result("Error: no\nmore", "d", is_error=True)
    )
    assert shown.out == '✓ bash  {"command": "ls"}\n✗ nope  Error: no\n'


def test_features_draw_their_rows_and_events() -> None:
    shown = Shown()
    renders = Renders(
        events={"turn/start": lambda event: [(Span("a turn begins"),)]},
        rows={"bash": lambda call: Row(f"$ {call.name}", call.result or "", "+2", body=((Span("below"),),))},
    )
    with shown.renders.add(renders), pytest.raises(ConfigError, match='two plugins draw "turn/start"'):
        shown.see(TURN, step(1), call(), result("done"))
        with shown.renders.add(Renders(events={"turn/start": lambda event: []})):
            pass
    assert shown.out == "a turn begins\n✓ $ bash  done +2\n  below\n"
    assert shown.renders.row(Call("bash", "")) is None


def test_what_runs_is_named_on_a_terminal_and_its_output_looked_at_now_and_then() -> None:
    shown = Shown(is_terminal=True).see(TURN, step(1), LiveDelta(1, 1, 0, ReasoningDelta(0, "hm")))
    assert shown.out.endswith("\r\x1b[Kthinking")
    shown.see(call(), LiveProgress("c", "one\ntwo\n"))
    assert shown.out.endswith("\r\x1b[Kbash  two")
    shown.see(LiveProgress("c", "three\n"))
    assert shown.out.endswith("two")
    shown.now = 1.0
    shown.see(LiveProgress("c", "four"), LiveProgress("unknown", "five"))
    assert shown.out.endswith("\r\x1b[Kbash  four")
    shown.see(result("four"))
    assert shown.out.endswith('\r\x1b[K✓ bash  {"command": "ls"}\n')


def test_the_own_prompt_is_not_repeated_and_others_are() -> None:
    shown = Shown(own=["mine"]).see(
        TURN, prompt("one", "mine"), prompt("two\nlines"), prompt("three", "x", PluginSource("jobs"))
    )
    assert shown.out == "> two\n> lines\n> three\n"


def test_quiet_prints_the_last_answer_alone_and_notices_all_the_same() -> None:
    shown = Shown(quiet=True, own=["p"])
    shown.see(TURN, prompt("x"), step(1), delta("I will", 0), said("I will"), call(), result("ok"))
    shown.see(LiveNotice("waiting for the database"), step(2), said("Done.", 2))
    assert shown.out == ""
    shown.see(END)
    assert (shown.out, shown.err) == ("Done.\n", "waiting for the database\n")


def test_quiet_prints_no_answer_to_the_prompt_of_somebody_else() -> None:
    shown = Shown(quiet=True, own=["mine"])
    shown.see(TURN, prompt("theirs", "other"), step(1), said("For them."), END)
    assert shown.out == ""
    shown.see(TURN, prompt("mine", "mine"), step(1), said("For me."), END)
    shown.see(TURN, prompt("theirs", "third"), step(1), said("For them again."), END)
    assert shown.out == "For me.\n"


def test_the_end_of_a_turn_is_told() -> None:
    shown = Shown().see(TURN)
    assert shown.transcript.open_turn == 1
    shown.see(END)
    assert (shown.transcript.open_turn, shown.ended) == (0, [Completed()])
