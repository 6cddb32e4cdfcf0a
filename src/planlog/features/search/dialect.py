"""Puts a pattern of ripgrep into one of Python's `re`, or says why not. Runs in the engine without ripgrep."""

import re
from collections.abc import Callable

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9A-Fa-f",
}
LOOKS = "look-around, including look-ahead and look-behind, is not supported"
BACK = "backreferences are not supported"
LINE = 'the literal "\\n" is not allowed in a regex'

_TOKEN = re.compile(
    r"\\[xuU](?:\{(?P<code>[0-9A-Fa-f]+)\})|\\(?P<escape>.)|\(\?(?P<group><[A-Za-z_]\w*>|<[=!]|[=!>(]|P=)"
    r"|(?P<set>\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\])",
    re.DOTALL,
)


class Unsupported(ValueError):
    """A pattern that this engine cannot carry out; the text is the reason."""


def compiled(pattern: str, *, ignore_case: bool) -> "re.Pattern[str]":
    """The pattern of `re` that finds the same in a line. Raises `Unsupported`."""
    import warnings  # only here

    if "\n" in pattern:
        raise Unsupported(LINE)
    text = _TOKEN.sub(_token, pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(text, re.MULTILINE | (re.IGNORECASE if ignore_case else 0))
        except (re.error, RecursionError, OverflowError) as error:
            raise Unsupported(str(error) or "the pattern is too deep") from error


def _token(match: "re.Match[str]") -> str:
    if match["code"]:
        return _character(match["code"])
    if match["escape"]:
        return _escape(match["escape"], match[0])
    if match["set"]:
        return _set(match["set"])
    group = match["group"]
    if group in ("=", "!", "<=", "<!"):
        raise Unsupported(LOOKS)
    if group == "P=":
        raise Unsupported(BACK)
    if group in (">", "("):
        raise Unsupported("unrecognized flag")
    return f"(?P{group}"


_ESCAPES: dict[str, str] = {"z": r"\Z", "<": r"\b(?=\w)", ">": r"\b(?<=\w)"}


def _escape(sign: str, whole: str) -> str:
    if sign.isdigit() or sign == "k":
        raise Unsupported(BACK)
    if sign == "n":
        raise Unsupported(LINE)
    if sign in "pPZ":
        raise Unsupported(f"{whole} needs ripgrep, which is not installed")
    return _ESCAPES.get(sign, whole)


def _character(code: str) -> str:
    value = int(code, 16)
    if value > 0x10FFFF or 0xD800 <= value < 0xE000:
        raise Unsupported("invalid Unicode scalar value")
    return re.escape(chr(value))


def _set(text: str) -> str:
    replace: Callable[[re.Match[str]], str] = lambda match: _CLASSES.get(match[1]) or _unknown(match[0])  # noqa: E731
    inner = re.sub(r"\[:(\^?\w+):\]", replace, text[1:-1])
    if "&&" in inner or ((bare := re.sub(r"\\.", "", inner).lstrip("^]")) and "[" in bare and "[" not in text[1:3]):
        # Sets in sets and what they have in common; a lone bracket would be one to Python.
        raise Unsupported("nested character classes need ripgrep, which is not installed")
    return f"[{inner}]"


def _unknown(text: str) -> str:
    raise Unsupported(f"unrecognized class {text}")
