"""Makes any text fit to be stored, sent and shown: this is the one place where surrogates and NUL are replaced."""

import re

NUL_SHOWN = "\u2400"

_ESCAPES = re.compile(
    rb"\\\\"  # an escaped backslash, which starts no other escape
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
)


def clean_text(text: str) -> str:
    """`text` without lone surrogates (each becomes U+FFFD) and without NUL (it becomes the visible sign U+2400).

    Two surrogates that make a pair become the character they stand for. Text that needs nothing is returned itself.
    """
    if "\0" in text:
        text = text.replace("\0", NUL_SHOWN)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def mend_escapes(json: bytes) -> bytes:
    """`json` with each escaped lone surrogate, which is not text, turned into an escaped U+FFFD of the same length."""
    if b"\\ud" not in json and b"\\uD" not in json:
        return json
    return _ESCAPES.sub(lambda match: b"\\ufffd" if match[1] else match[0], json)
