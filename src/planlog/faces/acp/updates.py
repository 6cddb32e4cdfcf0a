"""What an editor is told of a session: the variants of `session/update` that planlog sends, as in the official schema.

Every field that is left out is at its default, which the protocol reads as "unchanged" or "none".
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

ToolKind = Literal["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]
ToolStatus = Literal["pending", "in_progress", "completed", "failed"]
PlanStatus = Literal["pending", "in_progress", "completed"]


class _Wire(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Names as on the wire."""


# Content


class TextBlock(_Wire, frozen=True, tag_field="type", tag="text"):
    """Text, shown as Markdown."""

    text: str


class ContentItem(_Wire, frozen=True, tag_field="type", tag="content"):
    """Text that belongs to a call."""

    content: TextBlock


class DiffItem(_Wire, frozen=True, tag_field="type", tag="diff"):
    """A change of the file `path` (absolute), whole or in part; `old_text` None: the file is new."""

    path: str
    new_text: str
    old_text: str | None = None


CallContent = ContentItem | DiffItem


class Location(_Wire, frozen=True):
    """A place that a call is about: `path` is absolute, `line` counts from 1."""

    path: str
    line: int | None = None


class Card(msgspec.Struct, frozen=True):
    """What a feature shows of a call beside its title: with its result when there is one, see `renders.Call`."""

    content: tuple[CallContent, ...] = ()
    locations: tuple[Location, ...] = ()


def text_item(text: str) -> ContentItem:
    """Text that belongs to a call."""
    return ContentItem(TextBlock(text))


# Updates


class UserChunk(_Wire, frozen=True, tag_field="sessionUpdate", tag="user_message_chunk"):
    """Something that was said to the agent; chunks of one message share its id."""

    content: TextBlock
    message_id: str


class AgentChunk(_Wire, frozen=True, tag_field="sessionUpdate", tag="agent_message_chunk"):
    """Something that the agent says."""

    content: TextBlock
    message_id: str


class ThoughtChunk(_Wire, frozen=True, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    """Something that the model thinks."""

    content: TextBlock
    message_id: str


class ToolCallBegun(_Wire, frozen=True, tag_field="sessionUpdate", tag="tool_call"):
    """A call that the editor has not heard of before."""

    tool_call_id: str
    title: str
    kind: ToolKind
    status: ToolStatus
    name: str | None = None
    content: tuple[CallContent, ...] = ()
    locations: tuple[Location, ...] = ()
    raw_input: Any = UNSET


class ToolCallChanged(_Wire, frozen=True, tag_field="sessionUpdate", tag="tool_call_update"):
    """What has changed about a call; `content` and `locations` replace what was there."""

    tool_call_id: str
    status: ToolStatus | UnsetType = UNSET
    content: tuple[CallContent, ...] | UnsetType = UNSET
    locations: tuple[Location, ...] | UnsetType = UNSET


class PlanEntry(msgspec.Struct, frozen=True):
    """One item of a plan. The protocol wants a priority, which ours have not: all are medium."""

    content: str
    status: PlanStatus
    priority: Literal["medium"] = "medium"


class PlanUpdate(msgspec.Struct, frozen=True, tag_field="sessionUpdate", tag="plan"):
    """The whole plan, which replaces the one shown; without entries it clears it."""

    entries: tuple[PlanEntry, ...]


class CommandInput(_Wire, frozen=True):
    """What may stand behind a command's name."""

    hint: str


class CommandOffered(_Wire, frozen=True):
    """A command that can be typed as `/name`."""

    name: str
    description: str
    input: CommandInput | None = None


class CommandsUpdate(
    msgspec.Struct, frozen=True, rename="camel", tag_field="sessionUpdate", tag="available_commands_update"
):
    """All commands there are now."""

    available_commands: tuple[CommandOffered, ...]


class ModeUpdate(_Wire, frozen=True, tag_field="sessionUpdate", tag="current_mode_update"):
    """Another mode counts from here on."""

    current_mode_id: str


class ConfigUpdate(_Wire, frozen=True, tag_field="sessionUpdate", tag="config_option_update"):
    """All options as they stand now."""

    config_options: "tuple[ConfigOption, ...]"


class SessionInfo(_Wire, frozen=True, tag_field="sessionUpdate", tag="session_info_update"):
    """What the session is called now, None: nothing; and when it last changed, ISO 8601."""

    title: str | UnsetType | None = UNSET
    updated_at: str | UnsetType | None = UNSET


class UsageUpdate(msgspec.Struct, frozen=True, tag_field="sessionUpdate", tag="usage_update"):
    """How many tokens of the model's context are used, of how many."""

    used: int
    size: int


Update = (
    UserChunk
    | AgentChunk
    | ThoughtChunk
    | ToolCallBegun
    | ToolCallChanged
    | PlanUpdate
    | CommandsUpdate
    | ModeUpdate
    | ConfigUpdate
    | SessionInfo
    | UsageUpdate
)


# Options


class OptionValue(_Wire, frozen=True):
    """One thing that can be chosen."""

    value: str
    name: str
    description: str | None = None


class ConfigOption(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="type", tag="select"):
    """Something that a person chooses one value of; `category` tells editors where it belongs."""

    id: str
    name: str
    current_value: str
    options: tuple[OptionValue, ...]
    category: str
    description: str | None = None
