"""Writes the JSON Schema of a tool's parameters, and checks what a model sent against it.

The emitted schema is the single truth. A typed decode is tried first because it is fast, but it stops at the first
fault and knows nothing of the leniencies below; so whatever it refuses is read again, loosely, and walked along the
emitted schema, which yields either a value that fits or every violation at once. What the walk decides:

- A string where an array or an object is wanted is decoded, once, when it holds exactly that.
- `null` for a property that is not required counts as left out: vendors whose strict mode has no optional properties
  make models write `null` there, and nothing else could be meant.
- A whole number spelled `1.0` or `1e2` is an integer, as JSON Schema says, up to 2**53; beyond that a float no longer
  says which integer was meant. A boolean is never a number. A number too large for a double is none either.
- Of a repeated key the last one counts, as for every common JSON reader; so whoever reads the raw text from the log
  sees the list that was executed.
- Lone surrogates and NUL inside strings are replaced (`clean_text`).
- Text that is not JSON (also NaN, Infinity, raw control characters in strings, nesting that no reader survives)
  counts as a string.
"""

import json
import math
from functools import lru_cache
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, cast, get_args, get_origin

import msgspec
import msgspec.structs

from planlog.kernel.errors import ConfigError
from planlog.log.text import clean_text

P = TypeVar("P", bound=msgspec.Struct)

Schema = dict[str, Any]

_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}
_WANTED = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
}
_EXACT_FLOAT = 2**53
_KEY_SHOWN = 80


# --- emission


def schema_of(params: type[msgspec.Struct]) -> Schema:
    """JSON Schema of a parameter struct, in the keywords that every vendor takes, each time a new dict.

    Allowed are `str`, `int`, `float`, `bool`, `Literal` of strings, `list[T]`, nested structs, and `T | None` with the
    default None; a field with a default is optional. `Annotated[T, msgspec.Meta(description=...)]` describes a field.
    Every struct needs `forbid_unknown_fields=True`. Anything else is refused with a `ConfigError` that names the field.
    """
    return _object(params, params.__qualname__, ())


def _object(struct: type[msgspec.Struct], where: str, outer: tuple[type, ...]) -> Schema:
    config = struct.__struct_config__
    if struct in outer:
        raise ConfigError(f"{where}: a struct inside itself has no schema without $ref")
    if not config.forbid_unknown_fields:
        raise ConfigError(f"{where}: {struct.__qualname__} needs forbid_unknown_fields=True")
    if config.array_like or config.tag is not None:
        raise ConfigError(f"{where}: {struct.__qualname__} may be neither array_like nor tagged")
    if hasattr(struct, "__post_init__"):
        raise ConfigError(f"{where}: {struct.__qualname__} checks in __post_init__ what its schema cannot say")
    properties: Schema = {}
    required: list[str] = []
    for field in msgspec.structs.fields(struct):
        place = f"{where}.{field.name}"
        annotation, description = _described(field.type, place)
        if get_origin(annotation) in (Union, UnionType):
            annotation, inner = _described(_optional(annotation, field, place), place)
            description = description or inner
        properties[field.encode_name] = _schema(annotation, description, place, (*outer, struct))
        if field.required:
            required.append(field.encode_name)
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


def _schema(annotation: Any, description: str | None, where: str, outer: tuple[type, ...]) -> Schema:
    told = {"description": description} if description else {}
    if annotation in _SCALARS:
        return {"type": _SCALARS[annotation], **told}
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal and all(isinstance(value, str) for value in arguments):
        return {"type": "string", **told, "enum": list(arguments)}
    if origin is list:
        item, item_description = _described(arguments[0], f"{where}[]")
        return {"type": "array", **told, "items": _schema(item, item_description, f"{where}[]", outer)}
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        schema = _object(annotation, where, outer)
        return {"type": schema.pop("type"), **told, **schema}
    raise ConfigError(
        f"{where}: {annotation!r} has no schema that every vendor takes; "
        "use str, int, float, bool, Literal of strings, list[T] or a nested struct"
    )


def _described(annotation: Any, where: str) -> tuple[Any, str | None]:
    """The type inside `Annotated` and its description; a constraint is refused, since the schema could not carry it."""
    if get_origin(annotation) is not Annotated:
        return annotation, None
    inner, *metadata = get_args(annotation)
    description: str | None = None
    for meta in metadata:
        if not isinstance(meta, msgspec.Meta) or meta != msgspec.Meta(description=meta.description):
            raise ConfigError(f"{where}: only msgspec.Meta(description=...) may annotate a parameter, got {meta!r}")
        description = meta.description
    return inner, description


def _optional(annotation: Any, field: msgspec.structs.FieldInfo, where: str) -> Any:
    """T of `T | None`."""
    others = [one for one in get_args(annotation) if one is not NoneType]
    if len(others) != 1 or len(get_args(annotation)) != 2:
        raise ConfigError(f"{where}: a union of several types has no schema that every vendor takes")
    if field.default is not None:
        raise ConfigError(f"{where}: `T | None` needs the default None, since null counts as left out")
    return others[0]


