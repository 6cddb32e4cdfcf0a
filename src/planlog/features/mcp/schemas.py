"""Schemas as programs write them, in the words that every provider takes: each thing stands where it is used."""

from collections.abc import Mapping
from typing import Any, cast

MOST = 2_000
"""Parts of a schema after everything was put in its place: references can make an endless thing of a short text."""
_ELSEWHERE = ("$defs", "definitions", "$schema", "$id")

Json = dict[str, Any]


class _Endless(Exception):
    """There would be no end of it."""


def inlined(schema: Json) -> Json:
    """The schema without references, and without choices between one thing and null.

    What refers to itself is told only once; {} where there is no end of it.
    """
    try:
        return _Inlining(schema).value(schema)
    except _Endless:
        return {}


class _Inlining:
    def __init__(self, root: Json) -> None:
        self._root = root
        self._open: list[str] = []
        self._count = 0

    def value(self, value: Any) -> Any:
        self._count += 1
        if self._count > MOST:
            raise _Endless
        if isinstance(value, list):
            return [self.value(one) for one in cast(list[Any], value)]
        if not isinstance(value, dict):
            return value
        schema = cast(Json, value)
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._referred(reference, {key: one for key, one in schema.items() if key != "$ref"})
        if chosen := _only_choice(schema):
            keyword, branch = chosen
            return self.value({**branch, **{key: one for key, one in schema.items() if key != keyword}})
        return {
            # Names of properties are no keywords.
            key: {name: self.value(one) for name, one in cast(Json, part).items()}
            if key == "properties" and isinstance(part, dict)
            else self.value(part)
            for key, part in schema.items()
            if key not in _ELSEWHERE
        }

    def _referred(self, reference: str, beside: Json) -> Any:
        if reference in self._open or len(self._open) > 20:
            return self.value(beside)
        self._open.append(reference)
        try:
            return self.value({**self._found(reference), **beside})
        finally:
            self._open.pop()

    def _found(self, reference: str) -> Json:
        """What `#/a/b` points to in the same schema; {} where that is nothing."""
        at: Any = self._root
        if not reference.startswith("#"):
            return {}
        for part in reference[1:].strip("/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            at = cast(Mapping[str, Any], at).get(name) if isinstance(at, dict) else None
        return cast(Json, at) if isinstance(at, dict) else {}


def _only_choice(schema: Json) -> tuple[str, Json] | None:
    """The keyword of a choice, and what is left of it when nothing may be chosen, if that is one thing."""
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            left = [one for one in cast(list[Any], branches) if one != {"type": "null"}]
            if len(left) == 1 and isinstance(left[0], dict):
                return keyword, cast(Json, left[0])
    return None
