"""The run that faults are thrown at: a prompt, three lists, a command between them, an answer."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

LISTS = [
    [{"content": "look around", "status": "in_progress"}, {"content": "tidy up", "status": "pending"}],
    [{"content": "look around", "status": "completed"}, {"content": "tidy up", "status": "in_progress"}],
    [{"content": "look around", "status": "completed"}, {"content": "tidy up", "status": "completed"}],
]

CARELESS = """
import sys
import planlog.log.store.sqlite as sqlite
for name, module in list(sys.modules.items()):
    if name.startswith("planlog.log.store") and hasattr(module, "SYNCHRONOUS"):
        module.SYNCHRONOUS = "OFF"
from planlog.app.main import main
sys.exit(main())
"""


@dataclass(frozen=True)
class Scene:
    """A folder with a script and a home, and the command that plays it."""

    folder: Path
    home: Path
    command: list[str]

    @property
    def files(self) -> list[Path]:
        """Where the database writes."""
        return [self.home / f"planlog.db{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]

    def run(self) -> subprocess.CompletedProcess[str]:
        """The run without faults."""
        return subprocess.run(
            self.command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=self.folder,
            timeout=60,
            check=False,
        )

    def stored_events(self) -> list[dict[str, Any]]:
        """What is in the database, read without planlog."""
        connection = apsw.Connection(str(self.home / "planlog.db"))
        lines = connection.execute("SELECT line FROM event ORDER BY session, seq").fetchall()
        connection.close()
        return [json.loads(line) for (line,) in lines if isinstance(line, bytes)]


def make_scene(folder: Path) -> Scene:
    """The scene in `folder`, with an empty home."""
    replies: list[dict[str, Any]] = [
        {"tool_calls": [{"name": "todo_write", "arguments": {"todos": LISTS[0]}}]},
        {
            "text": "First I look around.",
            "tool_calls": [
                {"name": "bash", "arguments": {"command": "true"}},
                {"name": "todo_write", "arguments": {"todos": LISTS[1]}},
            ],
        },
        {"tool_calls": [{"name": "todo_write", "arguments": {"todos": LISTS[2]}}]},
        {"text": "All done."},
    ]
    script = folder / "script.jsonl"
    script.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    home = folder / "home"
    options = ["--home", str(home), "-m", f"script:{script}", "--approve", "auto", "--json"]
    return Scene(folder, home, [sys.executable, "-m", "planlog", "run", *options, "tidy up here"])
