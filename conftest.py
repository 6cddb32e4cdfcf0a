"""The rules under which every test runs: one event loop, one search for exceptions, and nothing left out."""

import os

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no reason to call a property slow; what takes too long is caught by the time-out of the test.
settings.register_profile("quick", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("quick"), derandomize=True, database=None, print_blob=True)
settings.register_profile("thorough", settings.get_profile("quick"), max_examples=2_000)
settings.load_profile("ci" if os.environ.get("CI") else "quick")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, the backend that planlog runs on."""
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def _nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the data of the person who runs it, not even one that forgets to say where."""
    os.environ["PLANLOG_HOME"] = str(tmp_path_factory.mktemp("home"))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run that left something out is red: a skip or an expected failure hides what nobody looks at again."""
    if os.environ.get("PLANLOG_ALLOW_SKIPS") != "1" and left_out(session.config) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Names what was left out, and how to allow it."""
    if os.environ.get("PLANLOG_ALLOW_SKIPS") == "1":
        return
    for name in left_out(terminalreporter.config):
        terminalreporter.write_line(f"left out: {name} (red unless PLANLOG_ALLOW_SKIPS=1)", red=True)


def left_out(config: pytest.Config) -> list[str]:
    """Node ids that were skipped, expected to fail, or passed although expected to fail.

    Not those that somebody has to ask for, and whose reason begins so: they cost money.
    """
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if not isinstance(reporter, pytest.TerminalReporter):  # a worker of pytest-xdist: its controller judges
        return []
    return [
        report.nodeid
        for outcome in ("skipped", "xfailed", "xpassed")
        for report in reporter.stats.get(outcome, [])
        if "opt-in: " not in str(report.longrepr)
    ]
