import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from planlog.app.main import main
from planlog.app.shipped import SHIPPED, shipped_names
from planlog.app.toml import value

# What a setting of each type may not be given as.
MISTYPED = {bool: "perhaps", int: "many", float: "much", str: 7, list: 7, dict: 7}


def text_of(document: dict[str, Any]) -> str:
    lines = [f"roles = {value(document['roles'])}"]
    for row in document["plugin"]:
        lines += ["[[plugin]]", *(f"{key} = {value(setting)}" for key, setting in row.items())]
    return "\n".join(lines)


def faults() -> Iterator[Any]:
    """Each key of each row of each shipped composition, dropped and mistyped, and an unknown one beside them."""
    for name in shipped_names():
        document = tomllib.loads((SHIPPED / f"{name}.toml").read_text())
        for index, row in enumerate(document["plugin"]):
            rows = document["plugin"]

            def changed(
                row: dict[str, Any], index: int = index, rows: list[Any] = rows, document: Any = document
            ) -> str:
                return text_of({**document, "plugin": [*rows[:index], row, *rows[index + 1 :]]})

            for key in row:
                dropped = {other: row[other] for other in row if other != key}
                yield pytest.param(changed(dropped), row, key, id=f"{name}-{row['id']}-without-{key}")
                wrong = {**row, key: MISTYPED[type(row[key])]}
                yield pytest.param(changed(wrong), row, key, id=f"{name}-{row['id']}-wrong-{key}")
            unknown = {**row, "surely_unknown": 1}
            yield pytest.param(changed(unknown), row, "surely_unknown", id=f"{name}-{row['id']}-unknown")


@pytest.mark.parametrize(("text", "row", "key"), list(faults()))
def test_a_fault_in_a_row_is_one_line_that_names_row_key_and_choice(
    text: str, row: dict[str, Any], key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text)
    code = main(["config", "--composition", str(path)])
    said = capsys.readouterr().err
    assert code == 2
    assert said.count("\n") == 1
    assert said.startswith("planlog: ")
    assert key in said
    assert row["id"] in said or key == "id"
    if key in row and key not in ("id", "use"):
        assert "true or false" in said or "whole number" in said or "one of" in said


@pytest.mark.parametrize("name", shipped_names())
def test_every_shipped_composition_loads_and_is_printed_with_its_origin(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["config", "--composition", name]) == 0
    printed = capsys.readouterr().out
    assert tomllib.loads(printed) == tomllib.loads((SHIPPED / f"{name}.toml").read_text())
    assert printed.count(f"{name}.toml\n[[plugin]]") == printed.count("[[plugin]]")


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
