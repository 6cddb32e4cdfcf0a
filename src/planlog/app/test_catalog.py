"""What `planlog models` says of one provider, to a person and to a program."""

import pytest

from planlog.app.catalog import Entry, catalog
from planlog.kernel.errors import ConfigError
from planlog.model.models import Models
from planlog.model.providers import Provider

PROVIDER = Provider("acme", "chat", "https://acme.example/v1", ("ACME_KEY", "OTHER_KEY"), "big")


def told(entry: Entry) -> list[str]:
    return ["".join(span.text for span in line) for line in entry.lines()]


def test_models_stand_a_line_each_as_they_are_named_and_the_default_is_marked() -> None:
    assert told(Entry(PROVIDER, "big", ["big", "small"])) == ["acme:big  -m acme means this one", "acme:small"]
    assert told(Entry(PROVIDER, "", ["big"])) == ["acme:big"]
    assert told(Entry(PROVIDER, "", [])) == ["acme: has no models"]


def test_what_is_lacking_is_told_once_with_whose_it_is() -> None:
    assert told(Entry(PROVIDER, lack="set ACME_KEY")) == ["acme: set ACME_KEY"]
    assert told(Entry(PROVIDER, lack="acme: cannot reach acme.example")) == ["acme: cannot reach acme.example"]
    assert told(Entry(PROVIDER, lack="acme (ACME_KEY): no")) == ["acme (ACME_KEY): no"]


def test_a_program_is_told_the_same() -> None:
    said = {"provider": "acme", "key": "ACME_KEY", "default": "big", "models": ["acme:big"], "lack": None}
    assert Entry(PROVIDER, "big", ["big"]).json() == said
    lacking = {**said, "default": None, "models": None, "lack": "set ACME_KEY"}
    assert Entry(PROVIDER, lack="set ACME_KEY").json() == lacking


async def test_without_keys_each_says_what_to_set_and_another_server_has_no_default() -> None:
    [entry] = await catalog(Models({}), "openai")
    assert (entry.default, entry.models, entry.lack) == ("gpt-5.6", None, "set OPENAI_API_KEY")
    [entry] = await catalog(Models({"OPENAI_BASE_URL": "nonsense"}), "openai")
    assert (entry.default, entry.lack[:26]) == ("", "OPENAI_BASE_URL is no addr")


async def test_a_provider_that_nobody_knows_is_told_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match='there is no provider "acme"; the providers are anthropic, openai, gemini'):
        await catalog(Models({}), "acme")
