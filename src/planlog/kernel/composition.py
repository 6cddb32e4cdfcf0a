"""A composition is a TOML file that says which plugins, with which settings, make a program.

    roles = ["event", "fold", "tool", "stdio"]

    [[plugin]]
    id = "todo"
    use = "planlog.features.todo"
    allow_parallel_in_progress = true

`roles` says what the program is made of; every other key of a row is a setting. Whether a row's package exists and what
its settings may be is for `features.load_row`; this module knows the form only.
"""

import re
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct

from planlog.kernel.errors import ConfigError
from planlog.kernel.settings import show

# A role is the name of a file in a feature's package; this is every role that a program may ask for.
ROLES = ("event", "fold", "service", "tool", "cli", "stdio", "tui", "web", "acp")
KEYS = ("roles", "plugin")
ROW_ID = re.compile(r"[a-z0-9][a-z0-9_-]*")


class Row(Struct, frozen=True):
    """One plugin row: `use` is the dotted path of a package, `origin` the file that states the row."""

    id: str
    use: str
    settings: dict[str, Any] = {}
    origin: str = ""


class Composition(Struct, frozen=True):
    """A program's rows in the order of the file, and the roles that it asks each row's package for."""

    name: str
    origin: str
    roles: tuple[str, ...]
    rows: tuple[Row, ...]


def read_composition(path: Path) -> Composition:
    """Read a composition file; ConfigError, one line that names the file and the row, for anything wrong with it."""
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 (byte {error.start})") from error
    return parse_composition(text, path.stem, str(path))


def parse_composition(text: str, name: str, origin: str) -> Composition:
    """The same for a text at hand; `origin` is how errors name it."""
    document = _parse_toml(text, origin)
    for key in document:
        if key not in KEYS:
            raise ConfigError(f'{origin}: unknown key "{key}"; a composition has {" and ".join(KEYS)}')
    roles = _check_roles(document.get("roles"), origin)
    rows = document.get("plugin")
    if not isinstance(rows, list) or not rows:
        raise ConfigError(f"{origin}: plugins are rows, each under a line [[plugin]]")
    checked: dict[str, Row] = {}
    for number, row in enumerate(rows, start=1):
        one = _check_row(row, number, origin)
        if one.id in checked:
            raise ConfigError(f'{origin}: plugin row {number}: the id "{one.id}" is taken by an earlier row')
        checked[one.id] = one
    return Composition(name, origin, roles, tuple(checked.values()))


def _parse_toml(text: str, origin: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # Faults at the very end come without a line number.
        reason = str(error).replace("end of document", f"line {text.count(chr(10)) + 1}, the end of the file")
        raise ConfigError(f"{origin}: is not valid TOML: {reason}") from error
    except RecursionError as error:
        raise ConfigError(f"{origin}: is nested too deeply") from error


def _check_roles(roles: object, origin: str) -> tuple[str, ...]:
    known = ", ".join(ROLES)
    if roles is None:
        raise ConfigError(f"{origin}: roles is required: a list of {known}")
    if not isinstance(roles, list) or not roles:
        raise ConfigError(f"{origin}: roles must be a list of {known}, got {show(roles)}")
    for role in roles:
        if role not in ROLES:
            raise ConfigError(f"{origin}: unknown role {show(role)}; roles are {known}")
        if roles.count(role) > 1:
            raise ConfigError(f"{origin}: the role {show(role)} is listed twice")
    return tuple(roles)


def _check_row(row: object, number: int, origin: str) -> Row:
    def refuse(why: str) -> NoReturn:
        named = f" ({show(row['id'])})" if isinstance(row, dict) and "id" in row else ""
        raise ConfigError(f"{origin}: plugin row {number}{named}: {why}")

    if not isinstance(row, dict):
        refuse(f"is {show(row)}; a row is a table under a line [[plugin]]")
    settings = dict(row)
    id, use = settings.pop("id", None), settings.pop("use", None)
    if id is None:
        refuse('has no id; give it one, as in id = "todo"')
    if not isinstance(id, str) or not ROW_ID.fullmatch(id):
        refuse('its id must be small letters, digits, "-" and "_"')
    if use is None:
        refuse('has no use; name its package, as in use = "planlog.features.todo"')
    if not isinstance(use, str) or not all(part.isidentifier() for part in use.split(".")):
        refuse(f"use must be the dotted path of a package, got {show(use)}")
    return Row(id, use, settings, origin)
