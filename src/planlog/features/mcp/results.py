"""What a server's tool has answered, as the text that the model reads."""

import json
from collections.abc import Iterator
from typing import Any

from planlog.tools.tool import ToolFailure


def result_text(result: dict[str, Any]) -> str:
    """The text of a `CallToolResult` in JSON; what is no text is named in brackets.

    Raises `ToolFailure` with that text where the server says that the call has failed.
    """
    text = "\n".join(_parts(result)) or "[no output]"
    if result.get("isError"):
        raise ToolFailure(text)
    return text


def _parts(result: dict[str, Any]) -> Iterator[str]:
    content: list[dict[str, Any]] = result.get("content") or []
    yield from map(_part, content)
    # A server that speaks of structured content is asked to repeat it as text; not all do.
    if "structuredContent" in result and not any(block["type"] == "text" for block in content):
        yield json.dumps(result["structuredContent"], ensure_ascii=False)


def _part(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": text}:
            return text
        case {"type": "resource", "resource": {"text": text}}:
            return text
        case {"type": "resource", "resource": {"uri": uri}}:
            return f"[the resource {uri}, which is no text]"
        case {"type": "resource_link", "uri": uri}:
            return f"[the resource {uri}]"
        case {"type": "image"}:
            return "[an image, which cannot be shown here]"
        case {"type": "audio"}:
            return "[a recording, which cannot be played here]"
        case _:
            return f"[{block.get('type')}, which cannot be shown here]"
