"""The first line of a log's file: which session this is, in which format."""

import re
import secrets
from typing import Any

import msgspec

from planlog.kernel.errors import PlanlogError
from planlog.log.event import Int64

FORMAT_VERSION = 0
"""The dsh log format; see docs/decisions for what it promises."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class HeaderRefused(PlanlogError):
    """The first line is not a session header that this program can read."""


class Header(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Fields as dsh writes them; `created_at` is epoch milliseconds, `cwd` an absolute path."""

    type: str
    version: int
    id: str
    created_at: Int64
    cwd: str = ""
    parent_session: str | None = None
    seed_length: int | None = None
    origin: str | None = None
    delegation_depth: int | None = None
    agent_preset: Any = None


def new_id() -> str:
    """Ten letters and digits that are hard to confuse; 50 random bits."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def valid_id(text: str) -> bool:
    """Whether `text` may be a session id: the strict pattern that is checked before storage is touched."""
    return _ID.fullmatch(text) is not None


def write_header(session: str, created_at: int, cwd: str) -> bytes:
    """The header line of a new session."""
    header = Header("session", FORMAT_VERSION, session, created_at, cwd, delegation_depth=0)
    return msgspec.json.encode(header)


def read_header(line: bytes) -> Header:
    """The header in `line`. Raises `HeaderRefused` that says whether a newer or an older program wrote it."""
    try:
        header = msgspec.json.decode(line, type=Header)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise HeaderRefused(f"the first line is not a session header: {error}") from error
    if header.type != "session":
        raise HeaderRefused(f'the first line is not a session header: its type is "{header.type}"')
    if header.version > FORMAT_VERSION:
        raise HeaderRefused(f"written by a newer program (log format {header.version}); update planlog to read it")
    if header.version < FORMAT_VERSION:
        raise HeaderRefused(f"written by an older program (log format {header.version}), no upgrade path")
    if not valid_id(header.id):
        raise HeaderRefused(f"the session id {header.id!r} is not one that can be kept")
    return header
