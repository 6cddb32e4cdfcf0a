"""What is promised about the plan, seen through the real program: every command is a process of its own."""

import json
import signal
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.acceptance.conftest import House as Machine
from tests.acceptance.test_two_processes import Gate
from tests.faults.scene import LISTS, make_scene

from planlog.features.todo.event import STATUSES

GOLDEN = sorted((Path(__file__).parents[4] / "tests" / "golden").glob("*.jsonl"))
TODO_TYPES = ("assistant/message", "tool/call", "todo/write", "tool/result")

COMPOSITION = """
roles = ["event", "fold", "service", "tool", "cli", "stdio"]

[[plugin]]
id = "agent"
use = "planlog.agent"
max_steps = 200
approval = "auto"

[[plugin]]
id = "model"
use = "planlog.model"
model = ""
effort = ""
max_tokens = 0
context_window = 0

[[plugin]]
id = "todo"
use = "planlog.features.todo"
allow_parallel_in_progress = {parallel}
"""

DONE = {"text": "Done."}


@pytest.fixture
def composition(machine: Machine) -> dict[bool, str]:
    """The paths of two compositions that differ in whether work may run in parallel."""
    paths: dict[bool, str] = {}
    for parallel in (True, False):
        path = machine.folder.parent / f"parallel_{parallel}.toml"
        path.write_text(COMPOSITION.format(parallel=json.dumps(parallel)))
        paths[parallel] = str(path)
    return paths


def todos(*lines: str) -> list[dict[str, str]]:
    statuses = {"[x]": "completed", "[~]": "in_progress", "[ ]": "pending"}
    return [{"content": line[4:], "status": statuses[line[:3]]} for line in lines]


def write(*lines: str) -> dict[str, Any]:
    """A reply that writes the list which `lines` show."""
    return {"tool_calls": [{"name": "todo_write", "arguments": {"todos": todos(*lines)}}]}


def around_lists(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events if event["type"] in TODO_TYPES]


def plan_at(machine: Machine, session: str, seq: int) -> Any:
    """The plan that stands after an event."""
    return machine.json("plan", session, "--at", str(seq))["todos"]


def test_the_demos_plan_moves_while_real_commands_run_and_its_history_can_be_read(machine: Machine) -> None:
    demo = machine.planlog("demo", TMPDIR=str(machine.folder))
    assert (demo.returncode, demo.stderr.count("Traceback")) == (0, 0)
    [scratch] = machine.folder.glob("planlog-demo-*")
    machine.folder = scratch
    calls = [event["data"]["name"] for event in machine.events() if event["type"] == "tool/call"]
    assert calls[0] == calls[-1] == "todo_write"
    assert all("bash" in calls[place:] for place, name in enumerate(calls[:-1]) if name == "todo_write")
    history = machine.json("plan", "--history")
    assert [[todo["status"] for todo in one["todos"]] for one in history] == [
        ["completed"] * done + ["in_progress"] * (done < 4) + ["pending"] * (3 - done) for done in range(5)
    ]
    changes = [[(c["from"], c["to"]) for c in one["diff"]["statusChanged"]] for one in history[1:]]
    assert changes == [[("in_progress", "completed"), ("pending", "in_progress")]] * 3 + [
        [("in_progress", "completed")]
    ]
    printed = machine.planlog("plan", "--history").stdout
    first, last = history[0]["todos"][0]["content"], history[-1]["todos"][-1]["content"]
    assert printed.count("turn 1 · seq ") == 5
    assert f"  + [~] {first}\n" in printed
    assert f"  ~ [x] {last}\n" in printed


