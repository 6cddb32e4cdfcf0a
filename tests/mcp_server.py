"""An MCP server over stdio for tests, written without any SDK: `python mcp_server.py [MODE]`.

`silent` answers nothing, `junk` prints what is no message, `dying` ends at once, `stubborn` ignores TERM and the end of
its input, `odd` lists tools that cannot be offered, `restless` does that again and again, `strange` gives answers that
are none, `asking` asks and never listens; without a mode it does what is asked.
"""

import itertools
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

NOTHING = {"type": "object"}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "say",
        "description": "Says it again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    {"name": "fail", "description": "Fails.", "inputSchema": NOTHING},
    {"name": "refuse", "description": "Answers with an error.", "inputSchema": NOTHING},
    {"name": "wait", "description": "Waits until it is cancelled.", "inputSchema": NOTHING},
    {"name": "grow", "description": "Learns to shrink.", "inputSchema": NOTHING},
    {"name": "die", "description": "Ends the server.", "inputSchema": NOTHING},
    {"name": "environ", "description": "Tells about the server.", "inputSchema": NOTHING},
]
ODD: list[dict[str, Any]] = [
    {"name": "say", "inputSchema": NOTHING},
    {"name": "say", "inputSchema": NOTHING},
    {"name": "long", "inputSchema": {"type": "object", "description": "x" * 30_000}},
]


STRANGE = {
    "cut": '{"content":[{"type":"text","text":"an emoji: \\ud83d"}]}',
    "nothing": "null",
    "huge": f'{{"content":[],"structuredContent":{"9" * 5000}}}',
    "endless": '{"content":[],"structuredContent":{"a":[1,Infinity]}}',
}


def write(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": said}], **more}


def call(id: Any, name: str, arguments: dict[str, Any]) -> None:
    match name:
        case "say":
            write(id=id, result=text(f"said: {arguments['text']}"))
        case "fail":
            write(id=id, result=text("it went wrong", isError=True))
        case "refuse":
            write(id=id, error={"code": -32000, "message": "not today"})
        case "wait":
            Path("waiting").touch()
        case "grow":
            TOOLS.append({"name": "shrink", "description": "Is new.", "inputSchema": NOTHING})
            write(method="notifications/tools/list_changed")
            write(id=id, result=text("grown"))
        case "die":
            os._exit(3)
        case "environ":
            told = {"cwd": str(Path.cwd()), "pid": os.getpid(), "GREETING": os.environ.get("GREETING")}
            write(id=id, result={"content": [], "structuredContent": told})


def serve(mode: str) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        id = message.get("id")
        match message.get("method"):
            case _ if mode == "silent":
                pass
            case "initialize":
                version = message["params"]["protocolVersion"]
                capabilities = {"tools": {"listChanged": True}}
                info = {"name": "test", "version": "1"}
                write(id=id, result={"protocolVersion": version, "capabilities": capabilities, "serverInfo": info})
            case "tools/list" if mode == "strange":
                write(id=id, result={"tools": [{"name": name, "inputSchema": NOTHING} for name in STRANGE]})
            case "tools/call" if mode == "strange":
                result = STRANGE[message["params"]["name"]]
                sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id},"result":{result}}}\n')
                sys.stdout.flush()
            case "tools/list":
                with Path("listed").open("a") as listed:
                    listed.write("+")
                write(id=id, result={"tools": ODD if mode in ("odd", "restless") else TOOLS})
                if mode == "restless":
                    write(method="notifications/tools/list_changed")
                for number in itertools.count() if mode == "asking" else ():
                    write(id=number, method="ping")
            case "tools/call":
                call(id, message["params"]["name"], message["params"].get("arguments") or {})
            case "notifications/cancelled":
                Path("cancelled").touch()


if __name__ == "__main__":
    mode = sys.argv[1] if len(sys.argv) > 1 else ""
    Path(f"started{mode and '-'}{mode}").write_text(str(os.getpid()))
    if mode == "dying":
        sys.exit(3)
    if mode == "junk":
        sys.stdout.write("hello, I am a server\n")
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(mode)
    while mode == "stubborn":
        time.sleep(1)
