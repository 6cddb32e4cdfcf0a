"""The plain terminal: text out, line by line, that also reads well in a pipe, a file or a CI log."""

from planlog.faces.stdio.registry import StdioRenders

__all__ = ["StdioRenders"]
