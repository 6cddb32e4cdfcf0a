import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planlog.kernel.composition import Row
from planlog.kernel.errors import ConfigError
from planlog.kernel.features import load_row

Package = Callable[..., Row]

PLUGIN = """
from collections.abc import AsyncGenerator

async def plugin({parameters}) -> AsyncGenerator[None]:
    yield
"""


def plugin(parameters: str = "") -> str:
    return PLUGIN.format(parameters=parameters)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    """Makes a package `feature` of the given role files and returns a row that uses it."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(settings: dict[str, object] | None = None, /, use: str = "feature", **files: str) -> Row:
        (tmp_path / "feature").mkdir()
        for name, text in {"__init__": "", **files}.items():
            (tmp_path / "feature" / f"{name}.py").write_text(text)
        return Row("demo", use, settings or {})

    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "feature"]:
        del sys.modules[name]


def test_each_role_file_that_is_asked_for_becomes_a_mount_in_the_order_of_the_house(package: Package) -> None:
    row = package(web=plugin(), tool=plugin(), event=plugin(), other="raise SystemError")
    mounts = load_row(row, ["web", "event", "tool", "acp"])
    assert [mount.id for mount in mounts] == ["demo/event", "demo/tool", "demo/web"]
    assert [mount.manifest.module for mount in mounts] == ["feature.event", "feature.tool", "feature.web"]


def test_a_role_that_nobody_asks_for_is_not_even_imported(package: Package) -> None:
    row = package(event=plugin(), web="raise SystemError('imported')")
    assert [mount.id for mount in load_row(row, ["event"])] == ["demo/event"]
    assert "feature.web" not in sys.modules


def test_settings_go_to_the_role_that_declares_them(package: Package) -> None:
    row = package({"loud": True, "width": 40}, tool=plugin("*, loud: bool"), web=plugin("*, width: int = 80"))
    assert [mount.settings for mount in load_row(row, ["tool", "web"])] == [{"loud": True}, {"width": 40}]


def test_a_command_mounts_few_roles_and_checks_the_row_against_all_of_its_program(package: Package) -> None:
    row = package({"loud": True}, event=plugin(), tool=plugin("*, loud: bool"))
    assert [mount.id for mount in load_row(row, mount=["event"], check=["event", "tool"])] == ["demo/event"]
    assert load_row(row, mount=["cli"], check=["event", "tool"]) == []
    assert refusal(row, "event") == 'demo: unknown setting "loud"; it has no settings'


def refusal(row: Row, *roles: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load_row(row, roles)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_settings_that_are_missing_unknown_mistyped_or_claimed_twice_are_refused(package: Package) -> None:
    row = package(tool=plugin("*, loud: bool"), web=plugin("*, loud: bool"))
    assert refusal(row, "tool") == 'demo: setting "loud" is required: true or false'
    assert refusal(Row("demo", "feature", {"loud": 1}), "tool") == 'demo: setting "loud" must be true or false, got 1'
    assert refusal(Row("demo", "feature", {"lod": 1}), "tool") == 'demo: unknown setting "lod"; it knows: loud'
    assert refusal(row, "tool", "web") == (
        'demo: setting "loud" is declared by feature.tool and feature.web; only one may declare it'
    )


def test_what_use_names_must_be_a_package_with_a_role(package: Package, tmp_path: Path) -> None:
    row = package(web=plugin())
    (tmp_path / "single.py").write_text(plugin())
    assert refusal(row, "event", "tool") == (
        "demo: the package feature has no role that is asked for; it would need one of event.py, tool.py"
    )
    assert refusal(row, "lamp").startswith("demo: unknown role lamp; roles are event, fold, ")
    assert refusal(Row("demo", "single"), "tool") == (
        "demo: single is a plain module; a row uses a package whose files are its roles"
    )
    assert refusal(Row("demo", "nowhere.at.all"), "tool") == (
        'demo: use = "nowhere.at.all": there is no module nowhere'
    )
    assert refusal(Row("demo", "feature.attic"), "tool") == (
        'demo: use = "feature.attic": there is no module feature.attic'
    )
    assert refusal(Row("demo", "single.tool"), "tool") == 'demo: use = "single.tool": there is no module single.tool'


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("import nowhere", "demo: cannot import feature.tool: ModuleNotFoundError: No module named 'nowhere'"),
        ("1 / 0", "demo: cannot import feature.tool: ZeroDivisionError: division by zero"),
        ("def", "demo: cannot import feature.tool: SyntaxError: invalid syntax (tool.py, line 1)"),
        ("raise ValueError('a\\nb')", "demo: cannot import feature.tool: ValueError: a"),
    ],
)
def test_a_role_that_cannot_be_imported_is_named_with_the_reason(package: Package, text: str, complaint: str) -> None:
    assert refusal(package(tool=text), "tool") == complaint


OWN = 'a role defines its own "async def plugin"'

OUTSIDE = "import what it names outside TYPE_CHECKING"

UNDER_A_DECORATOR = """
from collections.abc import AsyncGenerator

def quiet(function):
    async def wrapper() -> AsyncGenerator[None]:
        async for offer in function():
            yield offer
    return wrapper

@quiet
async def plugin(words) -> AsyncGenerator[None]:
    yield
"""

FOR_CHECKERS_ONLY = """
from __future__ import annotations
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from words import Words

async def plugin(words: Words) -> AsyncGenerator[None]:
    yield
"""

COUSINS = {
    "nothing": ("", "has no function named plugin"),
    "a default export": (plugin().replace("plugin", "default"), "has no function named plugin"),
    "an object beside it": (
        f"{plugin().replace('plugin', 'apply')}\nplugin = {{'inject': [], 'apply': apply}}",
        "plugin must be an async generator function, not an object of type dict",
    ),
    "an alias": (
        f"{plugin().replace('plugin', 'other')}\nplugin = other",
        f"plugin is feature.tool.other under another name; {OWN}",
    ),
    "a re-export": (
        "from feature.event import plugin",
        f"plugin is feature.event.plugin under another name; {OWN}",
    ),
    "one made by a factory": (
        f"def make():{plugin().replace(chr(10), chr(10) + '    ')}\n    return plugin\nplugin = make()",
        f"plugin is feature.tool.make.<locals>.plugin under another name; {OWN}",
    ),
    "two of them": (plugin() + plugin(), "defines plugin more than once; the first would be lost"),
    "a decorator without wraps": (
        UNDER_A_DECORATOR,
        f"plugin is feature.tool.quiet.<locals>.wrapper under another name; {OWN}",
    ),
    "a need known to type checkers only": (
        FOR_CHECKERS_ONLY,
        f"plugin has an annotation that cannot be resolved: name 'Words' is not defined; {OUTSIDE}",
    ),
}


@pytest.mark.parametrize("text, complaint", COUSINS.values(), ids=COUSINS)
def test_the_cousins_of_the_default_export_trap_are_refused(package: Package, text: str, complaint: str) -> None:
    assert refusal(package(event=plugin(), tool=text), "tool") == f"feature.tool: {complaint}"
