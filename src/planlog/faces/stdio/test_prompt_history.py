import stat
from pathlib import Path

from planlog.faces.stdio.prompt_history import MOST_BYTES, PromptHistory


def test_entries_come_back_newest_first_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "home" / "history.jsonl"
    history = PromptHistory(path)
    for entry in ("one", "two\nlines \x1b[2J", "two\nlines \x1b[2J", "三 \ud800"):
        history.add(entry)
    assert list(PromptHistory(path).newest_first()) == ["三 �", "two\nlines \x1b[2J", "one"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_is_no_entry_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"one"\n{}\n\xff\n"two"\n"torn')
    assert list(PromptHistory(path).newest_first()) == ["two", "one"]


def test_a_history_that_cannot_be_kept_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    history = PromptHistory(tmp_path / "file" / "history.jsonl")
    history.add("one")
    assert list(history.newest_first()) == []


def test_of_a_long_history_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"old"\n' + b'"' + b"x" * MOST_BYTES + b'"\n"new"\n')
    assert list(PromptHistory(path).newest_first()) == ["new"]


def test_half_an_entry_spoils_none_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'"one"\n"to')
    PromptHistory(path).add("two")
    assert list(PromptHistory(path).newest_first()) == ["two", "one"]
