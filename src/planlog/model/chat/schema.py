"""Tool schemas for vendors that refuse what they do not know."""

from typing import Any

_KEYWORDS = ("type", "description", "enum", "items", "properties", "required")


def plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A copy with the keywords that every vendor takes and no others, at every depth; names of properties all stay.

    A list of what is allowed outlives one of what is refused: the vendors' subsets differ and change.
    """
    copy = {key: value for key, value in schema.items() if key in _KEYWORDS}
    if "properties" in copy:
        copy["properties"] = {name: _plain(child) for name, child in copy["properties"].items()}
    if "items" in copy:
        copy["items"] = _plain(copy["items"])
    return copy


def _plain(schema: Any) -> dict[str, Any]:
    # Schemas that others wrote may be just `true`, or a list of one for each place.
    return plain_schema(schema) if isinstance(schema, dict) else {}
