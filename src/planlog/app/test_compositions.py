import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planlog.app.main import main
from planlog.app.shipped import SHIPPED, find_composition, shipped_names, without_absent
from planlog.app.toml import value
from planlog.kernel.composition import Composition, Row

# What a setting of each type may not be given as.
MISTYPED = {bool: "perhaps", int: "many", float: "much", str: 7, list: 7, dict: 7}


def text_of(document: dict[str, Any]) -> str:
    lines = [f"roles = {value(document['roles'])}"]
    for row in document["plugin"]:
        lines += ["[[plugin]]", *(f"{key} = {value(setting)}" for key, setting in row.items())]
    return "\n".join(lines)


def faults(name: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Each key of each row of a shipped composition, dropped and mistyped, and an unknown one beside them."""
    document = tomllib.loads((SHIPPED / f"{name}.toml").read_text())
    there = {row.id for row in find_composition(name).rows}
    rows = [row for row in document["plugin"] if row["id"] in there]

    def changed(index: int, row: dict[str, Any]) -> str:
        return text_of({**document, "plugin": [*rows[:index], row, *rows[index + 1 :]]})

    for index, row in enumerate(rows):
        for key in row:
            yield changed(index, {other: row[other] for other in row if other != key}), row, key
            yield changed(index, {**row, key: MISTYPED[type(row[key])]}), row, key
        yield changed(index, {**row, "surely_unknown": 1}), row, "surely_unknown"


@pytest.mark.parametrize("name", shipped_names())
def test_a_fault_in_a_row_is_one_line_that_names_row_key_and_choice(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.toml"
    for text, row, key in faults(name):
        path.write_text(text)
        code = main(["config", "--composition", str(path)])
        said = capsys.readouterr().err
        assert code == 2, text
        assert said.count("\n") == 1
        assert said.startswith("planlog: ")
        assert key in said
        assert row["id"] in said or key == "id"
        if key in row and key not in ("id", "use"):
            assert any(kind in said for kind in ("true or false", "whole number", "one of", "a text"))


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_composition_loads_and_is_printed_with_its_origin(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "--composition", name]) == 0
    printed = capsys.readouterr().out
    document = tomllib.loads((SHIPPED / f"{name}.toml").read_text())
    there = {row.id for row in find_composition(name).rows}
    assert tomllib.loads(printed) == {**document, "plugin": [row for row in document["plugin"] if row["id"] in there]}
    assert printed.count(f"{name}.toml\n[[plugin]]") == printed.count("[[plugin]]")


def test_what_ships_is_what_lies_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "emptied" / "__pycache__").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    rows = tuple(Row(use, use, {}) for use in ("planlog.agent", "planlog.features.never_was", "emptied"))
    assert without_absent(Composition("own", "own.toml", ("event",), rows)).rows == rows[:1]


@pytest.mark.parametrize("name", shipped_names())
def test_a_composition_with_todo_states_why_plans_are_parallel_or_not(name: str) -> None:
    lines = (SHIPPED / f"{name}.toml").read_text().splitlines()
    for index, line in enumerate(lines):
        if line.startswith("allow_parallel_in_progress"):
            assert lines[index - 1].startswith("# ")


def test_a_composition_that_is_not_there_names_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "--composition", "nope"]) == 2
    said = f'planlog: there is no composition "nope"; shipped: {", ".join(shipped_names())}; or name a file that ends in .toml\n'
    assert capsys.readouterr().err == said