def test_a_plan_stands_from_its_call_to_the_next_turn_in_every_process_that_looks(machine: Machine) -> None:
    model = machine.script(write("[~] a", "[ ] b"), write("[x] a", "[~] b"), DONE)
    writer = machine.start("run", "-m", model, "plan")
    writer.communicate(timeout=20)
    assert writer.returncode == 0
    [session] = [listed["id"] for listed in machine.json("sessions")]
    lookers = [machine.start("plan", "--json"), machine.start("plan", session, "--json")]
    seen = [json.loads(looker.communicate(timeout=20)[0]) for looker in lookers]
    assert len({process.pid for process in (writer, *lookers)}) == 3
    assert seen[0] == seen[1]
    assert seen[0]["todos"] == todos("[x] a", "[~] b")
    logs = [machine.start("log", session).communicate(timeout=20)[0] for _ in range(2)]
    assert logs[0] == logs[1]
    events = [json.loads(line) for line in logs[0].splitlines()]
    assert around_lists(events) == [*TODO_TYPES * 2, "assistant/message"]
    assert events[-1]["type"] == "turn/end"
    machine.planlog("run", "--continue", "-m", machine.script(DONE), "on")
    assert machine.json("plan", session)["todos"] is None
    events = machine.events(session)
    standing: Any = None
    for event in events:
        if event["type"] in ("todo/write", "turn/start"):
            standing = event["data"].get("todos")
        if event["type"] in ("turn/start", "tool/call", "todo/write", "turn/end"):
            assert plan_at(machine, session, event["seq"]) == standing, event


def test_a_refused_call_changes_nothing_but_the_logs_call_and_its_result(machine: Machine) -> None:
    good, bad = write("[~] a", "[ ] b"), write("[~] a", "[~] b", "[ ] c")
    machine.planlog("run", "-m", machine.script(good, DONE), "plan")
    machine.planlog("run", "-m", machine.script(good, bad, {"tool_calls": [{"name": "todo_write"}]}, DONE), "plan")
    with_refusals, without = (listed["id"] for listed in machine.json("sessions"))
    events = machine.events(with_refusals)
    assert around_lists(events) == [
        *TODO_TYPES,
        *("assistant/message", "tool/call", "tool/result") * 2,
        "assistant/message",
    ]
    told = [event["data"]["message"]["content"][0] for event in events if event["type"] == "tool/result"]
    assert [block["isError"] for block in told] == [False, True, True]
    assert told[1]["content"][0]["text"] == "Error: invalid todos: at most one task may be in_progress, got 2"
    ends = [event["seq"] for event in events if event["type"] in ("tool/result", "turn/end")]
    assert [plan_at(machine, with_refusals, seq) for seq in ends] == [todos("[~] a", "[ ] b")] * 4
    views = [{**machine.json("plan", session), "sessionId": "", "seq": 0} for session in (with_refusals, without)]
    assert views[0] == views[1]
    histories = [machine.json("plan", session, "--history") for session in (with_refusals, without)]
    assert [one["todos"] for one in histories[0]] == [one["todos"] for one in histories[1]]


def test_what_models_are_told_differs_between_the_settings_in_one_sentence(
    machine: Machine, composition: dict[bool, str]
) -> None:
    ([parallel], [single]) = (machine.json("tools", "--composition", composition[which]) for which in (True, False))
    assert {**parallel, "description": ""} == {**single, "description": ""}
    ours, theirs = (tool["description"].replace("\n", " ").split(". ") for tool in (parallel, single))
    assert len(ours) == len(theirs)
    assert sum(one != other for one, other in zip(ours, theirs, strict=True)) == 1


