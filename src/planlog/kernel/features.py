"""A row uses a package whose role files (`event.py`, `tool.py`, …) hold one plugin each; here they are loaded."""

import importlib
from collections.abc import Iterable
from importlib.util import find_spec
from types import CodeType, FunctionType, ModuleType

from planlog.kernel.composition import ROLES, Row
from planlog.kernel.errors import ConfigError, one_line
from planlog.kernel.plugin import Manifest, Mount, read_manifest
from planlog.kernel.settings import divide_settings


def load_row(row: Row, mount: Iterable[str], check: Iterable[str] | None = None) -> list[Mount]:
    """Mounts `<row id>/<role>` for each role file that the package has and `mount` names, in the order of `ROLES`.

    The row's settings are checked against all role files named by `check` (a program's roles; by default `mount`), so
    that a command which mounts few roles does not refuse a setting of the others. ConfigError, in one line, for
    whatever cannot be loaded.
    """
    wanted = frozenset(mount)
    checked = wanted.union(check or ())
    if unknown := checked.difference(ROLES):
        raise ConfigError(f"{row.id}: unknown role {', '.join(sorted(unknown))}; roles are {', '.join(ROLES)}")
    package = _import_package(row)
    modules = {role: f"{row.use}.{role}" for role in ROLES if role in checked and _has_role(package, role)}
    if not modules:
        asked = ", ".join(f"{role}.py" for role in ROLES if role in checked)
        raise ConfigError(
            f"{row.id}: the package {row.use} has no role that is asked for; it would need one of {asked}"
        )
    plugins = {role: _load_plugin(row, module) for role, module in modules.items()}
    declared = {manifest.module: manifest.settings for _, manifest in plugins.values()}
    settings = divide_settings(row.id, row.settings, declared)
    return [
        Mount(f"{row.id}/{role}", plugin, manifest, settings[manifest.module])
        for role, (plugin, manifest) in plugins.items()
        if role in wanted
    ]


def _import_package(row: Row) -> ModuleType:
    package = _import(row, row.use)
    if not hasattr(package, "__path__"):
        raise ConfigError(f"{row.id}: {row.use} is a plain module; a row uses a package whose files are its roles")
    return package


def _has_role(package: ModuleType, role: str) -> bool:
    return find_spec(f"{package.__name__}.{role}") is not None


def _import(row: Row, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{module}.".startswith(f"{error.name}."):
            raise ConfigError(f'{row.id}: use = "{row.use}": there is no module {error.name}') from error
        raise ConfigError(f"{row.id}: cannot import {module}: {one_line(error)}") from error


def _load_plugin(row: Row, name: str) -> tuple[FunctionType, Manifest]:
    module = _import(row, name)
    plugin = getattr(module, "plugin", None)
    if plugin is None:
        raise ConfigError(f"{name}: has no function named plugin")
    if _definitions(module) > 1:
        raise ConfigError(f"{name}: defines plugin more than once; the first would be lost")
    manifest = read_manifest(plugin, name)
    if plugin.__module__ != name or plugin.__qualname__ != "plugin":
        origin = f"{plugin.__module__}.{plugin.__qualname__}"
        raise ConfigError(f'{name}: plugin is {origin} under another name; a role defines its own "async def plugin"')
    return plugin, manifest


def _definitions(module: ModuleType) -> int:
    """How many functions named `plugin` the module's text defines: the namespace keeps only the last."""
    get_code = getattr(module.__loader__, "get_code", None)
    code = get_code(module.__name__) if get_code else None
    constants = code.co_consts if isinstance(code, CodeType) else ()
    return sum(isinstance(constant, CodeType) and constant.co_name == "plugin" for constant in constants)
