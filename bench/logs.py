"""Logs to measure on: made once, in the shapes that real turns have."""

import json
from pathlib import Path

from planlog.log.store import Row, SessionRecord, Store

BATCH = 5000


def turn_lines(first_seq: int, turn: int) -> list[tuple[str, bytes]]:
    """The twenty events of a turn in which a list is written twice and two commands run."""
    todos = [{"content": f"step {n} of the work at hand", "status": "pending"} for n in range(8)]
    step = {"turn": turn, "step": 1}
    text = "A sentence of the kind that models write between two calls. " * 4

    def call(name: str, number: int) -> list[tuple[str, dict[str, object]]]:
        id = f"c{turn}-{number}"
        arguments = json.dumps({"todos": todos} if name == "todo_write" else {"command": "make test"})
        blocks = [{"type": "text", "text": text}, {"type": "tool-call", "id": id, "name": name, "arguments": arguments}]
        source = {"kind": "model", "provider": "script", "model": "bench"}
        said = {"id": f"m{id}", "role": "assistant", "source": source, "content": blocks}
        result = {
            "type": "tool-result",
            "toolCallId": id,
            "content": [{"type": "text", "text": text}],
            "isError": False,
        }
        answer = {"id": f"r{id}", "role": "user", "source": {"kind": "tool", "callId": id}, "content": [result]}
        written = [("todo/write", {"todos": todos})] if name == "todo_write" else []
        return [
            ("assistant/message", {**step, "message": said}),
            ("tool/call", {**step, "callId": id, "name": name, "arguments": arguments}),
            *written,
            ("tool/result", {**step, "message": answer}),
        ]

    user = {"id": f"u{turn}", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]}
    facts: list[tuple[str, dict[str, object]]] = [
        ("turn/start", {"turn": turn}),
        ("step/start", step),
        ("user/message", user),
        *call("todo_write", 1),
        *call("bash", 2),
        *call("todo_write", 3),
        *call("bash", 4),
        ("step/end", step),
        ("turn/end", {"turn": turn, "reason": {"kind": "completed"}}),
    ]
    lines = []
    for offset, (name, data) in enumerate(facts):
        surface = ',"surfaceOp":"append"' if name in ("user/message", "assistant/message", "tool/result") else ""
        body = json.dumps(data, separators=(",", ":"))
        line = f'{{"type":"{name}","seq":{first_seq + offset},"time":1700000000000,"data":{body}{surface}}}'
        lines.append((name, line.encode()))
    return lines


async def fill(store: Store, session: str, events: int, cwd: Path) -> int:
    """A session of at least `events` events in whole turns; returns how many it has."""
    header = b'{"type":"session","version":0,"id":"%b","createdAt":0,"cwd":"/"}' % session.encode()
    await store.create(SessionRecord(session, 0, str(cwd), header, 0, 0))
    lease = await store.acquire(session)
    rows: list[Row] = []
    seq = turn = 0
    while seq < events:
        turn += 1
        for name, line in turn_lines(seq, turn):
            rows.append(Row(seq, name, 1700000000000, line))
            seq += 1
        if len(rows) >= BATCH or seq >= events:
            await store.append(session, rows, lease=lease)
            rows = []
    await lease.release()
    return seq
