"""Who sells or serves models: where requests go, what they look like there, and where the key is.

Default models and addresses are those that the vendors' documentation names as current in late 2026.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import msgspec

from planlog.kernel.errors import ConfigError

if TYPE_CHECKING:
    from planlog.model.dialect import Dialect


class Provider(msgspec.Struct, frozen=True):
    """`keys` are the variables that may hold its key, the first of them is the one that is named to people.

    `model` is what its own servers are asked for where none is named, "" where nothing can be said in advance.
    `hosts` are further ones where it, or who serves its models, is met at `OPENAI_BASE_URL`.
    """

    name: str
    dialect: Literal["chat", "deepseek", "gemini", "mistral", "moonshot", "openai", "messages"]
    url: str
    keys: tuple[str, ...] = ()
    model: str = ""
    models_path: str = "/models"
    hosts: tuple[str, ...] = ()

    @property
    def url_variable(self) -> str:
        """What may hold another address, of a server that speaks as this provider does."""
        return f"{self.name.upper()}_BASE_URL"

    def is_at(self, host: str) -> bool:
        """Whether a host is one of the provider's."""
        own = (str(urlsplit(self.url).hostname), *self.hosts)
        return any(host == one or host.endswith(f".{one}") for one in own)


PROVIDERS = (
    Provider(
        "anthropic",
        "messages",
        "https://api.anthropic.com",
        ("ANTHROPIC_API_KEY",),
        "claude-opus-5-5",
        models_path="/v1/models?limit=1000",
    ),
    Provider(
        "openai",
        "openai",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "gpt-5.6",
        hosts=("api.openai.com", "openai.azure.com", "services.ai.azure.com"),
    ),
    Provider(
        "gemini",
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "gemini-3.5-flash",
    ),
    Provider("deepseek", "deepseek", "https://api.deepseek.com", ("DEEPSEEK_API_KEY",), "deepseek-v4-pro"),
    Provider("moonshot", "moonshot", "https://api.moonshot.ai/v1", ("MOONSHOT_API_KEY",), hosts=("api.moonshot.cn",)),
    Provider("mistral", "mistral", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",)),
    Provider("openrouter", "chat", "https://openrouter.ai/api/v1", ("OPENROUTER_API_KEY",)),
    Provider("groq", "chat", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",)),
    Provider("xai", "chat", "https://api.x.ai/v1", ("XAI_API_KEY",)),
    Provider("ollama", "chat", "http://localhost:11434/v1"),
)
NAMES = tuple(provider.name for provider in PROVIDERS)


class Address(msgspec.Struct, frozen=True):
    """Where a provider is reached, and with which key: "" where none is set. `variable` is the key's."""

    provider: Provider
    url: str
    key: str
    variable: str

    def __repr__(self) -> str:
        return f"Address({self.provider.name!r}, {self.url!r})"

    @property
    def own_server(self) -> bool:
        """Whether the provider's own servers are there, not others that speak as they do."""
        return self.url == self.provider.url

    @property
    def default_model(self) -> str:
        """The model that is asked where none is named, "" where one has to be: nobody knows what another server has."""
        return self.provider.model if self.own_server else ""

    @property
    def needs_key(self) -> bool:
        """Whether it cannot be asked without a key: a server of one's own may want none."""
        return bool(self.provider.keys) and self.own_server

    @property
    def is_ready(self) -> bool:
        """Whether all is set that it takes to ask."""
        return bool(self.key) or not self.needs_key


def provider_named(name: str) -> Provider | None:
    """The provider of that name."""
    return next((provider for provider in PROVIDERS if provider.name == name), None)


def address_of(provider: Provider, env: Mapping[str, str]) -> Address:
    """What the environment says. Raises `ConfigError` for a key or an address that cannot be one."""
    variable = next((name for name in provider.keys if env.get(name, "").strip()), "")
    key = _checked_key(variable, env[variable].strip()) if variable else ""
    named = env.get(provider.url_variable, "").strip()
    url = _checked_url(provider.url_variable, named) if named else provider.url
    return Address(provider, url, key, variable or next(iter(provider.keys), ""))


def dialect_of(address: Address) -> "Dialect":
    """How the provider is spoken to at its address. At `OPENAI_BASE_URL` may be anybody: who it is, its host tells."""
    provider = address.provider
    if provider.dialect == "messages":
        from planlog.model.anthropic import AnthropicMessages

        return AnthropicMessages(own_server=address.own_server)
    from planlog.model.chat.vendors import VENDORS

    if provider.name != "openai":
        return VENDORS[provider.dialect]
    host = str(urlsplit(address.url).hostname)
    there = next((one.dialect for one in PROVIDERS if one.is_at(host)), "chat")
    return VENDORS.get(there, VENDORS["chat"])  # Anthropic understands chat completions too


def _checked_key(variable: str, key: str) -> str:
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(f"{variable} holds a character that no key has, such as a line break; set it anew")
    return key


def _checked_url(variable: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
        fits = fits and not {"?", "#"} & set(text)  # paths are put behind it
    except ValueError:
        fits = False
    if not fits or not text.isascii() or not text.isprintable() or " " in text:
        # It may hold a password, so it is not repeated.
        raise ConfigError(f"{variable} is no address; it has to look like https://host/v1 or http://localhost:8000/v1")
    return text.rstrip("/")
