"""Says what a tool is, and keeps the tools that a program offers to its models."""

import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

import msgspec

from planlog.kernel.errors import ConfigError
from planlog.tools.schema import Schema, Unchecked, schema_of

if TYPE_CHECKING:
    from planlog.log.session import Session

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R")

OUTPUT_LIMIT = 30_000

# What OpenAI and Anthropic both take as a tool's name.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Presentation(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """How a call looks before it has a result.

    `card` names the drawing ("generic"), `kind` is an ACP tool kind ("think", "read", "edit", "execute", …),
    `raw_input` is JSON, `text` is for faces that can draw nothing better.
    """

    card: str
    title: str
    kind: str
    raw_input: Any = None
    text: str | None = None


class Proposal(msgspec.Struct, frozen=True):
    """What a call is about to do, for whoever has to approve it; nothing has been done.

    `preview` is a text that says all of it, such as a unified diff; empty where the arguments say it already. `rule`
    is what a person may allow together with this call for the rest of the session, as a rule is written; empty where
    nothing sensible can be offered. `about` is for the tool alone: by it a call can tell, when it runs, whether what
    was approved is still what it would do.
    """

    preview: str = ""
    rule: str = ""
    about: str = ""


Coverage = Literal["all", "some", "none"]
"""How much of what a call does is meant by the pattern of a rule, as far as its arguments tell."""


def _unheard(text: str) -> None:
    """Progress that no face listens to."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What a running tool may use.

    `session` is the calling agent's own, None when no agent calls. `progress` takes live output for the faces; it is
    shown and never stored. `approved` is what a person said yes to, None where nobody was asked.
    """

    call_id: str
    session: "Session | None"
    cwd: Path
    progress: Callable[[str], None] = _unheard
    approved: Proposal | None = None


class ToolFailure(Exception):
    """A failure that the model shall read: it sees `Error: <text>`.

    Only one that is told apart by programs has a `name` and a `code`, both or neither.
    """

    def __init__(self, text: str, *, name: str | None = None, code: str | None = None) -> None:
        super().__init__(text)
        if (name is None) != (code is None):
            raise TypeError("a tool failure has both a name and a code, or neither")
        self.text = text
        self.name = name
        self.code = code


@dataclass(frozen=True, slots=True)
class Tool(Generic[P, R]):
    """One thing that a model can do.

    `execute` does it, `render` puts its result into the few words that the model reads. `timeout` is in seconds.
    `concurrency_safe` calls may overlap with each other; all others run alone. `output_limit` is how many characters
    of the text are kept. A name or a parameter that not every vendor takes is a `ConfigError`.

    `details` puts a result into JSON for faces, kept beside the text (`meta` of `tool/result`). `propose` works out
    what an approval is about; a `ToolFailure` there is the call's result, and nobody is asked. `covered` says how much
    of a call the pattern of a rule covers, in the folder given; the pattern "" is a rule that names the tool alone.

    `given_schema` is for `Unchecked` parameters, and for these only: it is what models are told, as somebody wrote it.
    """

    name: str
    description: str
    params: type[P]
    execute: Callable[[P, Execution], Awaitable[R]]
    render: Callable[[R], str]
    timeout: float | None = None
    concurrency_safe: bool = False
    needs_approval: bool = False
    output_limit: int = OUTPUT_LIMIT
    present_call: Callable[[P], Presentation] | None = None
    details: Callable[[R], dict[str, Any] | None] | None = None
    propose: Callable[[P, Execution], Awaitable[Proposal]] | None = None
    covered: Callable[[str, P, Path], Coverage] | None = None
    given_schema: Schema | None = None
    schema: Schema = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f'tool name "{self.name}" must be 1 to 64 letters, digits, "_" or "-"')
        if self.timeout is not None and self.timeout <= 0:
            raise ConfigError(f'tool "{self.name}": timeout must be more than 0 seconds')
        if self.output_limit < 1:
            raise ConfigError(f'tool "{self.name}": output_limit must be at least 1 character')
        if (self.given_schema is not None) != (self.params is Unchecked):
            raise ConfigError(f'tool "{self.name}": a schema is given for Unchecked parameters, and for no others')
        object.__setattr__(self, "schema", self.given_schema or schema_of(self.params))

    def definition(self) -> dict[str, Any]:
        """`{name, description, parameters}` as models are told it; to be read, not changed."""
        return {"name": self.name, "description": self.description, "parameters": self.schema}


class Tools:
    """The tools that are mounted at this moment; those of `beyond` count as well, whatever becomes of them there."""

    def __init__(self, beyond: "Tools | None" = None) -> None:
        self._tools: dict[str, Tool[Any, Any]] = {}
        self._beyond = beyond

    @contextmanager
    def add(self, tool: Tool[Any, Any]) -> Iterator[None]:
        """Offers `tool` for as long as the block lasts; a name that is taken is a `ConfigError`."""
        if self.get(tool.name) is not None:
            raise ConfigError(f'tool "{tool.name}" is already registered; unmount one of the two plugins')
        self._tools[tool.name] = tool
        try:
            yield
        finally:
            del self._tools[tool.name]

    def get(self, name: str) -> Tool[Any, Any] | None:
        """The tool of exactly this name."""
        return self._tools.get(name) or (self._beyond.get(name) if self._beyond else None)

    def names(self) -> list[str]:
        """Sorted, so that requests stay the same whatever order the plugins were mounted in."""
        return sorted({*self._tools, *(self._beyond.names() if self._beyond else ())})

    def definitions(self) -> list[dict[str, Any]]:
        """Every tool's definition, sorted by name."""
        return [tool.definition() for name in self.names() if (tool := self.get(name))]
