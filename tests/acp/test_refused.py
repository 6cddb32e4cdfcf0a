"""A program that cannot serve says why on the wire, where an editor's person sees it."""

import subprocess

from tests.acceptance.conftest import House
from tests.acp.conftest import Connect


def test_a_composition_that_is_refused_is_told_to_whoever_asks_for_a_session(connect: Connect, house: House) -> None:
    own = house.folder / "own.toml"
    own.write_text('roles = ["service", "acp"]\n[[plugin]]\nid = "agent"\nuse = "planlog.agent"\n')
    wire = connect(options=("--composition", str(own)), stderr=subprocess.PIPE)
    error = wire.error(wire.request("session/new", cwd=str(house.folder), mcpServers=[]))
    assert "max_steps" in error["message"]
    assert wire.process.wait(10) == 2
    assert wire.process.stderr is not None
    (line,) = wire.process.stderr.read().decode().splitlines()
    assert error["message"] in line