# --- check


class Violations(msgspec.Struct, frozen=True):
    """Everything that is wrong with a call's arguments, in walk order; never empty."""

    found: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join(self.found)


class Unchecked(msgspec.Struct, frozen=True):
    """Parameters whose schema somebody else wrote: any object, with clean texts; who runs the tool checks the rest."""

    arguments: dict[str, Any]


def check_arguments(params: type[P], raw: str) -> P | Violations:
    """The parameters that the model's argument text `raw` holds, or all that is wrong with it.

    Empty text counts as `{}`. Raises nothing for any text; a struct that has no schema is a `ConfigError`.
    """
    if params is Unchecked:
        return cast("P | Violations", _unchecked(raw))
    return _check_for(params).check(raw)


def _unchecked(raw: str) -> Unchecked | Violations:
    value, _ = _read(clean_text(raw)) if raw and not raw.isspace() else ({}, True)
    if isinstance(value, str):
        value, _ = _read(value)
    if not isinstance(value, dict):
        return Violations((f'"arguments" must be {_WANTED["object"]}',))
    try:
        return Unchecked(_clean(value))
    except RecursionError:
        return Violations(('"arguments" is nested too deeply',))


def _clean(value: Any) -> Any:
    """The JSON value with `clean_text` done to each of its strings, and without numbers that JSON cannot say."""
    match value:
        case str():
            return clean_text(value)
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {clean_text(key): _clean(item) for key, item in value.items()}
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


class _Check(Generic[P]):
    def __init__(self, params: type[P]) -> None:
        self.params = params
        self.schema = schema_of(params)
        self.decoder = msgspec.json.Decoder(params)

    def check(self, raw: str) -> P | Violations:
        if not raw or raw.isspace():
            raw = "{}"
        # An escaped NUL decodes well but has to be replaced, so it takes the slow way; a lone surrogate fails anyway.
        if "\\u0000" not in raw:
            try:
                return self.decoder.decode(raw)
            except (msgspec.DecodeError, ValueError, RecursionError):
                pass
        raw = clean_text(raw)
        value, is_json = _read(raw)
        found: list[str] = []
        value = _fit(self.schema, value if is_json else raw, "", found)
        return Violations(tuple(found)) if found else msgspec.convert(value, self.params)


# Bounded, so that the structs of feature folders that were imported afresh do not gather for ever.
@lru_cache(maxsize=512)
def _check_for(params: type[P]) -> _Check[P]:
    return _Check(params)


def _fit(schema: Schema, value: Any, path: str, found: list[str]) -> Any:
    """`value` in the form that the typed conversion takes; what does not fit is added to `found`."""
    wanted: str = schema["type"]
    if wanted in ("object", "array") and isinstance(value, str):
        inner, is_json = _read(value)
        value = inner if is_json else value
    if wanted == "object" and isinstance(value, dict):
        return _fit_object(schema, value, path, found)
    if wanted == "array" and isinstance(value, list):
        return [_fit(schema["items"], item, f"{path}[{index}]", found) for index, item in enumerate(value)]
    if "enum" in schema:
        if not isinstance(value, str) or value not in schema["enum"]:
            found.append(f"{_quoted(path)} must be one of {msgspec.json.encode(schema['enum']).decode()}")
        return value
    if wanted == "string" and isinstance(value, str):
        return clean_text(value)
    if wanted == "boolean" and isinstance(value, bool):
        return value
    if wanted in ("integer", "number") and (number := _number(value, wanted)) is not None:
        return number
    found.append(f"{_quoted(path)} must be {_WANTED[wanted]}")
    return value


def _fit_object(schema: Schema, value: dict[str, Any], path: str, found: list[str]) -> dict[str, Any]:
    properties: Schema = schema["properties"]
    required: list[str] = schema.get("required", [])
    prefix = f"{path}." if path else ""
    found.extend(f"missing required property {_quoted(prefix + name)}" for name in required if name not in value)
    fitted = {
        name: _fit(child, value[name], prefix + name, found)
        for name, child in properties.items()
        if name in value and (value[name] is not None or name in required)
    }
    found.extend(
        f"{_quoted(prefix + _shown(key))} is not a declared property (additionalProperties: false)"
        for key in value
        if key not in properties
    )
    return fitted


def _number(value: Any, wanted: str) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if wanted == "integer":
        if isinstance(value, int):
            return value
        return int(value) if abs(value) <= _EXACT_FLOAT and value.is_integer() else None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _read(text: str) -> tuple[Any, bool]:
    """The JSON value of `text` and True, or None and False. A number that Python cannot hold becomes an infinity."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_int=_integer), True
    except (ValueError, RecursionError):
        return None, False


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:
        return math.inf


def _quoted(path: str) -> str:
    return json.dumps(path or "arguments", ensure_ascii=False)


def _shown(key: str) -> str:
    key = clean_text(key)
    return key if len(key) <= _KEY_SHOWN else key[:_KEY_SHOWN] + "…"
