"""Stands between a client and an agent: hands on every byte, and keeps each line with the side that it came from.

`python tee.py RECORD COMMAND...` runs the command. RECORD gets JSON lines: `["client", LINE]`, `["agent", LINE]` and,
at the end, `["ended", EXIT CODE]`. A line is kept before it is handed on, so an answer stands below its question.
"""

import json
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO

PATIENCE = 10.0
"""Seconds that the agent has to end after its stdin was closed."""


class Record:
    """Both sides write to it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a")
        self._writing = threading.Lock()

    def keep(self, what: str, value: object) -> None:
        """Adds a line, at once."""
        with self._writing:
            self._file.write(json.dumps([what, value]) + "\n")
            self._file.flush()


def hand_on(side: str, source: IO[bytes], sink: IO[bytes], record: Record) -> None:
    """Reads lines to the end of the source; closes the sink then."""
    for line in iter(source.readline, b""):
        record.keep(side, line.decode(errors="surrogateescape"))
        try:
            sink.write(line)
            sink.flush()
        except BrokenPipeError:  # nobody reads any more, but the record goes on
            continue
    with suppress(BrokenPipeError):
        sink.close()


def kill_late(sent: threading.Thread, agent: "subprocess.Popen[bytes]") -> None:
    """Kills an agent that does not end although nobody will ask it anything more."""
    sent.join()
    try:
        agent.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        agent.kill()


def main(record: Record, command: list[str]) -> int:
    """Runs the command between this process's stdin and stdout; its exit code."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        signal.signal(signal.SIGTERM, lambda number, _: agent.send_signal(number))
        told = threading.Thread(target=hand_on, args=("agent", agent.stdout, sys.stdout.buffer, record), daemon=True)
        sent = threading.Thread(target=hand_on, args=("client", sys.stdin.buffer, agent.stdin, record), daemon=True)
        late = threading.Thread(target=kill_late, args=(sent, agent), daemon=True)
        for thread in (told, sent, late):
            thread.start()
        agent.wait()
        told.join()
        record.keep("ended", agent.returncode)
    return agent.returncode


if __name__ == "__main__":
    raise SystemExit(main(Record(Path(sys.argv[1])), sys.argv[2:]))