def test_several_active_items_written_where_they_may_be_are_good_where_they_may_not(
    machine: Machine, composition: dict[bool, str]
) -> None:
    parallel, single = (("--composition", composition[which]) for which in (True, False))
    several = ("[~] a", "[~] b", "[~] c", "[ ] d")
    assert machine.planlog("run", *parallel, "-m", machine.script(write(*several), DONE), "plan").returncode == 0
    session = machine.json("sessions")[0]["id"]
    for where in (parallel, single):
        assert machine.json("plan", *where)["todos"] == todos(*several)
        assert machine.json("plan", *where)["counts"] == {"pending": 1, "inProgress": 3, "completed": 0}
        assert len(machine.json("plan", "--history", *where)) == 1
        shown = machine.planlog("show", *where).stdout
        assert "".join(f"  {line}\n" for line in several) in shown
        assert "0/4 completed · a +2" in shown
    before = machine.planlog("log", session).stdout
    machine.folder.joinpath("session.jsonl").write_text(machine.planlog("export", session).stdout)
    elsewhere = {"PLANLOG_HOME": str(machine.folder / "other")}
    assert machine.planlog("import", *single, "session.jsonl", **elsewhere).returncode == 0
    assert machine.planlog("log", session, **elsewhere).stdout == before
    again = machine.script(write(*several), write("[x] a", "[~] b"), DONE)
    assert machine.planlog("run", *single, "--continue", "-m", again, "on").returncode == 0
    assert machine.planlog("log", session).stdout.startswith(before)
    assert machine.json("plan", *single)["todos"] == todos("[x] a", "[~] b")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_log_of_the_original_folds_to_its_list_and_comes_back_byte_for_byte(machine: Machine, path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    last = [json.loads(line) for line in lines if b'"todo/write"' in line[:24] or b'"turn/start"' in line[:24]][-1]
    assert machine.planlog("import", str(path)).returncode == 0
    session = json.loads(lines[0])["id"]
    plan = machine.json("plan", session)
    assert plan["todos"] == last["data"].get("todos")
    assert plan["seq"] == len(lines) - 2
    assert machine.planlog("log", session).stdout.encode() == b"".join(lines[1:])
    assert machine.planlog("export", session).stdout.encode() == path.read_bytes()


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: str(number) != "-0.0")
    | st.text(st.characters(codec="utf-8"))
    | st.sampled_from(["\u2028", "\u2029\u0085", '"\\/\b\f\n\r\t', "\x00", "\U0001f600", "\x1b[2J"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)
UNKNOWN = st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1).map("x{}".format), ODD, max_size=3)


@st.composite
def odd_logs(draw: st.DrawFn) -> tuple[bytes, list[Any]]:
    """The file of a session as another program may have written it, and the list that stands at its end."""
    spelled = draw(st.sampled_from([True, False]))
    entries = draw(st.lists(UNKNOWN, max_size=4))
    statuses = draw(st.lists(st.sampled_from(STATUSES), min_size=len(entries), max_size=len(entries)))
    standing = [
        {**more, "content": f"{number}\u2028é 任 \U0001f600", "status": status}
        for number, (more, status) in enumerate(zip(entries, statuses, strict=True))
    ]
    deep: Any = draw(ODD)
    for _ in range(draw(st.sampled_from([0, 30, 400]))):
        deep = [deep]
    facts: list[tuple[str, dict[str, Any]]] = [
        ("turn/start", {"turn": 1, **draw(UNKNOWN)}),
        ("feedback/record", {"big": 2**70, "deep": deep, **draw(UNKNOWN)}),
        ("todo/write", {**draw(UNKNOWN), "todos": standing}),
        ("turn/end", {"turn": 1, "reason": {"kind": "completed"}, **draw(UNKNOWN)}),
    ]
    header = {"type": "session", "version": 0, "id": "odd", "createdAt": 0, "cwd": "/", "delegationDepth": 0}
    events = [{"type": name, "seq": seq, "time": 7 - seq, "data": data} for seq, (name, data) in enumerate(facts)]
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    text = "".join(
        json.dumps(line, ensure_ascii=spelled, separators=separators if line is not header else None) + "\n"
        for line in (header, *events)
    )
    return text.encode(), [{"content": one["content"], "status": one["status"]} for one in standing]


@pytest.mark.timeout(120)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(odd_logs())
def test_whatever_stands_beside_the_list_comes_back_byte_for_byte(
    machine: Machine, log: tuple[bytes, list[Any]]
) -> None:
    content, standing = log
    number = len(list(machine.folder.iterdir()))
    path = machine.folder / f"{number}.jsonl"
    path.write_bytes(content)
    home = {"PLANLOG_HOME": str(machine.folder.parent / f"home{number}")}
    done = machine.planlog("import", str(path), **home)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(machine.planlog("plan", "odd", "--json", **home).stdout)["todos"] == standing
    assert machine.planlog("export", "odd", **home).stdout.encode() == content


def test_a_plan_that_is_left_open_costs_no_further_request_and_no_reminder(machine: Machine) -> None:
    writes = [write(f"[~] step {number}", "[ ] rest") for number in range(8)]
    model = machine.script(*writes, {"text": "All done."}, {"text": "never asked for"})
    done = machine.planlog("run", "-m", model, "plan")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "All done.")
    types = [event["type"] for event in machine.events()]
    assert (types.count("assistant/message"), types.count("user/message")) == (9, 1)
    assert machine.json("plan")["todos"] == todos("[~] step 7", "[ ] rest")
    refusals = machine.script(*[{"tool_calls": [{"name": "todo_write", "arguments": {}}]}] * 30)
    done = machine.planlog("run", "-m", refusals, "plan")
    assert (done.returncode, "5 times in a row" in done.stderr) == (1, True)


