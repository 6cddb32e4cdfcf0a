"""A client on the raw wire: it sends what a test wants to the real program, and keeps and judges every line of it."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.acp.rules import Judge

PATIENCE = 20.0
"""Seconds that a test waits for a line."""
Permit = Callable[[dict[str, Any]], "dict[str, Any] | None"]
"""Answers a permission request, given its params: the outcome, None for no answer."""


def allow(params: dict[str, Any]) -> dict[str, Any] | None:
    """Allows a call once."""
    return {"outcome": "selected", "optionId": "allow"}


class Wire:
    """`lines` are all messages that the program has written so far, in order."""

    def __init__(self, process: "subprocess.Popen[bytes]", permit: Permit | None = allow) -> None:
        self.process = process
        self.permit = permit
        self.lines: list[dict[str, Any]] = []
        self.judge = Judge()
        self._count = 0
        self._news = threading.Condition()
        self._ended = False
        self._reading = threading.Event()
        self._reading.set()
        self._resting = threading.Event()
        self._sending = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    # Sending

    def send_bytes(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        with self._sending:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def send(self, message: Any) -> None:
        """Sends one message."""
        with self._news:
            self.judge.sent(message)
        self.send_bytes(json.dumps(message).encode() + b"\n")

    def request(self, method: str, **params: Any) -> int:
        """Sends a request; returns its id."""
        self._count += 1
        self.send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return self._count

    def notify(self, method: str, **params: Any) -> None:
        """Sends a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    # Waiting

    def until(self, found: Callable[[list[dict[str, Any]]], Any], within: float = PATIENCE) -> Any:
        """What `found` makes of all lines, as soon as that is true."""
        deadline = time.monotonic() + within
        with self._news:
            while True:
                if what := found(self.lines):
                    return what
                left = deadline - time.monotonic()
                if left <= 0 or self._ended:
                    raise AssertionError(f"waited in vain; the last lines are {self.lines[-5:]}")
                self._news.wait(left)

    def answer(self, id: Any, within: float = PATIENCE) -> dict[str, Any]:
        """The answer to the request `id`, result or error."""
        return self.until(
            lambda lines: next((one for one in lines if is_answer(one) and one["id"] == id), None), within
        )

    def result(self, id: Any) -> dict[str, Any]:
        """The result of the request `id`, which has to have succeeded."""
        answer = self.answer(id)
        assert "result" in answer, answer
        return answer["result"]

    def error(self, id: Any) -> dict[str, Any]:
        """The error of the request `id`, which has to have failed."""
        answer = self.answer(id)
        assert "error" in answer, answer
        return answer["error"]

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Sends a request and waits for its result."""
        return self.result(self.request(method, **params))

    def fails(self, method: str, **params: Any) -> int:
        """Sends a request and waits for its error; returns the code."""
        return self.error(self.request(method, **params))["code"]

    def asked(self, method: str = "session/request_permission") -> dict[str, Any]:
        """The last request of the program of that method, as soon as there is one."""
        return self.until(lambda lines: next((one for one in reversed(lines) if one.get("method") == method), None))

    # What the protocol is about

    def initialize(self, **capabilities: Any) -> dict[str, Any]:
        """Begins the connection."""
        return self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)

    def open(self, folder: Any, **more: Any) -> str:
        """A new session in the folder; its id."""
        return self.call("session/new", cwd=str(folder), mcpServers=[], **more)["sessionId"]

    def load(self, session: str, folder: Any) -> dict[str, Any]:
        """Loads a session."""
        return self.call("session/load", sessionId=session, cwd=str(folder), mcpServers=[])

    def begin_prompt(self, session: str, text: str = "go") -> int:
        """Sends a prompt; the id of its request."""
        return self.request("session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def prompt(self, session: str, text: str = "go") -> str:
        """Sends a prompt and waits for the reason why its turn stopped."""
        return self.result(self.begin_prompt(session, text))["stopReason"]

    def updates(self, session: str, *kinds: str, since: int = 0) -> list[dict[str, Any]]:
        """All updates of the session from the line `since` on, perhaps only those of some kinds."""
        with self._news:
            told = [
                one["params"]["update"]
                for one in self.lines[since:]
                if one.get("method") == "session/update" and one["params"]["sessionId"] == session
            ]
        return [update for update in told if not kinds or update["sessionUpdate"] in kinds]

    def plans(self, session: str, since: int = 0) -> list[list[tuple[str, str]]]:
        """All plans that were told, each as (content, status)."""
        plans = self.updates(session, "plan", since=since)
        return [[(entry["content"], entry["status"]) for entry in plan["entries"]] for plan in plans]

    def text(self, session: str, kind: str = "agent_message_chunk", since: int = 0) -> str:
        """What was said, in one piece."""
        return "".join(chunk["content"]["text"] for chunk in self.updates(session, kind, since=since))

    def kinds(self, session: str, since: int = 0) -> list[str]:
        """The kinds of all updates of the session."""
        return [update["sessionUpdate"] for update in self.updates(session, since=since)]

    def mark(self) -> int:
        """Where the next line will be."""
        with self._news:
            return len(self.lines)

    # Ending

    def pause(self) -> None:
        """Stops reading, as a client does that is stuck."""
        self._reading.clear()

    def go_on(self) -> None:
        """Reads again."""
        self._reading.set()

    def hang_up(self) -> None:
        """Reads no more, ever: what the program writes from now on goes nowhere."""
        assert self.process.stdout is not None
        self._reading.clear()
        self.request("session/list")  # for the reader to wake up at
        while not self._resting.wait(0.01):
            pass
        self._ended = True
        self.process.stdout.close()

    def close(self, within: float = 5.0) -> int:
        """Closes the program's stdin and waits for its end; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(within)
        self._reader.join(within)
        return code

    def terminate(self, within: float = 5.0) -> int:
        """Ends the program by a signal; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(within)
        self._reader.join(within)
        return code

    def stop(self) -> None:
        """Kills what is left, at the end of a test, and tells what the program has done wrong."""
        self._reading.set()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        assert self.judge.faults == [], self.judge.faults

    def _read(self) -> None:
        assert self.process.stdout is not None
        descriptor, rest = self.process.stdout.fileno(), b""
        while self._may_read() and (data := os.read(descriptor, 1 << 16)):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._take(line)
        with self._news:
            if rest:
                self.judge.faults.append(f"the last line has no end: {rest[:200]!r}")
            self._ended = True
            self._news.notify_all()

    def _may_read(self) -> bool:
        if not self._reading.is_set():
            self._resting.set()
            self._reading.wait()
            self._resting.clear()
        return not self._ended

    def _take(self, line: bytes) -> None:
        with self._news:
            message = self.judge.received(line)
            if message is not None:
                self.lines.append(message)
            self._news.notify_all()
        if isinstance(message, dict) and message.get("method") == "session/request_permission" and self.permit:
            outcome = self.permit(message["params"])
            if outcome is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}})


def is_answer(message: dict[str, Any]) -> bool:
    """Whether it answers a request of the client."""
    return "method" not in message
