"""What the features that are mounted now can draw on the plain terminal."""

from planlog.faces.renders import Line, Registry, Row


class StdioRenders(Registry[Line, Row]):
    """Events and views are lines, a call is a row."""

    face = "stdio"
