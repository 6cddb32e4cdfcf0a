"""Makes any text safe to print: what a terminal would obey is shown as a sign that stands for it.

Model and tool text may hold escape sequences that set a title, write the clipboard or erase what stands there, and
bidirectional overrides that make a line read as something else. None of them reaches the terminal, or a file that a
person will later print to one.
"""

import re

_FIRST_PICTURE = 0x2400
_DELETE = 0x7F
_DELETE_PICTURE = "\u2421"

# C0 without tab and line feed, DEL, C1, bidi marks, embeddings, overrides and isolates, line and paragraph separators;
# lone surrogates cannot be encoded at all.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What is unsafe beside control characters."""


def clean(text: str) -> str:
    """`text` with control characters as control pictures (␛), others as `‹U+202E›`; tabs and line feeds stay.

    A carriage return before a line feed is dropped. Text that needs nothing is returned itself.
    """
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
    return _UNSAFE.sub(_shown, text) if _UNSAFE.search(text) else text


def clean_line(text: str) -> str:
    """`clean` for what has to stay on one line: line feeds are shown as well, a tab becomes a space."""
    return clean(text).replace("\n", "\u240a").replace("\t", " ")


def clean_typed(text: str) -> str:
    """`text` as an editor may show it, character by character: it makes control characters visible, and no others."""
    return text if text.isascii() else _INVISIBLE.sub("\ufffd", text)


def escape_json(document: bytes) -> bytes:
    """The same JSON with escapes (`\\u009b`) in place of what a terminal would obey.

    JSON has such characters in its strings alone, C0 only as escapes, and bytes that are not UTF-8 nowhere.
    """
    if document.isascii() and b"\x7f" not in document:
        return document
    text = document.decode(errors="replace")
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()


def _shown(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < ord(" "):
        return chr(_FIRST_PICTURE + code)
    if code == _DELETE:
        return _DELETE_PICTURE
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else f"‹U+{code:04X}›"


class StreamCleaner:
    """`clean` for text that comes in pieces: a carriage return waits for what follows it."""

    def __init__(self) -> None:
        self._held = ""

    def more(self, text: str) -> str:
        """What may be printed now."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        return clean(text.removesuffix("\r") if self._held else text)

    def rest(self) -> str:
        """What was held back at the end of the text."""
        held, self._held = self._held, ""
        return clean(held)
