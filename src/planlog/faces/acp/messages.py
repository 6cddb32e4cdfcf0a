"""What requests say and how they are answered, in version 1 of the protocol.

Fields that nobody here reads are left out: they are ignored, as `_meta` is. Optional parts that a client gets wrong
count as left out, where the official schema says so.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from planlog.faces.acp.updates import ConfigOption


class _Wire(msgspec.Struct, frozen=True, rename="camel"):
    """Names as on the wire."""


# What clients say


class Initialize(_Wire, frozen=True):
    """What the client can do is not asked: nothing of it is used."""

    protocol_version: Annotated[int, msgspec.Meta(ge=0, le=65535)]


class EnvVariable(_Wire, frozen=True):
    """One variable of a server's environment."""

    name: str
    value: str


class McpServer(_Wire, frozen=True):
    """A server of tools; one without a `type` speaks over stdio, and has a command."""

    name: str
    type: str = "stdio"
    command: str = ""
    args: list[str] | None = None
    env: list[EnvVariable] | None = None


class NewSession(_Wire, frozen=True):
    """`cwd` has to be absolute."""

    cwd: str
    mcp_servers: list[McpServer] | None


class LoadSession(_Wire, frozen=True):
    """A session to be shown from its beginning, or (resumed) to be gone on with."""

    session_id: str
    cwd: str
    mcp_servers: list[McpServer] | None = None


class ListSessions(_Wire, frozen=True):
    """`cursor` is what the page before gave as `next_cursor`."""

    cwd: str | None = None
    cursor: str | None = None


class OneSession(_Wire, frozen=True):
    """A session by its id."""

    session_id: str


class Prompt(_Wire, frozen=True):
    """The blocks are read by `prompts.prompt_text`."""

    session_id: str
    prompt: list[Any]


class SetMode(_Wire, frozen=True):
    """Chooses a mode."""

    session_id: str
    mode_id: str


class SetOption(_Wire, frozen=True):
    """Chooses a value of an option."""

    session_id: str
    config_id: str
    value: Any


class Authenticate(_Wire, frozen=True):
    """Chooses a way to authenticate, of which there are none."""

    method_id: str


class Outcome(_Wire, frozen=True):
    """What a person chose, if anything."""

    outcome: Literal["selected", "cancelled"]
    option_id: str = ""


class PermissionAnswer(_Wire, frozen=True):
    """The answer to `session/request_permission`."""

    outcome: Outcome


# What they are answered


class Mode(_Wire, frozen=True):
    """A mode that can be chosen."""

    id: str
    name: str
    description: str


class Modes(_Wire, frozen=True):
    """The mode that counts, and those there are."""

    current_mode_id: str
    available_modes: tuple[Mode, ...]


class Opened(_Wire, frozen=True, omit_defaults=True):
    """The answer to `session/new` (with an id), `session/load` and `session/resume`."""

    modes: Modes
    config_options: tuple[ConfigOption, ...]
    session_id: str | UnsetType = UNSET


class Options(_Wire, frozen=True):
    """All options as they stand now."""

    config_options: tuple[ConfigOption, ...]


class ListedSession(_Wire, frozen=True, omit_defaults=True):
    """A session in the list; `updated_at` is ISO 8601."""

    session_id: str
    cwd: str
    updated_at: str
    title: str | None = None


class ListPage(_Wire, frozen=True, omit_defaults=True):
    """A page of the list, newest activity first."""

    sessions: tuple[ListedSession, ...]
    next_cursor: str | None = None


class Stopped(_Wire, frozen=True):
    """Why a turn ended."""

    stop_reason: Literal["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"]


class Permission(_Wire, frozen=True):
    """One answer that a person can choose."""

    option_id: str
    name: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]
