from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from planlog.faces.acp.calls import Calls
from planlog.faces.acp.registry import AcpRenders
from planlog.faces.acp.updates import ToolCallBegun, ToolCallChanged, Update
from planlog.faces.renders import Call
from planlog.tools.tool import Tools

RESULT = Call("", "", "done")


def calls() -> Calls:
    fresh = Calls(AcpRenders(), Tools(), Path("/work"))
    fresh.begin_step("1.1")
    return fresh


def act(under: Calls, what: str, call: str) -> list[Update]:
    match what:
        case "made":
            under.made(call, "bash", "{}")
            return []
        case "wait":
            return under.wait(call)
        case "start":
            return under.start(call, "bash", "{}")
        case "progress":
            return under.progress(call, "line\n")
        case _:
            return under.end(call, RESULT)


@given(st.lists(st.tuples(st.sampled_from(["made", "wait", "start", "progress", "end"]), st.sampled_from("ab"))))
def test_whatever_a_log_holds_a_card_is_announced_before_it_changes_and_changes_no_more_after_its_end(
    story: list[tuple[str, str]],
) -> None:
    under = calls()
    announced: set[str] = set()
    ended: set[str] = set()
    for what, call in story:
        for update in act(under, what, call):
            assert isinstance(update, ToolCallBegun | ToolCallChanged)
            assert update.tool_call_id not in ended
            if isinstance(update, ToolCallBegun):
                assert update.tool_call_id not in announced
                announced.add(update.tool_call_id)
            assert update.tool_call_id in announced
            if update.status in ("completed", "failed"):
                ended.add(update.tool_call_id)


def test_a_line_stays_short_whatever_a_model_calls_things() -> None:
    under = calls()
    long = "x" * 1_000_000
    told = [*under.start(long, long, f'{{"{long}": "{long}"}}'), *under.end(long, RESULT)]
    assert all(len(msgspec.json.encode(update)) < 1_000_000 for update in told)
    (id,) = {update.tool_call_id for update in told if isinstance(update, ToolCallBegun | ToolCallChanged)}
    assert len(id) < 100
