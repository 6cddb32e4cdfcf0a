"""The law of the plan in an editor: what a client saw last is the list that stands, whatever it does with its sessions."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.acceptance.conftest import House
from tests.acp.conftest import house as house
from tests.acp.replies import writes
from tests.acp.wire import Wire

from planlog.features.todo.fold import TODOS
from planlog.log.event import read_line

Plan = list[tuple[str, str]]

ITEMS = st.lists(st.sampled_from(["read", "write", "run [bold]", "测试"]), max_size=4, unique=True)
WRITE = ITEMS.map(lambda names: writes(*({"content": name, "status": "pending"} for name in names)))
FAILED = st.sampled_from(
    [
        writes({"content": " ", "status": "pending"}),
        writes(*[{"content": name, "status": "in_progress"} for name in "ab"]),
        {"text": "Oops.", "tool_calls": [{"name": "todo_write", "arguments": '{"todos": ['}]},
    ]
)
SAID = st.just({"text": "Well."})
REPLY = st.builds(
    lambda reply, delay: {**reply, "delay_ms": delay}, st.one_of(WRITE, WRITE, FAILED, SAID), st.sampled_from([0, 20])
)
SESSION = st.sampled_from([0, 1])
OPERATION = st.one_of(
    st.tuples(st.just("turn"), SESSION),
    st.tuples(st.just("turns in both"), SESSION),
    st.tuples(st.just("two prompts"), SESSION),
    st.tuples(st.just("a cancel at once"), SESSION),
    st.tuples(st.just("a cancel on the way"), SESSION),
    st.tuples(st.just("close and load"), SESSION),
    st.tuples(st.just("close and resume"), SESSION),
    st.tuples(st.just("close in the turn and load"), SESSION),
    st.tuples(st.just("load"), SESSION),
)


@dataclass
class Editor:
    """A client with two sessions: `marks` are the lines from which on each is shown."""

    house: House
    wire: Wire
    ids: list[str] = field(default_factory=list[str])
    marks: list[int] = field(default_factory=list[int])

    def open(self) -> None:
        self.wire.initialize()
        for _ in range(2):
            self.marks.append(self.wire.mark())
            self.ids.append(self.wire.open(self.house.folder))

    def do(self, what: str, which: int) -> None:
        wire, session = self.wire, self.ids[which]
        match what:
            case "turn":
                wire.answer(wire.begin_prompt(session))
            case "turns in both":
                prompts = [wire.begin_prompt(one) for one in self.ids]
                for prompt in prompts:
                    wire.answer(prompt)
            case "two prompts":
                prompts = [wire.begin_prompt(session) for _ in range(2)]
                for prompt in prompts:
                    wire.answer(prompt)
            case "a cancel at once":
                prompt = wire.begin_prompt(session)
                wire.notify("session/cancel", sessionId=session)
                assert wire.result(prompt)["stopReason"] == "cancelled"
            case "a cancel on the way":
                prompt, mark = wire.begin_prompt(session), wire.mark()
                wire.until(lambda lines: len(lines) > mark)
                wire.notify("session/cancel", sessionId=session)
                wire.answer(prompt)
            case "close and load":
                wire.call("session/close", sessionId=session)
                self.come_to(which, "session/load")
            case "close and resume":
                wire.call("session/close", sessionId=session)
                self.come_to(which, "session/resume")
            case "close in the turn and load":
                prompt = wire.begin_prompt(session)
                wire.call("session/close", sessionId=session)
                wire.answer(prompt)
                self.come_to(which, "session/load")
            case _:
                self.come_to(which, "session/load")

    def come_to(self, which: int, method: str) -> None:
        """Shows the session anew."""
        self.marks[which] = self.wire.mark()
        self.wire.call(method, sessionId=self.ids[which], cwd=str(self.house.folder), mcpServers=[])
        self.wire.call("session/list")  # what follows the answer to a resume is there when this is answered

    def shown(self, which: int) -> Plan:
        """What stands in the client's window."""
        plans = self.wire.plans(self.ids[which], since=self.marks[which])
        return plans[-1] if plans else []


def logged(home: Path, session: str) -> Plan:
    """The projection, from the lines as they are stored."""
    plan: Any = TODOS.init
    with sqlite3.connect(home / "planlog.db") as database:
        lines = database.execute(
            "SELECT line FROM event JOIN session ON event.session = session.key WHERE id = ? ORDER BY seq", [session]
        ).fetchall()
    database.close()
    for (line,) in lines:
        event = read_line(line)
        if event.type in ("todo/write", "turn/start"):
            plan = TODOS.apply(plan, event)
    return [(todo.content, todo.status) for todo in plan or ()]


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # each example runs a program; to shrink one would take minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(REPLY, min_size=25, max_size=40), st.lists(OPERATION, min_size=4, max_size=12))
def test_30_what_a_client_saw_last_is_the_list_that_stands(
    house: House, replies: list[dict[str, Any]], operations: list[tuple[str, int]]
) -> None:
    process = house.start("acp", "-m", house.script(*replies), stdin=-1)
    editor = Editor(house, Wire(process))
    try:
        editor.open()
        for what, which in operations:
            editor.do(what, which)
            shown = [editor.shown(one) for one in range(2)]
            assert shown == [logged(house.home, id) for id in editor.ids], (what, which)
        assert editor.wire.close() == 0
    finally:
        editor.wire.stop()
