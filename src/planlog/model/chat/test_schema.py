"""Tool schemas for those who refuse what they do not know."""

from typing import Any

from planlog.model.chat.schema import plain_schema

ITEM = {
    "type": "object",
    "properties": {
        "additionalProperties": {"type": "string", "description": "An odd name.", "minLength": 1},
        "status": {"type": "string", "enum": ["b", "a"]},
    },
    "required": ["status"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "$schema": "x",
    "type": "object",
    "properties": {"rows": {"type": "array", "items": ITEM, "uniqueItems": True}},
    "required": ["rows"],
    "additionalProperties": False,
    "propertyNames": {"pattern": "x"},
}


def test_a_plain_schema_has_no_keyword_but_the_allowed_at_any_depth() -> None:
    before = repr(SCHEMA)
    assert plain_schema(SCHEMA) == {
        "type": "object",
        "properties": {
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "additionalProperties": {"type": "string", "description": "An odd name."},
                        "status": {"type": "string", "enum": ["b", "a"]},
                    },
                    "required": ["status"],
                },
            }
        },
        "required": ["rows"],
    }
    assert repr(SCHEMA) == before


def test_schemas_that_others_wrote_may_be_no_objects() -> None:
    odd = {"type": "object", "properties": {"a": True, "b": {"type": "array", "items": [{"type": "string"}]}}}
    assert plain_schema(odd) == {"type": "object", "properties": {"a": {}, "b": {"type": "array", "items": {}}}}