def ends_by_itself(process: "Popen[Any]", gate: Gate) -> None:
    gate.open()


def is_told(number: signal.Signals) -> Callable[["Popen[Any]", Gate], None]:
    def tell(process: "Popen[Any]", gate: Gate) -> None:
        process.send_signal(number)

    return tell


@pytest.mark.parametrize(
    ("last", "end", "reason"),
    [
        ({"text": "Done."}, ends_by_itself, "completed"),
        ({"error": {"status": 400, "message": "no"}}, ends_by_itself, "error"),
        (DONE, is_told(signal.SIGINT), "aborted"),
        (DONE, is_told(signal.SIGTERM), "aborted"),
        (DONE, is_told(signal.SIGKILL), "interrupted"),
    ],
    ids=["completed", "failed", "interrupted by Ctrl-C", "terminated", "killed"],
)
def test_however_a_turn_ends_the_plan_is_left_as_the_model_wrote_it(
    machine: Machine, last: dict[str, Any], end: Callable[["Popen[Any]", Gate], None], reason: str
) -> None:
    gate = Gate(machine)
    model = machine.script(write("[x] a", "[~] b"), gate.reply, last)
    process = machine.start("run", "-m", model, "--approve", "auto", "plan")
    gate.reached()
    end(process, gate)
    process.communicate(timeout=20)
    assert machine.json("plan")["todos"] == todos("[x] a", "[~] b")
    assert machine.json("sessions")[0]["running"] is False
    shown = machine.planlog("show").stdout
    assert "[~] b" in shown
    assert machine.planlog("run", "--continue", "-m", machine.script(DONE), "on").returncode == 0
    ends = [event["data"]["reason"]["kind"] for event in machine.events() if event["type"] == "turn/end"]
    assert ends == [reason, "completed"]


def test_sessions_that_plan_at_the_same_time_keep_their_plans_apart(machine: Machine) -> None:
    planned = {name: todos(f"[x] {name} 1", f"[~] {name} 2") for name in "abc"}
    running = [
        machine.start(
            "run", "-m", machine.script(write(f"[~] {name} 1"), write(f"[x] {name} 1", f"[~] {name} 2"), DONE), name
        )
        for name in planned
    ]
    assert [process.communicate(timeout=20) and process.returncode for process in running] == [0, 0, 0]
    listed = machine.json("sessions")
    assert {session["title"]: session["todos"] for session in listed} == planned
    for session in listed:
        written = [event["data"]["todos"] for event in machine.events(session["id"]) if event["type"] == "todo/write"]
        assert written[-1] == planned[session["title"]]
        assert len(written) == 2


def test_the_plan_does_not_depend_on_how_the_tool_was_called(machine: Machine) -> None:
    [golden] = [path for path in GOLDEN if path.stem == "todo"]
    renamed = machine.folder / "renamed.jsonl"
    renamed.write_bytes(golden.read_bytes().replace(b'"todo_write"', b'"TodoWrite2"'))
    for path in (golden, renamed):
        home = {"PLANLOG_HOME": str(machine.folder.parent / path.stem)}
        assert machine.planlog("import", str(path), **home).returncode == 0
    ours, theirs = (
        machine.planlog("plan", session, "--json", PLANLOG_HOME=str(machine.folder.parent / path.stem)).stdout
        for path in (golden, renamed)
        for session in [json.loads(path.read_bytes().partition(b"\n")[0])["id"]]
    )
    assert json.loads(ours)["todos"]
    assert ours == theirs


def test_the_lists_of_the_scene_that_faults_are_thrown_at_are_written(tmp_path: Path) -> None:
    printed = [json.loads(line) for line in make_scene(tmp_path).run().stdout.splitlines()]
    assert [event["data"]["todos"] for event in printed if event["type"] == "todo/write"] == LISTS
