"""Reads the words out of what a provider sends when it fails, whatever its shape."""

from typing import Any

import msgspec

MAX_SAID = 300
"""Characters of a provider's own words that are repeated."""


def words_of(body: bytes) -> tuple[str, list[str]]:
    """What an error's body says, and its codes, in the shapes of OpenAI, Anthropic, Google, Ollama and FastAPI."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        text = body.decode(errors="replace").lstrip()
        # A page for browsers says nothing that helps here.
        return ("" if text.startswith("<") else one_line_of(text)), []
    if isinstance(value, list) and value:
        value = value[0]
    return of_object(value)


def of_object(value: Any) -> tuple[str, list[str]]:
    """The same of JSON that was decoded: an error's object, or what holds one."""
    if isinstance(value, dict) and isinstance(value.get("error"), dict | str):
        value = value["error"]
    if isinstance(value, str):
        return one_line_of(value), []
    if not isinstance(value, dict):
        return "", []
    message = value.get("message") or value.get("detail") or ""
    said = message if isinstance(message, str) else msgspec.json.encode(message).decode()
    codes = [word for key in ("code", "type", "status") if isinstance(word := value.get(key), str)]
    return one_line_of(said), codes


def one_line_of(text: str) -> str:
    """At most `MAX_SAID` characters of `text` on one line."""
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= MAX_SAID else f"{line[: MAX_SAID - 1]}…"
