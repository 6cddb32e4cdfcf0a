"""Answers `initialize` at once, before what a session needs is imported: editors start agents while people wait."""

import os
import select
from typing import Any

import msgspec

from planlog import __version__
from planlog.faces.acp.codec import INTERNAL_ERROR, MAX_LINE, Request, error_line, read_message, result_line
from planlog.faces.acp.messages import Initialize
from planlog.faces.acp.stdio import write_all
from planlog.tools.lines import Lines

VERSION = 1
LONGEST = 1 << 20
"""Bytes in which the first line has to end to be answered here."""
CHUNK = 1 << 16
REFUSE_SECONDS = 2.0
"""How long a program that cannot serve waits for the request whose answer says why."""


def say_hello(inlet: int, outlet: int) -> tuple[bytes, bool]:
    """Waits for the first line and answers it if it is a good `initialize`.

    Returns the bytes that were read and not answered, and whether it was. Everything else about the first line is for
    the connection to say.
    """
    data = b""
    while b"\n" not in data and len(data) < LONGEST:
        try:
            more = os.read(inlet, CHUNK)
        except OSError:
            break
        if not more:
            break
        data += more
    line, _, rest = data.partition(b"\n")
    message = read_message(line)
    if not isinstance(message, Request) or message.method != "initialize":
        return data, False
    try:
        msgspec.json.decode(message.params, type=Initialize)
    except (msgspec.MsgspecError, RecursionError):
        return data, False
    write_all(outlet, result_line(message.id, greeting()))
    return rest, True


def say_no(inlet: int, outlet: int, read: bytes, reason: str) -> None:
    """Answers what was asked since the greeting with why nothing can be served: editors show no stderr."""
    lines, data = Lines(MAX_LINE), read
    while True:
        for line in lines.feed(data):
            if isinstance(message := read_message(line), Request):
                write_all(outlet, error_line(message.id, INTERNAL_ERROR, reason))
        if not select.select([inlet], [], [], REFUSE_SECONDS)[0]:
            return
        data = os.read(inlet, CHUNK)
        if not data:
            return


def greeting() -> dict[str, Any]:
    """What planlog is and can do, whatever the client can."""
    return {
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": False, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": False, "sse": False},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}},
        },
        "agentInfo": {"name": "planlog", "title": "planlog", "version": __version__},
        "authMethods": [],
    }
