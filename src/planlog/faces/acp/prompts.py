"""Makes the text of a prompt of the blocks that an editor sends."""

from typing import Any

import msgspec

from planlog.faces.acp.codec import INVALID_PARAMS
from planlog.faces.acp.requests import RpcError


class _Text(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class _Link(msgspec.Struct, frozen=True, tag_field="type", tag="resource_link"):
    name: str
    uri: str


class _Contents(msgspec.Struct, frozen=True):
    uri: str
    text: str | None = None


class _Resource(msgspec.Struct, frozen=True, tag_field="type", tag="resource"):
    resource: _Contents


_Block = _Text | _Link | _Resource


def prompt_text(blocks: list[Any]) -> str:
    """What the model reads: texts as they are, a link by its name and address, a resource with what it holds.

    A link that stands within a sentence stays there.
    Raises `RpcError` for a block of another kind, and where there is nothing to read.
    """
    text, was_link = "", False
    for read in map(_read, blocks):
        part, is_link = _worded(read), isinstance(read, _Link)
        is_inline = (is_link or was_link) and (text[-1:].isspace() or part[:1].isspace())
        text += part if is_inline or not (text and part) else f"\n\n{part}"
        was_link = is_link
    if not text.strip():
        raise RpcError(INVALID_PARAMS, "the prompt is empty")
    return text


def _read(block: Any) -> _Block:
    kind = block.get("type") if isinstance(block, dict) else None
    try:
        return msgspec.convert(block, _Block)
    except msgspec.ValidationError as error:
        if kind in ("text", "resource_link", "resource"):
            raise RpcError(INVALID_PARAMS, f"a block of the prompt is not what its type says: {error}") from error
        known = "text, resource_link and resource"
        raise RpcError(INVALID_PARAMS, f"blocks of type {str(kind)[:40]} are not supported; {known} are") from error


def _worded(read: _Block) -> str:
    match read:
        case _Text(text=text):
            return text
        case _Link(name=name, uri=uri):
            return f"[{name}]({uri})"
        case _Resource(resource=_Contents(uri=uri, text=str(text))):
            return f"<resource uri={msgspec.json.encode(uri).decode()}>\n{text}\n</resource>"
        case _Resource(resource=resource):  # it holds bytes, which no model is given here
            return f"[{resource.uri}]"


def command_of(text: str) -> tuple[str, str] | None:
    """The name and the rest of `/name rest`; None for what is no command, such as a path."""
    if not text.startswith("/"):
        return None
    name, _, rest = text[1:].partition(" ")
    name, _, more = name.partition("\n")
    return (name, f"{more} {rest}".strip()) if name and "/" not in name else None
