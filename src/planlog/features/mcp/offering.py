"""The tools of one server that are offered now, and what a person is told of those that are not."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from planlog.features.mcp.connection import MOST
from planlog.features.mcp.offer import Call, Listed, offered, unusable
from planlog.kernel.errors import ConfigError
from planlog.tools.servers import Server
from planlog.tools.tool import Tools

NAMED = 5
"""Tools that a report about several names."""


class Offering:
    """Tools that a server still lists as before stay as they are: a call of theirs may be waiting."""

    def __init__(self, server: Server, call: Call, tools: Tools, report: Callable[[str], None]) -> None:
        self._server = server
        self._call = call
        self._tools = tools
        self._report = report
        self._mounted: dict[str, tuple[Listed, ExitStack]] = {}
        self._said: set[str] = set()

    def update(self, listed: Sequence[Listed]) -> None:
        """Offers these and no others; each thing that is wrong with them is reported once."""
        if len(listed) > MOST:
            self._say(f"only the first {MOST} of its tools are offered")
        wanted: dict[str, Listed] = {}
        left_out: list[str] = []
        for one in listed[:MOST]:
            tool = offered(self._server.name, one, self._call).name
            if reason := unusable(one):
                left_out.append(f"{one.name[:80]} ({reason})")
            elif one.name in wanted:
                left_out.append(f"{one.name[:80]} (another has the name {tool})")
            else:
                wanted[one.name] = one
        for name, (known, mount) in list(self._mounted.items()):
            if wanted.get(name) != known:
                mount.close()
                del self._mounted[name]
        for name, one in wanted.items():
            if name not in self._mounted and (taken := self._mount(one)):
                left_out.append(f"{one.name[:80]} (another has the name {taken})")
        if left_out:
            more = f" and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
            self._say(f"tools that cannot be offered: {', '.join(left_out[:NAMED])}{more}")

    def clear(self) -> None:
        """Offers nothing more."""
        self.update([])

    def _mount(self, one: Listed) -> str:
        """The name that another tool has already; empty when the tool is offered."""
        tool = offered(self._server.name, one, self._call)
        mount = ExitStack()
        try:
            mount.enter_context(self._tools.add(tool))
        except ConfigError:
            return tool.name
        self._mounted[one.name] = (one, mount)
        return ""

    def _say(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._report(line)
