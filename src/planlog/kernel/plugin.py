"""A plugin is one async generator function whose signature is its manifest: needs, settings and the offer.

    async def plugin(words: Words, tools: Tools, *, loud: bool) -> AsyncGenerator[Greeter]:
        greeter = Greeter(words, loud)
        with tools.add(greeter.tool):
            yield greeter

Positional parameters are needs, and their types are the keys; keyword-only parameters are settings; what is yielded is
the offer (`None` offers nothing); what follows the `yield` undoes what came before it.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from types import FunctionType, NoneType
from typing import Any, NoReturn, cast, get_args, get_origin, get_type_hints

from msgspec import UNSET, Struct

from planlog.kernel.errors import ConfigError
from planlog.kernel.settings import Setting, describe, divide_settings

type_name = "{0.__name__}".format
Plugin = Callable[..., AsyncGenerator[Any, None]]

# The flags of a code object (`inspect` would cost 3 ms to say the same).
VARARGS, VARKEYWORDS, GENERATOR, COROUTINE, ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x80, 0x200
ROW_KEYS = ("id", "use")
# What may follow the offer in AsyncGenerator[...]: nothing, or that nothing is sent in.
NO_SEND = ((), (None,), (NoneType,))


class Manifest(Struct, frozen=True):
    """What a plugin's signature says; `module` is where it was found and is how errors name it."""

    module: str
    needs: tuple[type, ...]
    settings: tuple[Setting, ...]
    offer: type | None


class Mount(Struct, frozen=True, eq=False):
    """One plugin with its settings under an id, ready to be started and stopped by a scope."""

    id: str
    plugin: Plugin
    manifest: Manifest
    settings: dict[str, Any] = {}


def mount_plugin(
    id: str, plugin: Callable[..., AsyncIterator[Any]], settings: Mapping[str, object] | None = None
) -> Mount:
    """Mount a plugin by hand, as a test or an embedding program does; settings are checked as a composition's are."""
    manifest = read_manifest(plugin)
    divided = divide_settings(id, settings or {}, {manifest.module: manifest.settings})
    return Mount(id, cast(Plugin, plugin), manifest, divided[manifest.module])


def read_manifest(plugin: object, module: str | None = None) -> Manifest:
    """Read the signature; ConfigError, in one line that names the module, for whatever is not plainly a plugin."""
    where: str = module or getattr(plugin, "__module__", None) or type(plugin).__module__

    def refuse(why: str) -> NoReturn:
        raise ConfigError(f"{where}: plugin {why}")

    function = _plain_function(plugin, refuse)
    hints = _resolved_hints(function, refuse)
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    keywords = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    if function.__defaults__:
        name = positional[-len(function.__defaults__)]
        refuse(f'gives its need "{name}" a default; a need has none, and a setting goes after "*"')
    needs = tuple(_need(name, hints[name], refuse) for name in positional)
    offer = _offer(hints["return"], refuse)
    for need in needs:
        if needs.count(need) > 1:
            refuse(f"needs {type_name(need)} twice")
        if need is offer:
            refuse(f"needs {type_name(need)}, which it offers itself")
    defaults = function.__kwdefaults__ or {}
    settings = tuple(_setting(name, hints[name], defaults.get(name, UNSET), refuse) for name in keywords)
    return Manifest(where, needs, settings, offer)


Refuse = Callable[[str], NoReturn]


def _plain_function(plugin: object, refuse: Refuse) -> FunctionType:
    if not isinstance(plugin, FunctionType):
        refuse(f"must be an async generator function, not an object of type {type(plugin).__name__}")
    if hasattr(plugin, "__wrapped__") or hasattr(plugin, "__signature__"):
        refuse("is hidden by a decorator; its signature is its manifest, so leave the decorator out")
    flags = plugin.__code__.co_flags
    if flags & COROUTINE:
        refuse("never yields; it must be an async generator function")
    if flags & GENERATOR:
        refuse('is a plain generator function; write "async def"')
    if flags & (VARARGS | VARKEYWORDS):
        refuse("takes *args or **kwargs; each need and each setting is a parameter of its own")
    if not flags & ASYNC_GENERATOR:
        refuse("is a plain function; it must be an async generator function")
    return plugin


def _resolved_hints(function: FunctionType, refuse: Refuse) -> dict[str, Any]:
    try:
        hints = get_type_hints(function, include_extras=True)
    except Exception as error:
        refuse(f"has an annotation that cannot be resolved: {error}; import what it names outside TYPE_CHECKING")
    code = function.__code__
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if name not in hints:
            refuse(f'has no annotation for its parameter "{name}"')
    if "return" not in hints:
        refuse("does not say what it offers; annotate it with -> AsyncGenerator[Offer], or [None] for nothing")
    return hints


def _is_key(annotation: Any) -> bool:
    # A builtin as a key is nearly always a setting that lost its "*".
    return isinstance(annotation, type) and annotation.__module__ not in ("builtins", "typing")


def _need(name: str, annotation: Any, refuse: Refuse) -> type:
    if not _is_key(annotation):
        refuse(
            f'has a need "{name}" of {_spelled(annotation)}; a need is a class of its own, and a setting goes after "*"'
        )
    return annotation


def _offer(annotation: Any, refuse: Refuse) -> type | None:
    arguments = get_args(annotation)
    if get_origin(annotation) not in (AsyncGenerator, AsyncIterator) or arguments[1:] not in NO_SEND:
        refuse(f"returns {_spelled(annotation)}; annotate it with -> AsyncGenerator[Offer], or [None] for nothing")
    if arguments[0] is NoneType or arguments[0] is None:
        return None
    if not _is_key(arguments[0]):
        refuse(f"offers {_spelled(arguments[0])}; an offer is a class of its own, or None")
    return arguments[0]


def _setting(name: str, annotation: Any, default: Any, refuse: Refuse) -> Setting:
    if name in ROW_KEYS:
        refuse(f'declares a setting "{name}", which every row of a composition has already')
    try:
        return Setting(name, annotation, describe(annotation), default)
    except TypeError:
        kinds = "bool, int, float, str, Literal, list and dict[str, …] of these"
        refuse(f'has a setting "{name}" of {_spelled(annotation)}; a setting is made of {kinds}')


def _spelled(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else str(annotation)


def offer_fault(manifest: Manifest, value: object) -> str | None:
    """Why the yielded value is not what the signature promises, or None when it is."""
    offer = manifest.offer
    if offer is None:
        return None if value is None else f"offers nothing, but yielded {_spelled(type(value))}"
    # A protocol is met by shape, which only the type checker can see.
    fits = value is not None if getattr(offer, "_is_protocol", False) else isinstance(value, offer)
    return None if fits else f"offers {type_name(offer)}, but yielded {_spelled(type(value))}"
