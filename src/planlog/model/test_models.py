"""Which model is opened, from what a person says and what the environment holds; every refusal is one line."""

from pathlib import Path

import pytest

from planlog.kernel.errors import ConfigError
from planlog.model.anthropic import AnthropicMessages
from planlog.model.chat.vendors import VENDORS
from planlog.model.models import Models
from planlog.model.providers import PROVIDERS, Provider, address_of, dialect_of, provider_named
from planlog.model.remote import RemoteModel

KEY = "sk-test-0123456789abcdef"


def opened(text: str | None, **env: str) -> tuple[str, str]:
    model = Models(env).open(text)
    return model.provider, model.name


def test_a_script_is_chosen_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text('{"text":"Hi."}')
    assert opened(f"script:{path}") == ("script", "script.jsonl")


@pytest.mark.parametrize(
    ("text", "env", "expected"),
    [
        ("anthropic:claude-x", {"ANTHROPIC_API_KEY": KEY}, ("anthropic", "claude-x")),
        ("anthropic", {"ANTHROPIC_API_KEY": KEY}, ("anthropic", "claude-opus-5-5")),
        (None, {"OPENAI_API_KEY": KEY}, ("openai", "gpt-5.6")),
        (None, {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": " "}, ("openai", "gpt-5.6")),
        (None, {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}, ("anthropic", "claude-opus-5-5")),
        (None, {"GOOGLE_API_KEY": KEY}, ("gemini", "gemini-3.5-flash")),
        ("ollama:llama4:8b", {}, ("ollama", "llama4:8b")),
        ("ollama:a\udcff", {}, ("ollama", "a\ufffd")),
        ("openai:qwen", {"OPENAI_BASE_URL": "http://localhost:8000/v1/"}, ("openai", "qwen")),
    ],
)
def test_a_model_is_found_by_name_or_by_the_first_key(
    text: str | None, env: dict[str, str], expected: tuple[str, str]
) -> None:
    assert opened(text, **env) == expected


@pytest.mark.parametrize(
    ("text", "env", "said"),
    [
        (None, {}, ("no model is chosen and no key is set; set one of ANTHROPIC_API_KEY, OPENAI_API_KEY, "
                   "GEMINI_API_KEY, DEEPSEEK_API_KEY, or name a model with -m, as in ollama:NAME or script:FILE "
                   "(planlog demo needs neither)")),
        (None, {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://localhost:1/v1"},
         "no model is chosen; name one with -m openai:NAME (planlog models openai lists them)"),
        ("openai", {"OPENAI_BASE_URL": "http://localhost:1/v1"},
         "openai has many models; name one as in openai:NAME (planlog models openai lists them)"),
        ("openai:gpt", {}, "openai needs a key: set OPENAI_API_KEY"),
        ("openai:gpt", {"OPENAI_API_KEY": " \n"}, "openai needs a key: set OPENAI_API_KEY"),
        ("openai:gpt", {"OPENAI_API_KEY": "sk-a\nb"},
         "OPENAI_API_KEY holds a character that no key has, such as a line break; set it anew"),
        ("openai:gpt", {"OPENAI_API_KEY": "sk-ä"},
         "OPENAI_API_KEY holds a character that no key has, such as a line break; set it anew"),
        ("ollama", {}, "ollama has many models; name one as in ollama:NAME (planlog models ollama lists them)"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_told_in_one_line(text: str | None, env: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        opened(text, **env)
    assert str(refused.value) == said


@pytest.mark.parametrize("text", ["gpt-5", "script:", ":x", "opnai:gpt", ""])
def test_a_name_that_is_none_is_told_what_names_look_like(text: str) -> None:
    with pytest.raises(ConfigError, match=r"script:FILE"):
        opened(text)


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000/v1", "//host/v1", "ftp://host", "http://", "http://h:x/v1", "http://ho st/", "https://é/",
        "https://host/v1?version=1", "https://host/v1#chat",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        opened("openai:gpt", OPENAI_BASE_URL=url, OPENAI_API_KEY=KEY)
    assert str(refused.value) == (
        "OPENAI_BASE_URL is no address; it has to look like https://host/v1 or http://localhost:8000/v1"
    )


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_every_provider_opens_with_its_key_and_shows_it_to_nobody(provider: Provider) -> None:
    env = dict.fromkeys(provider.keys, KEY)
    model = Models(env).open(f"{provider.name}:m")
    assert isinstance(model, RemoteModel)
    address = address_of(provider, env)
    assert address.is_ready
    assert KEY not in f"{address!r} {address} {model!r} {vars(model)}"


@pytest.mark.parametrize(
    ("url", "vendor"),
    [
        ("https://api.openai.com/v1", "openai"),
        ("https://api.deepseek.com/v1", "deepseek"),
        ("https://api.mistral.ai/v1", "mistral"),
        ("https://api.moonshot.cn/v1", "moonshot"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://mine.openai.azure.com/openai/v1", "openai"),
        ("https://notapi.openai.com.example/v1", "chat"),
        ("https://api.anthropic.com/v1", "chat"),
        ("http://localhost:8000/v1", "chat"),
        ("https://gateway.example/v1", "chat"),
    ],
)
def test_who_is_reached_by_openais_name_is_spoken_to_by_the_host(url: str, vendor: str) -> None:
    openai = provider_named("openai")
    assert openai is not None
    assert dialect_of(address_of(openai, {"OPENAI_BASE_URL": url})) is VENDORS[vendor]


@pytest.mark.parametrize("name", ["deepseek", "gemini", "groq", "mistral", "moonshot", "ollama", "openrouter", "xai"])
def test_a_provider_that_is_named_keeps_its_manners_at_an_address_of_ones_own(name: str) -> None:
    provider = provider_named(name)
    assert provider is not None
    address = address_of(provider, {f"{name.upper()}_BASE_URL": "http://localhost:1/v1"})
    assert address.url == "http://localhost:1/v1"
    assert dialect_of(address) is VENDORS[provider.dialect]


def test_only_anthropics_own_server_is_asked_for_what_it_alone_understands() -> None:
    anthropic = provider_named("anthropic")
    assert anthropic is not None
    for env, expected in (({}, True), ({"ANTHROPIC_BASE_URL": "http://localhost:1"}, False)):
        address = address_of(anthropic, env)
        assert (address.own_server, address.needs_key) == (expected, expected)
        assert dialect_of(address) == AnthropicMessages(own_server=expected)
