"""Opt-in: a real model is asked to plan, and what it did is read from the log; its words do not count.

PLANLOG_REAL_MODEL=anthropic pytest -k real_model, with that provider's key set; it costs a few thousand tokens.
"""

import json
import os
from pathlib import Path

import pytest
from tests.acceptance.conftest import House as Machine

from planlog.model.providers import PROVIDERS

MODEL = os.environ.get("PLANLOG_REAL_MODEL", "")
COMPOSITION = """
roles = ["event", "fold", "service", "tool", "cli", "stdio"]

[[plugin]]
id = "agent"
use = "planlog.agent"
max_steps = 12
approval = "auto"

[[plugin]]
id = "model"
use = "planlog.model"
model = ""
effort = ""
max_tokens = 4000
context_window = 0

[[plugin]]
id = "todo"
use = "planlog.features.todo"
allow_parallel_in_progress = {parallel}
"""
PROMPT = (
    "Use todo_write to write down a plan of three steps for making tea, before you do anything else. Then pretend to do "
    "the steps one after the other, and update the list after each of them until all are completed. Then say: done."
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("parallel", [True, False])
def test_a_real_model_writes_a_list_and_completes_it(machine: Machine, tmp_path: Path, parallel: bool) -> None:
    if not MODEL:
        pytest.skip("opt-in: PLANLOG_REAL_MODEL names no model, so none is asked")
    composition = tmp_path / "composition.toml"
    composition.write_text(COMPOSITION.format(parallel=json.dumps(parallel)))
    variables = {*(key for one in PROVIDERS for key in one.keys), *(one.url_variable for one in PROVIDERS)}
    machine.env |= {name: value for name, value in os.environ.items() if name in variables}
    running = machine.start("run", "-m", MODEL, "--composition", str(composition), PROMPT)
    out, err = running.communicate(timeout=280)
    assert running.returncode == 0, (out, err)
    events = machine.events()
    lists = [event["data"]["todos"] for event in events if event["type"] == "todo/write"]
    assert lists, [event["type"] for event in events]
    assert len(lists[0]) == 3
    assert {todo["status"] for todo in lists[-1]} == {"completed"}
    if not parallel:
        assert all(sum(todo["status"] == "in_progress" for todo in written) <= 1 for written in lists)
    around = [event["type"] for event in events if event["type"] in ("assistant/message", "tool/call", "todo/write")]
    assert around.index("assistant/message") < around.index("tool/call") < around.index("todo/write")
    assert [event["data"]["reason"] for event in events if event["type"] == "turn/end"] == [{"kind": "completed"}]
