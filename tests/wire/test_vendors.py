"""One session that wanders from provider to provider: each gets requests that it takes, whoever answered before."""

import json

from planlog.agent.event import Completed
from planlog.model.providers import PROVIDERS
from tests import chat_checker, messages_checker
from tests.provider import Asked, Provider, Reply
from tests.wire.house import events_of, wire_house
from tests.wire.says import Dialect, reply

THINKING = "Who asks? A person."
THINKERS = ("anthropic", "deepseek", "moonshot")
BRIDGED = {
    "openrouter": "compatible",
    "groq": "compatible",
    "xai": "compatible",
    "ollama": "compatible",
    "openai": "compatible",
}
"""Those that are checked as anybody who is compatible: what OpenAI itself wants is told by its host, which is no fake's."""


def faults(vendor: str, asked: Asked) -> list[str]:
    if vendor == "anthropic":
        return messages_checker.faults(asked.body)
    return chat_checker.faults(asked.body, vendor=BRIDGED.get(vendor, vendor))


async def test_every_provider_takes_what_every_other_one_has_answered() -> None:
    names = [provider.name for provider in PROVIDERS]
    provider = Provider()
    async with provider.serve():
        env = {f"{name.upper()}_BASE_URL": provider.url for name in names}
        async with wire_house(provider, "chat", **env) as house:
            session = await house.session()
            for number, name in enumerate([*names, *reversed(names)]):
                dialect: Dialect = "messages" if name == "anthropic" else "chat"
                id = f"functions.bash:{number}" if number % 2 else f"call_{number}_{'x' * 50}"
                calls = [(id, "bash", json.dumps({"command": f"{number}"})), (f"id_{number}", "bash", "no JSON")]
                thinking = THINKING if name in THINKERS else ""
                provider.queue(
                    Reply(reply(dialect, "I look.", calls, thinking=thinking)),
                    Reply(reply(dialect, "I saw.", thinking=thinking)),
                )
                before = len(provider.asked)
                assert isinstance(await house.turn(session, model=f"{name}:m"), Completed)
                for asked in provider.asked[before:]:
                    assert faults(name, asked) == [], (name, asked.body)
                    assert (b"signed:" in asked.body) <= (name == "anthropic")
            assert house.done == [json.dumps({"command": f"{n}"}, separators=(",", ":")) for n in range(2 * len(names))]
            signed = [asked for asked in provider.asked if b"signed:" in asked.body]
            assert signed
            assert "signed:" in json.dumps(await events_of(session))
