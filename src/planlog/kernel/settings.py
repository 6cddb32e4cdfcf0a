"""A setting is a keyword-only parameter of a plugin: here its annotation is put into words, and values are checked."""

import types
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct

from planlog.kernel.errors import ConfigError

PLAIN: dict[Any, tuple[str, str]] = {
    bool: ("true or false", "true or false"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("a text", "texts"),
}
BOUNDS = {
    "ge": "at least {}",
    "gt": "more than {}",
    "le": "at most {}",
    "lt": "less than {}",
    "multiple_of": "a multiple of {}",
    "min_length": "at least {} long",
    "max_length": "at most {} long",
    "pattern": "matching {}",
}
SHOWN = 60


class Setting(Struct, frozen=True):
    """One setting as its plugin declares it; `allowed` says in words what it takes, and no default means required."""

    name: str
    annotation: Any
    allowed: str
    default: Any = UNSET

    @property
    def required(self) -> bool:
        return self.default is UNSET


def describe(annotation: Any) -> str:
    """What a composition may write for this annotation, in words; TypeError for one that no composition could meet."""
    if annotation in PLAIN:
        return PLAIN[annotation][0]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal and all(type(choice) in (str, int) for choice in arguments):
        choices = ", ".join(show(choice) for choice in arguments)
        return choices if len(arguments) == 1 else f"one of {choices}"
    if origin is list:
        if arguments[0] in PLAIN:
            return f"a list of {PLAIN[arguments[0]][1]}"
        return f"a list with each entry {describe(arguments[0])}"
    if origin is dict and arguments[0] is str:
        return f"a table with each value {describe(arguments[1])}"
    if origin in (Union, types.UnionType):
        # TOML has no null: `None` can only be the default, so it is not among what may be written.
        return " or ".join(describe(choice) for choice in arguments if choice is not types.NoneType)
    if origin is Annotated:
        return ", ".join([describe(arguments[0]), *(bound for meta in arguments[1:] for bound in _bounds(meta))])
    raise TypeError(f"{annotation!r} is no annotation for a setting")


def _bounds(meta: Any) -> list[str]:
    if not isinstance(meta, Meta):
        return []
    return [text.format(limit) for name, text in BOUNDS.items() if (limit := getattr(meta, name)) is not None]


def show(value: object) -> str:
    """A value as a composition would spell it, shortened to one line."""
    text = repr(value) if isinstance(value, float) else msgspec.json.encode(value, enc_hook=str).decode()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def convert(row_id: str, setting: Setting, value: object) -> Any:
    """The value as the annotation wants it, never guessed: text is not a number and `true` is not 1."""
    try:
        return msgspec.convert(value, setting.annotation, strict=True)
    except msgspec.ValidationError:
        raise ConfigError(f'{row_id}: setting "{setting.name}" must be {setting.allowed}, got {show(value)}') from None


def divide_settings(
    row_id: str, given: Mapping[str, object], declared: Mapping[str, tuple[Setting, ...]]
) -> dict[str, dict[str, Any]]:
    """Hand the settings of a row to those that declare them.

    `declared` maps the name of each declaring module to its settings; the answer maps the same names to converted
    values. ConfigError, one line, when a setting is declared twice, unknown, missing or of the wrong type.
    """
    owners: dict[str, str] = {}
    for module, settings in declared.items():
        for setting in settings:
            if setting.name in owners:
                both = f"{owners[setting.name]} and {module}"
                raise ConfigError(f'{row_id}: setting "{setting.name}" is declared by {both}; only one may declare it')
            owners[setting.name] = module
    for name in given:
        if name not in owners:
            known = f"it knows: {', '.join(owners)}" if owners else "it has no settings"
            raise ConfigError(f'{row_id}: unknown setting "{name}"; {known}')
    for settings in declared.values():
        for setting in settings:
            if setting.required and setting.name not in given:
                raise ConfigError(f'{row_id}: setting "{setting.name}" is required: {setting.allowed}')
    return {
        module: {
            setting.name: convert(row_id, setting, given[setting.name]) if setting.name in given else setting.default
            for setting in settings
        }
        for module, settings in declared.items()
    }
