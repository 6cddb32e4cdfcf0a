"""How the real program is sent to a provider on this machine, and what no trace of a run may hold."""

from typing import Any

from tests.acceptance.conftest import House
from tests.provider import Asked, Provider
from tests.wire.house import CHECKERS
from tests.wire.says import SETTINGS, Dialect, environment

KEY = "sk-very-secret-0123456789abcdef"


def model(dialect: Dialect) -> tuple[str, str]:
    """The dialect's model, as it stands on the command line."""
    return "-m", SETTINGS[dialect][0]


def env(dialect: Dialect, provider: Provider) -> dict[str, str]:
    """Sends a program to the provider, with a key to look for afterwards."""
    return environment(dialect, provider.url, KEY)


def check(dialect: Dialect, asked: list[Asked]) -> None:
    """Every request is one that the dialect takes, and brings the key."""
    for one in asked:
        assert CHECKERS[dialect](one.body) == [], one.body
        assert KEY in "".join(one.headers.values())


def kinds(events: list[dict[str, Any]], type: str) -> list[Any]:
    """The data of the events of that type."""
    return [event["data"] for event in events if event["type"] == type]


def keyless(house: House, *said: str) -> None:
    """The key is neither in what was printed nor anywhere in the home."""
    for text in said:
        assert KEY not in text
    for path in house.home.rglob("*"):
        if path.is_file():
            assert KEY.encode() not in path.read_bytes(), path
