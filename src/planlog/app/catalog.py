"""What each provider has, or what it lacks, gathered for a person and for a program."""

from dataclasses import dataclass
from typing import Any

import anyio

from planlog.faces.renders import Line, Span
from planlog.kernel.errors import ConfigError
from planlog.model.inventory import models_of
from planlog.model.model import ModelError
from planlog.model.models import Models
from planlog.model.providers import NAMES, PROVIDERS, Provider, provider_named


@dataclass
class Entry:
    """One provider; `models` is None where it could not say, and `lack` why not.

    `default` is the model that is asked where -m names the provider alone, "" where it has to name one.
    """

    provider: Provider
    default: str = ""
    models: list[str] | None = None
    lack: str = ""

    def json(self) -> dict[str, Any]:
        """The entry as `--json` prints it."""
        names = None if self.models is None else [f"{self.provider.name}:{model}" for model in self.models]
        return {
            "provider": self.provider.name,
            "key": next(iter(self.provider.keys), None),
            "default": self.default or None,
            "models": names,
            "lack": self.lack or None,
        }

    def lines(self) -> list[Line]:
        """The entry as a person reads it: a model a line, as it stands after -m."""
        name = self.provider.name
        if self.models is None:
            # What a provider says itself begins with its name.
            return [(Span(self.lack if self.lack.startswith(name) else f"{name}: {self.lack}", "dim"),)]
        if not self.models:
            return [(Span(f"{name}: has no models", "dim"),)]
        return [
            (Span(f"{name}:{model}"), *([Span(f"  -m {name} means this one", "dim")] if model == self.default else []))
            for model in self.models
        ]


async def catalog(models: Models, name: str | None) -> list[Entry]:
    """What the provider of that name has, or every one. Raises `ConfigError` for a name that is none."""
    provider = provider_named(name) if name else None
    if name and provider is None:
        raise ConfigError(f'there is no provider "{name}"; the providers are {", ".join(NAMES)}')
    entries = [Entry(one) for one in ([provider] if provider else PROVIDERS)]
    async with anyio.create_task_group() as tasks:
        for entry in entries:
            tasks.start_soon(_fill, entry, models)
    return entries


async def _fill(entry: Entry, models: Models) -> None:
    try:
        address = models.address(entry.provider)
        entry.default = address.default_model
        if not address.is_ready:
            entry.lack = f"set {entry.provider.keys[0]}"
            return
        entry.models = await models_of(address, models.connection())
    except (ConfigError, ModelError) as error:
        entry.lack = str(error)
