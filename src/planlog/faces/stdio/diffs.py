"""Paints a unified diff: what comes is good, what goes is bad, what only tells where one is stands back."""

from planlog.faces.renders import Line, Span, Style

_STYLES: dict[str, Style] = {"+": "good", "-": "bad", "@": "dim", "\\": "dim"}


def is_diff(text: str) -> bool:
    """Whether the text begins as a diff of one file does."""
    return text.startswith("--- ") and text.partition("\n")[2].startswith("+++ ")


def diff_lines(text: str) -> tuple[Line, ...]:
    """The lines of a diff; the two with the file's names are plain, though they begin with signs."""
    lines = text.removesuffix("\n").split("\n")
    names = [(Span(line, "bold"),) for line in lines[:2]]
    return (*names, *((Span(line, _STYLES.get(line[:1], "plain")),) for line in lines[2:]))
