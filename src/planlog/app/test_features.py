import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from planlog.app.features import mounted_commands
from planlog.kernel.composition import Composition, Row
from planlog.kernel.errors import ConfigError

HEAD = """
from collections.abc import AsyncGenerator
import click
from planlog.faces.cli import CommandLine

@click.command("wave")
def wave() -> int:
    return 0

"""
Write = Callable[[str], Composition]


@pytest.fixture
def composition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Write:
    """Makes a composition of one feature, whose `cli.py` holds HEAD and the given text."""
    name = f"feature_{abs(hash(request.node.nodeid))}"
    monkeypatch.syspath_prepend(tmp_path)

    def write(text: str) -> Composition:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "cli.py").write_text(HEAD + textwrap.dedent(text))
        return Composition("own", "own.toml", ("cli", "event"), (Row("waving", name, {"setting": 1}, "own.toml"),))

    return write


def test_a_feature_adds_a_command_as_long_as_it_is_mounted(composition: Write) -> None:
    own = composition("""
        async def plugin(line: CommandLine) -> AsyncGenerator[None]:
            with line.add(wave):
                yield
    """)
    with mounted_commands(own) as line:
        assert line.names() == ["wave"]
    assert line.names() == []


def test_commands_are_mounted_without_an_event_loop_so_a_plugin_that_waits_is_refused(composition: Write) -> None:
    own = composition("""
        class Slow:
            def __await__(self):
                yield

        async def plugin(line: CommandLine) -> AsyncGenerator[None]:
            await Slow()
            yield
    """)
    with (
        pytest.raises(ConfigError, match="plugin awaits; commands are mounted without an event loop"),
        mounted_commands(own),
    ):
        pass


@pytest.mark.parametrize(
    "parameters", ["", "line: CommandLine, *, loud: bool", "line: CommandLine, other: click.Command"]
)
def test_a_plugin_of_another_shape_is_refused_in_one_line(composition: Write, parameters: str) -> None:
    own = composition(f"""
        async def plugin({parameters}) -> AsyncGenerator[None]:
            yield
    """)
    with (
        pytest.raises(ConfigError, match=r"cli: its plugin takes a CommandLine, no settings, and offers nothing"),
        mounted_commands(own),
    ):
        pass


def test_a_broken_module_is_named(composition: Write) -> None:
    with (
        pytest.raises(ConfigError, match=r"waving: cannot import .*\.cli: ZeroDivisionError"),
        mounted_commands(composition("1 / 0")),
    ):
        pass


def test_help_loads_no_event_loop() -> None:
    import subprocess

    program = (
        "import sys; from planlog.app.main import main; main(['--help']);"
        "heavy = {'asyncio', 'anyio', 'apsw', 'planlog.log.event'} & set(sys.modules); sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "sessions  List all sessions." in done.stdout


def test_the_version_loads_nothing_at_all() -> None:
    import subprocess

    program = (
        "import sys; before = set(sys.modules); from planlog.app.main import main; main(['--version']);"
        "sys.stderr.write(' '.join(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert set(done.stderr.split()) <= {
        "planlog",
        "planlog.app",
        "planlog.app.main",
        "collections",
        "collections.abc",
    } | set(sys.stdlib_module_names)
    assert "click" not in done.stderr
