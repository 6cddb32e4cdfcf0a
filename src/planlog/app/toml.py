"""Writes a composition as the TOML that makes it."""

import json
import re
from collections.abc import Iterator
from typing import Any

from planlog.kernel.composition import Composition

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(composition: Composition) -> str:
    """The composition's text, each row below a comment that names its origin; read, it gives the composition again."""
    return "\n".join(_lines(composition)) + "\n"


def _lines(composition: Composition) -> Iterator[str]:
    yield f"roles = {value(list(composition.roles))}"
    for row in composition.rows:
        yield ""
        yield f"# from {_comment(row.origin)}"
        yield "[[plugin]]"
        yield f"id = {value(row.id)}"
        yield f"use = {value(row.use)}"
        for name, setting in row.settings.items():
            yield f"{_key(name)} = {value(setting)}"


def value(setting: Any) -> str:
    """A TOML value on one line."""
    if isinstance(setting, bool):
        return "true" if setting else "false"
    if isinstance(setting, str):
        # JSON's escapes are TOML's, but TOML wants DEL escaped too.
        return json.dumps(setting, ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(setting, list):
        return f"[{', '.join(map(value, setting))}]"
    if isinstance(setting, dict):
        pairs = ", ".join(f"{_key(key)} = {value(item)}" for key, item in setting.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    return str(setting)


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else value(name)


def _comment(text: str) -> str:
    return " ".join(text.split())
