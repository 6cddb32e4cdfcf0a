"""What passed between a client and the real `planlog acp`: judged, and written so that two runs read the same."""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planlog import __version__
from tests.acceptance.conftest import COMMAND, House
from tests.acp.rules import Judge

TEE = Path(__file__).parent / "tee.py"
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


@dataclass
class Recording:
    """One process of the agent, which has ended; lines and messages are in the order in which they passed."""

    kept: list[tuple[str, Any]]

    def messages(self, side: str) -> list[dict[str, Any]]:
        """What the `client` or the `agent` sent."""
        return [json.loads(line) for of, line in self.kept if of == side]

    def updates(self, *kinds: str) -> list[dict[str, Any]]:
        """The updates that the agent sent, perhaps only those of some kinds."""
        told = [one["params"]["update"] for one in self.messages("agent") if one.get("method") == "session/update"]
        return [update for update in told if not kinds or update["sessionUpdate"] in kinds]

    def session(self) -> str:
        """The id of the session, the only one that this process was asked to make or load."""
        asked = [one["params"] for one in self.messages("client") if one.get("method") == "session/load"]
        made = [one["result"] for one in self.messages("agent") if "sessionId" in one.get("result", {})]
        (session,) = {one["sessionId"] for one in (*asked, *made)}
        return session

    def names(self, more: dict[str, str]) -> dict[str, str]:
        """What differs from run to run or from release to release, with the names that it gets in a transcript."""
        return {
            self.session(): "SESSION",
            f'"planlog", "version": "{__version__}"': '"planlog", "version": "VERSION"',
            **{update["messageId"]: "MESSAGE" for update in self.updates("user_message_chunk")},
            **more,
        }

    def faults(self) -> list[str]:
        """What the agent has done wrong, from its first line to its end."""
        judge = Judge()
        for side, value in self.kept:
            if side == "client":
                judge.sent(json.loads(value))
            elif side == "agent":
                judge.received(value.encode(errors="surrogateescape").removesuffix(b"\n"))
        unanswered = [f"{method} was not answered" for method in judge.unanswered()]
        ended = [] if self.kept[-1] == ("ended", 0) else [f"the end was {self.kept[-1]}"]
        return [*judge.faults, *unanswered, *ended]

    def transcript(self, names: dict[str, str]) -> str:
        """All lines by sides, for how the two interleave is a matter of chance; `names` are told for what differs."""
        parts: list[str] = []
        for side in ("client", "agent"):
            lines = [json.dumps(message, ensure_ascii=False) for message in self.messages(side)]
            parts += [f"# {side}", *(neutral(line, names) for line in lines)]
        return "".join(f"{line}\n" for line in parts)


def agent_command(house: House, model: str, record: Path) -> list[str]:
    """Runs `planlog acp` with what passes kept in `record`."""
    return [sys.executable, str(TEE), str(record), *COMMAND, "acp", "-m", model]


def recorded(record: Path) -> list[Recording]:
    """What was kept of the processes that ran one after the other; what has not ended is a fault of the last one."""
    recordings: list[Recording] = []
    for side, value in map(json.loads, record.read_text().splitlines()):
        if not recordings or recordings[-1].kept[-1][0] == "ended":
            recordings.append(Recording([]))
        recordings[-1].kept.append((side, value))
    return recordings


def neutral(text: str, names: dict[str, str]) -> str:
    """The text with times and with what `names` names replaced."""
    for what, name in names.items():
        text = text.replace(what, name)
    return TIME.sub("TIME", text)
