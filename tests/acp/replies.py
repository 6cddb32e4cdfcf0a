"""What the scripted model replies in these tests, and what tests ask of the wire and the machine."""

import json
from pathlib import Path
from typing import Any

from tests.acceptance.conftest import House
from tests.acp.wire import Wire, is_answer

PLAN = [{"content": "read", "status": "in_progress"}, {"content": "write", "status": "pending"}]
TOLD = [("read", "in_progress"), ("write", "pending")]
DONE = {"text": "Done."}


def writes(*todos: dict[str, str], text: str = "On it.", **more: Any) -> dict[str, Any]:
    """A reply that writes a plan."""
    return {"text": text, "tool_calls": [{"name": "todo_write", "arguments": {"todos": list(todos)}}], **more}


def runs(command: str, **more: Any) -> dict[str, Any]:
    """A reply that runs a command."""
    return {"text": "Running.", "tool_calls": [{"name": "bash", "arguments": {"command": command}}], **more}


def line(message: Any) -> bytes:
    """A message as bytes."""
    return json.dumps(message).encode() + b"\n"


def answers(wire: Wire) -> list[dict[str, Any]]:
    """All answers so far."""
    return [one for one in wire.lines if is_answer(one)]


def is_alive(marker: str) -> bool:
    """Whether a process runs whose command line holds `marker`."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker.encode() in (entry / "cmdline").read_bytes():
                return True
        except OSError:
            continue
    return False


def one_step(house: House, without: str = "") -> str:
    """The shipped composition, but each turn has one step only, and there is no row of the id `without`."""
    return other(house, "max_steps = 200", "max_steps = 1", without=without)


def other(house: House, setting: str, by: str, without: str = "") -> str:
    """The shipped composition with one setting replaced, and without the row of the id `without`."""
    shipped = Path(__file__).parents[2] / "src" / "planlog" / "app" / "compositions" / "acp.toml"
    composition = house.folder.parent / "other.toml"
    text = shipped.read_text()
    assert setting in text
    head, *rows = text.replace(setting, by).split("[[plugin]]")
    kept = [row for row in rows if not row.startswith(f'\nid = "{without}"\n')]
    composition.write_text("[[plugin]]".join([head, *kept]))
    return str(composition)
