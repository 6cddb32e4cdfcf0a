import functools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

import pytest

from planlog.kernel.errors import ConfigError
from planlog.kernel.plugin import Manifest, mount_plugin, offer_fault, read_manifest
from planlog.kernel.settings import Setting


class Words: ...


class Tools: ...


def test_the_signature_is_the_manifest() -> None:
    async def plugin(
        words: Words, tools: "Tools", *, loud: bool, mode: Literal["ask", "deny"] = "ask"
    ) -> AsyncGenerator[None]:
        yield

    assert read_manifest(plugin, "demo.tool") == Manifest(
        "demo.tool",
        (Words, Tools),
        (
            Setting("loud", bool, "true or false"),
            Setting("mode", Literal["ask", "deny"], 'one of "ask", "deny"', "ask"),
        ),
        None,
    )


def test_the_offer_may_be_spelled_in_every_usual_way() -> None:
    async def short() -> AsyncGenerator[Words]:
        yield Words()

    async def long() -> AsyncGenerator[Words, None]:
        yield Words()

    async def iterator() -> AsyncIterator[Words]:
        yield Words()

    async def text() -> "AsyncGenerator[Words, None]":
        yield Words()

    assert [read_manifest(plugin).offer for plugin in (short, long, iterator, text)] == [Words] * 4


def keep(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def hide(function: Any) -> Any:
    async def wrapper(*args: Any, **kwargs: Any) -> AsyncGenerator[Any]:
        async for offer in function(*args, **kwargs):
            yield offer

    return wrapper


async def good(words: Words, *, loud: bool) -> AsyncGenerator[None]:
    yield


class Callable_:
    async def __call__(self) -> AsyncGenerator[None]:
        yield

    async def method(self) -> AsyncGenerator[None]:
        yield


async def never_yields() -> AsyncGenerator[None]: ...


def not_async() -> Generator[None]:
    yield


def plain() -> None: ...


async def star(*words: Words) -> AsyncGenerator[None]:
    yield


async def double_star(**settings: bool) -> AsyncGenerator[None]:
    yield


async def bare(words) -> AsyncGenerator[None]:  # noqa: ANN001
    yield


async def bare_setting(*, loud) -> AsyncGenerator[None]:  # noqa: ANN001
    yield


async def no_return(words: Words):  # noqa: ANN201
    yield


async def returns_anything() -> Any:
    yield


async def sends() -> AsyncGenerator[Words, int]:
    yield Words()


async def unresolvable(words: "Nowhere") -> AsyncGenerator[None]:  # noqa: F821  # pyright: ignore[reportUndefinedVariable]
    yield


async def lost_star(loud: bool) -> AsyncGenerator[None]:
    yield


async def optional_need(words: Words | None) -> AsyncGenerator[None]:
    yield


async def default_need(words: Words = Words()) -> AsyncGenerator[None]:  # noqa: B008
    yield


async def any_need(words: Any) -> AsyncGenerator[None]:
    yield


async def offers_text() -> AsyncGenerator[str]:
    yield ""


async def offers_two() -> AsyncGenerator[Words | Tools]:
    yield Words()


async def twice(words: Words, again: Words) -> AsyncGenerator[None]:
    yield


async def itself(words: Words) -> AsyncGenerator[Words]:
    yield words


async def odd_setting(*, words: Words) -> AsyncGenerator[None]:
    yield


async def row_key(*, use: str) -> AsyncGenerator[None]:
    yield


OUTSIDE = "import what it names outside TYPE_CHECKING"
MADE_OF = "a setting is made of bool, int, float, str, Literal, list and dict[str, …] of these"
HIDDEN = "is hidden by a decorator; its signature is its manifest, so leave the decorator out"
SHAPE = "must be an async generator function, not an object of type"
OFFER = "annotate it with -> AsyncGenerator[Offer], or [None] for nothing"
NEED = 'a need is a class of its own, and a setting goes after "*"'


@pytest.mark.parametrize(
    "plugin, complaint",
    [
        (None, f"{SHAPE} NoneType"),
        ({"inject": ["words"], "apply": good}, f"{SHAPE} dict"),
        (Callable_, f"{SHAPE} type"),
        (Callable_(), f"{SHAPE} Callable_"),
        (Callable_().method, f"{SHAPE} method"),
        (functools.partial(good, loud=True), f"{SHAPE} partial"),
        (functools.lru_cache(good), f"{SHAPE} _lru_cache_wrapper"),
        (keep(good), HIDDEN),
        (asynccontextmanager(good), HIDDEN),
        (hide(good), "takes *args or **kwargs; each need and each setting is a parameter of its own"),
        (star, "takes *args or **kwargs; each need and each setting is a parameter of its own"),
        (double_star, "takes *args or **kwargs; each need and each setting is a parameter of its own"),
        (never_yields, "never yields; it must be an async generator function"),
        (not_async, 'is a plain generator function; write "async def"'),
        (plain, "is a plain function; it must be an async generator function"),
        (lambda: None, "is a plain function; it must be an async generator function"),
        (bare, 'has no annotation for its parameter "words"'),
        (bare_setting, 'has no annotation for its parameter "loud"'),
        (no_return, f"does not say what it offers; {OFFER}"),
        (returns_anything, f"returns Any; {OFFER}"),
        (
            sends,
            f"returns collections.abc.AsyncGenerator[{__name__}.Words, int]; {OFFER}",
        ),
        (
            unresolvable,
            f"has an annotation that cannot be resolved: name 'Nowhere' is not defined; {OUTSIDE}",
        ),
        (lost_star, f'has a need "loud" of bool; {NEED}'),
        (optional_need, f'has a need "words" of {__name__}.Words | None; {NEED}'),
        (any_need, f'has a need "words" of Any; {NEED}'),
        (default_need, 'gives its need "words" a default; a need has none, and a setting goes after "*"'),
        (offers_text, "offers str; an offer is a class of its own, or None"),
        (offers_two, f"offers {__name__}.Words | {__name__}.Tools; an offer is a class of its own, or None"),
        (twice, "needs Words twice"),
        (itself, "needs Words, which it offers itself"),
        (
            odd_setting,
            f'has a setting "words" of Words; {MADE_OF}',
        ),
        (row_key, 'declares a setting "use", which every row of a composition has already'),
    ],
)
def test_what_is_not_plainly_a_plugin_is_refused_in_one_line_that_names_the_module(
    plugin: object, complaint: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_manifest(plugin, "demo.tool")
    assert str(caught.value) == f"demo.tool: plugin {complaint}"


def test_a_plugin_mounted_by_hand_has_its_settings_checked_too() -> None:
    assert mount_plugin("demo", good, {"loud": True}).settings == {"loud": True}
    with pytest.raises(ConfigError, match='demo: setting "loud" is required: true or false'):
        mount_plugin("demo", good)


class Shape(Protocol):
    def draw(self) -> str: ...


def test_the_yielded_value_must_be_what_the_signature_offers() -> None:
    def offering(offer: type | None) -> Callable[[object], str | None]:
        return lambda value: offer_fault(Manifest("demo", (), (), offer), value)

    assert offering(Words)(Words()) is None
    assert offering(Words)(None) == "offers Words, but yielded NoneType"
    assert offering(None)(None) is None
    assert offering(None)(Words()) == "offers nothing, but yielded Words"
    assert offering(Shape)(Words()) is None
    assert offering(Shape)(None) == "offers Shape, but yielded NoneType"
