"""Opens the model that a person names, `provider:model` or `script:FILE`, or the one that fits what is set."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from planlog.kernel.errors import ConfigError
from planlog.log.text import clean_text
from planlog.model.model import Model

if TYPE_CHECKING:
    from planlog.model.connection import Connection
    from planlog.model.providers import Address, Provider

SCRIPT = "script"


class Models:
    """`env` holds keys and addresses. `default` is opened where none is named, "" leaves it to the keys.

    `effort` and `max_tokens` are for every remote model, see `Request`; "" and 0 leave them to the provider.
    `context_window` is that of every model, 0 where it is not known.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        default: str = "",
        effort: str = "",
        max_tokens: int = 0,
        context_window: int = 0,
    ) -> None:
        if max_tokens < 0:
            raise ConfigError(f"max_tokens must be 0 (the provider decides) or more, got {max_tokens}")
        if context_window < 0:
            raise ConfigError(f"context_window must be 0 (not known) or more, got {context_window}")
        self._env = env
        self._default = default
        self._effort = effort or None
        self._max_tokens = max_tokens or None
        self._context_window = context_window or None
        self._connection: Connection | None = None

    def open(self, text: str | None = None) -> Model:
        """A new instance for one session. Raises `ConfigError`, one line that says what is possible."""
        text = text or self._default
        kind, colon, name = text.partition(":")
        if kind == SCRIPT and colon and name:
            from planlog.model.scripted import open_script

            script = open_script(Path(name))
            script.context_window = self._context_window
            return script
        address, name = self._choose(kind, clean_text(name), text)
        from planlog.model.remote import RemoteModel

        model = RemoteModel(address, name, self.connection(), effort=self._effort, max_tokens=self._max_tokens)
        model.context_window = self._context_window
        return model

    def choices(self, text: str | None = None) -> list[str]:
        """Names that `open` takes now, first the one that `text` means (as in `open`), none where it means nothing.

        The others are the models that are asked where a key is set; which more there are only their providers know.
        """
        from planlog.model.providers import PROVIDERS

        text = text or self._default
        kind, _, name = text.partition(":")
        try:
            if kind == SCRIPT and name:
                return [text]
            address, name = self._choose(kind, clean_text(name), text)
        except ConfigError:
            return []
        chosen = f"{address.provider.name}:{name}"
        ready = [p for p in PROVIDERS if p.model and any(self._env.get(key, "").strip() for key in p.keys)]
        return list(dict.fromkeys([chosen, *(f"{p.name}:{p.model}" for p in ready)]))

    def address(self, provider: "Provider") -> "Address":
        """Where the provider is reached from here. Raises `ConfigError` for a key or an address that cannot be one."""
        from planlog.model.providers import address_of

        return address_of(provider, self._env)

    def connection(self) -> "Connection":
        """What remote models share; it is closed by `aclose`."""
        from planlog.model.connection import Connection

        if self._connection is None:
            self._connection = Connection()
        return self._connection

    async def aclose(self) -> None:
        """Ends every connection."""
        if self._connection is not None:
            await self._connection.aclose()

    def _choose(self, kind: str, name: str, text: str) -> "tuple[Address, str]":
        from planlog.model.providers import NAMES, provider_named

        if not text:
            return self._choose_by_key()
        provider = provider_named(kind)
        if provider is None:
            choices = f"the providers are {', '.join(NAMES)}; script:FILE is a file of replies"
            raise ConfigError(f'"{text}" names no model; a model is provider:model, as in anthropic:NAME; {choices}')
        address = self.address(provider)
        name = name or address.default_model
        if not name:
            raise ConfigError(f"{kind} has many models; name one as in {kind}:NAME (planlog models {kind} lists them)")
        if not address.is_ready:
            raise ConfigError(f"{kind} needs a key: set {provider.keys[0]}")
        return address, name

    def _choose_by_key(self) -> "tuple[Address, str]":
        from planlog.model.providers import PROVIDERS

        for provider in PROVIDERS:
            if provider.keys and any(self._env.get(key, "").strip() for key in provider.keys):
                address = self.address(provider)
                if address.default_model:
                    return address, address.default_model
                raise ConfigError(
                    f"no model is chosen; name one with -m {provider.name}:NAME "
                    f"(planlog models {provider.name} lists them)"
                )
        keys = ", ".join(provider.keys[0] for provider in PROVIDERS if provider.keys and provider.model)
        raise ConfigError(
            f"no model is chosen and no key is set; set one of {keys}, or name a model with -m, as in ollama:NAME "
            "or script:FILE (planlog demo needs neither)"
        )
