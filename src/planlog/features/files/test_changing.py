"""The tools that change files, through the registry and a session's log as in a program."""

import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from inline_snapshot import snapshot

from planlog.agent.event import TOOL_RESULT
from planlog.agent.facts import result_fact
from planlog.features.files.changing import LARGEST, MOST_LINES
from planlog.features.files.tool import plugin
from planlog.log.session import Session
from planlog.log.sessions import Sessions
from planlog.log.store.memory import MemoryStore
from planlog.log.vocabulary import Vocabulary
from planlog.tools.call import propose, run_call
from planlog.tools.outcome import Outcome
from planlog.tools.tool import Execution, Proposal, Tools


class Hands:
    """The tools in a workspace, as one session uses them."""

    def __init__(self, tools: Tools, session: Session, root: Path) -> None:
        self._tools = tools
        self._session = session
        self._execution = Execution("c1", session, root)

    async def call(self, name: str, approved: Proposal | None = None, /, **arguments: Any) -> Outcome:
        execution = replace(self._execution, approved=approved)
        outcome = await run_call(self._tools, name, msgspec.json.encode(arguments).decode(), execution)
        async with self._session.lease():
            await self._session.append(result_fact("c1", outcome, 1, 1, cites=[]))
        return outcome

    async def says(self, name: str, **arguments: Any) -> str:
        return (await self.call(name, **arguments)).text

    async def proposes(self, name: str, **arguments: Any) -> Proposal | Outcome:
        return await propose(self._tools, name, msgspec.json.encode(arguments).decode(), self._execution)


@asynccontextmanager
async def hands_in(root: Path) -> AsyncIterator[Hands]:
    tools, words = Tools(), Vocabulary()
    mounted = plugin(tools)
    await anext(mounted)
    with words.learn(TOOL_RESULT):
        session = await Sessions(MemoryStore(), words).create(root)
        yield Hands(tools, session, root)
    await anext(mounted, None)


# What is changed


async def test_a_piece_of_a_file_is_replaced_and_the_change_is_told_as_a_diff(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\n")
    async with hands_in(tmp_path) as hands:
        outcome = await hands.call("edit", path="a.py", old_string="two", new_string="2\n2")
    assert outcome.text == "Edited a.py: 1 replacement, +2 -1 lines."
    assert (tmp_path / "a.py").read_text() == "one\n2\n2\nthree\n"
    assert outcome.meta is not None
    assert outcome.meta["diff"] == snapshot("""\
--- a/a.py
+++ b/a.py
@@ -1,3 +1,4 @@
 one
-two
+2
+2
 three
""")
    assert (outcome.meta["added"], outcome.meta["removed"]) == (2, 1)


async def test_every_occurrence_is_replaced_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x x\nx\n")
    async with hands_in(tmp_path) as hands:
        said = await hands.says("edit", path="a", old_string="x", new_string="y", replace_all=True)
    assert said == "Edited a: 3 replacements, +2 -2 lines."
    assert (tmp_path / "a").read_text() == "y y\ny\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "x", "old_string is empty; a whole file is written with write"),
        ("two", "two", "old_string and new_string are the same; nothing was changed"),
        ("four", "x", 'old_string was not found in "a.py"; read the file to see what is there'),
        ("  one\n two", "x", 'old_string was not found in "a.py"; line 1 differs from it in white space only'),
        (
            "1\tone\n2\ttwo",
            "x",
            'old_string was not found in "a.py"; the line numbers of read are not part of the file',
        ),
        (
            "e",
            "x",
            'old_string occurs 7 times in "a.py" (lines 1, 3, 3, 4, 5, …); add the text around it, or set replace_all',
        ),
    ],
)
async def test_a_text_that_does_not_occur_exactly_once_changes_nothing(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    content = "one\ntwo\nthree\ne\ne\ne\ne\n"
    (tmp_path / "a.py").write_text(content)
    async with hands_in(tmp_path) as hands:
        assert await hands.says("edit", path="a.py", old_string=old, new_string=new) == f"Error: {said}"
    assert (tmp_path / "a.py").read_text() == content


async def test_a_new_file_is_written_with_the_folders_on_the_way(tmp_path: Path) -> None:
    async with hands_in(tmp_path) as hands:
        outcome = await hands.call("write", path="docs/deep/a.md", content="# A\n\ntext")
        assert outcome.text == "Created docs/deep/a.md: 3 lines."
        assert (tmp_path / "docs/deep/a.md").read_text() == "# A\n\ntext"
        assert outcome.meta is not None
        assert outcome.meta["diff"].startswith("--- /dev/null\n+++ b/docs/deep/a.md\n@@ -0,0 +1,3 @@\n")
        said = await hands.says("write", path="docs/deep/a.md", content="# B\n")
        assert said == "Wrote docs/deep/a.md: 1 line, +1 -3."
        said = await hands.says("write", path="docs/deep/a.md", content="# B\n")
        assert said == "docs/deep/a.md has this content already; nothing was written."


# What was seen


async def test_a_file_that_nobody_read_is_not_overwritten_but_may_be_edited(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old\n")
    async with hands_in(tmp_path) as hands:
        said = await hands.says("write", path="a", content="new\n")
        assert said == 'Error: "a" exists; read it first, so that nothing in it is lost unseen'
        assert await hands.says("edit", path="a", old_string="old", new_string="new") == (
            "Edited a: 1 replacement, +1 -1 lines."
        )


@pytest.mark.parametrize("tool", ["edit", "write"])
async def test_a_file_that_changed_since_it_was_read_is_not_touched(tmp_path: Path, tool: str) -> None:
    (tmp_path / "a").write_text("one\n")
    arguments = {"old_string": "one", "new_string": "1"} if tool == "edit" else {"content": "1\n"}
    async with hands_in(tmp_path) as hands:
        await hands.call("read", path="a")
        (tmp_path / "a").write_text("one, changed by a command\n")
        said = await hands.says(tool, path="a", **arguments)
        assert said == 'Error: "a" has changed since it was read; read it again'
        await hands.call("read", path="a")
        assert not (await hands.call(tool, path="a", **arguments)).is_error


async def test_two_changes_of_one_file_follow_each_other_without_reading_it_again(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one two\n")
    async with hands_in(tmp_path) as hands:
        await hands.call("read", path="a")
        await hands.call("edit", path="a", old_string="one", new_string="1")
        await hands.call("edit", path="a", old_string="two", new_string="2")
    assert (tmp_path / "a").read_text() == "1 2\n"


# What stays as it was


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"1\r\n1\r\ntwo\r\n"),
        (b"one\r\ntwo\n", b"1\n1\r\ntwo\n"),
        (b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbf1\n1\ntwo"),
        ("one é\ntwo".encode("latin-1"), "1\n1 é\ntwo".encode("latin-1")),
        ("\ufeffone\ntwo".encode("utf-16-le"), "\ufeff1\n1\ntwo".encode("utf-16-le")),
    ],
    ids=["CRLF", "mixed line ends", "a byte order mark", "Latin-1", "UTF-16"],
)
async def test_an_edit_keeps_line_ends_encoding_and_final_line(tmp_path: Path, before: bytes, after: bytes) -> None:
    (tmp_path / "a").write_bytes(before)
    async with hands_in(tmp_path) as hands:
        assert not (await hands.call("edit", path="a", old_string="one", new_string="1\n1")).is_error
    assert (tmp_path / "a").read_bytes() == after


async def test_a_written_file_keeps_its_line_ends_and_its_encoding_while_that_can_be(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n")
    (tmp_path / "b").write_bytes("é\n".encode("latin-1"))
    async with hands_in(tmp_path) as hands:
        for name in ("a", "b"):
            await hands.call("read", path=name)
        await hands.call("write", path="a", content="1\n2\n")
        assert (tmp_path / "a").read_bytes() == b"1\r\n2\r\n"
        await hands.call("write", path="b", content="è\n")
        assert (tmp_path / "b").read_bytes() == "è\n".encode("latin-1")
        said = await hands.says("write", path="b", content="€\n")
        assert said == "Wrote b: 1 line, +1 -1. It was Latin-1 and is UTF-8 now."
        assert (tmp_path / "b").read_text() == "€\n"


@pytest.mark.parametrize(
    ("before", "content", "diff", "after"),
    [
        (b"a\nb\n", "a\r\nb\r\n", "-a\n-b\n+a\r\n+b\r\n", b"a\r\nb\r\n"),
        (b"a\n", "\ufeffa\n", "-a\n+\ufeffa\n", b"\xef\xbb\xbfa\n"),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", "-a\n+b\n", b"\xef\xbb\xbfb\n"),
        (b"\xe9\r\n", "\u20ac\n", "-é\n+€\n\\ It was Latin-1 and is UTF-8 now.\n", "€\r\n".encode()),
        (b"\xc3\xa9 \xe9\n", "Ã© e\n", "-Ã© é\n+Ã© e\n\\ It was Latin-1 and is UTF-8 now.\n", b"\xc3\xa9 e\n"),
    ],
    ids=["other line ends", "a new mark", "a mark that stays", "an encoding that lacks it", "bytes that read as UTF-8"],
)
async def test_a_question_shows_all_that_is_going_to_be_written(
    tmp_path: Path, before: bytes, content: str, diff: str, after: bytes
) -> None:
    (tmp_path / "a").write_bytes(before)
    async with hands_in(tmp_path) as hands:
        await hands.call("read", path="a")
        proposal = await hands.proposes("write", path="a", content=content)
        assert isinstance(proposal, Proposal)
        assert proposal.preview.partition("@@\n")[2] == diff
        await hands.call("write", path="a", content=content)
    assert (tmp_path / "a").read_bytes() == after


async def test_an_edit_of_mixed_line_ends_shows_only_what_it_changes(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\r\nb\nc\r\n")
    async with hands_in(tmp_path) as hands:
        outcome = await hands.call("edit", path="a", old_string="b\n", new_string="b\r\n")
    assert outcome.text == "Edited a: 1 replacement, +1 -1 lines."
    assert (tmp_path / "a").read_bytes() == b"a\r\nb\r\nc\r\n"


async def test_a_name_cannot_forge_lines_of_a_question(tmp_path: Path) -> None:
    (tmp_path / "x\n+fine").write_bytes(b"\0")
    async with hands_in(tmp_path) as hands:
        await hands.call("read", path="x\n+fine")
        proposal = await hands.proposes("write", path="x\n+fine", content="text\n")
    assert isinstance(proposal, Proposal)
    assert proposal.preview == (
        '--- "a/x\\n+fine"\n+++ "b/x\\n+fine"\n@@ -0,0 +1 @@\n+text\n\\ It was no text: 1 bytes are replaced.\n'
    )


async def test_a_character_that_the_encoding_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é\n".encode("latin-1"))
    async with hands_in(tmp_path) as hands:
        said = await hands.says("edit", path="a", old_string="é", new_string="€")
    assert said == (
        "Error: the file is Latin-1, which has no character U+20AC (€); leave it out, or write the whole file anew"
    )


# What cannot be changed


async def test_what_is_no_text_file_in_the_workspace_is_refused_and_named(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "folder").mkdir()
    (root / "image").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    os.mkfifo(root / "fifo")
    (root / "gone").symlink_to("nowhere")
    (root / "out").symlink_to(tmp_path / "secret")
    (tmp_path / "secret").write_text("x")
    with (root / "huge").open("wb") as huge:
        huge.truncate(LARGEST + 1)
    said: dict[str, str] = {}
    async with hands_in(root) as hands:
        for name in ("folder", "image", "fifo", "gone", "out", "huge", "../secret", "", "none"):
            said[name] = await hands.says("edit", path=name, old_string="x", new_string="y")
        for name in (".", "folder", "folder/", "fifo", "out", "fifo/a", "../new", "huge"):
            said[f"write {name}"] = await hands.says("write", path=name, content="y")
        made = await hands.says("write", path="gone", content="y")
    assert {name: text.replace(str(root), "ROOT") for name, text in said.items()} == snapshot(
        {
            "folder": 'Error: "folder" is a folder, not a file',
            "image": 'Error: "image" is not a text file',
            "fifo": 'Error: "fifo" is a FIFO, not a file',
            "gone": 'Error: "gone" does not exist; a new file is written with write',
            "out": 'Error: "out" is outside of the workspace ROOT',
            "huge": 'Error: "huge" has 10000001 bytes, more than can be changed here; use a command',
            "../secret": 'Error: "../secret" is outside of the workspace ROOT',
            "": "Error: the path is empty",
            "none": 'Error: "none" does not exist; a new file is written with write',
            "write .": 'Error: "." is a folder, not a file',
            "write folder": 'Error: "folder" is a folder, not a file',
            "write folder/": 'Error: "folder/" is the name of a folder, not of a file',
            "write fifo": 'Error: "fifo" is a FIFO, not a file',
            "write out": 'Error: "out" is outside of the workspace ROOT',
            "write fifo/a": 'Error: "fifo" is a FIFO, not a folder',
            "write ../new": 'Error: "../new" is outside of the workspace ROOT',
            "write huge": 'Error: "huge" has 10000001 bytes, more than can be changed here; use a command',
        }
    )
    assert made == "Created nowhere: 1 line."
    assert (tmp_path / "secret").read_text() == "x"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret", "work"]


async def test_what_would_become_too_large_or_too_long_is_refused_before_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a" * 9_000_000)
    (tmp_path / "b").write_text("x\n" * (MOST_LINES + 1))
    async with hands_in(tmp_path) as hands:
        said = await hands.says("edit", path="a", old_string="a", new_string="b" * 700, replace_all=True)
        assert said == 'Error: "a" would have 6300000000 characters, more than can be changed here; use a command'
        said = await hands.says("edit", path="b", old_string="x", new_string="y", replace_all=True)
        assert said == 'Error: "b" has 200001 lines, more than can be changed here; use a command'
        said = await hands.says("write", path="c", content="é" * (LARGEST // 2 + 1))
        assert said == 'Error: "c" has 10000002 bytes, more than can be changed here; use a command'
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


async def test_no_second_encoding_comes_into_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é foo ".encode() + b"\xff\n")
    async with hands_in(tmp_path) as hands:
        said = await hands.says("edit", path="a", old_string="foo", new_string="ü")
        assert said == 'Error: "a" is UTF-8 but for some bytes; only ASCII can be put into it here'
        assert not (await hands.call("edit", path="a", old_string="foo", new_string="bar")).is_error
    assert (tmp_path / "a").read_bytes() == "é bar ".encode() + b"\xff\n"


async def test_a_name_that_could_be_taken_for_more_is_one_line(tmp_path: Path) -> None:
    async with hands_in(tmp_path) as hands:
        assert await hands.says("write", path="a\n\x1b[31mb", content="x") == "Created a\\n\\x1b[31mb: 1 line."


# What a person approves


async def test_a_question_shows_the_diff_and_offers_all_changes_but_those_inside_of_git(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\n")
    (tmp_path / ".git").mkdir()
    async with hands_in(tmp_path) as hands:
        proposal = await hands.proposes("edit", path="a", old_string="one", new_string="1")
        assert isinstance(proposal, Proposal)
        assert (proposal.preview, proposal.rule) == ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+1\n", "edit")
        proposal = await hands.proposes("write", path=".git/config", content="x")
        assert isinstance(proposal, Proposal)
        assert proposal.rule == ""
        refused = await hands.proposes("edit", path="a", old_string="two", new_string="2")
        assert isinstance(refused, Outcome)
    assert (tmp_path / "a").read_text() == "one\n"


@pytest.mark.parametrize("tool", ["edit", "write"])
async def test_a_file_that_changed_between_a_question_and_its_answer_is_not_touched(tmp_path: Path, tool: str) -> None:
    arguments = {"old_string": "one", "new_string": "1"} if tool == "edit" else {"content": "1\n"}
    if tool == "edit":
        (tmp_path / "a").write_text("one\n")
    async with hands_in(tmp_path) as hands:
        proposal = await hands.proposes(tool, path="a", **arguments)
        assert isinstance(proposal, Proposal)
        (tmp_path / "other").write_text("one\nand more\n")
        (tmp_path / "other").rename(tmp_path / "a")
        outcome = await hands.call(tool, proposal, path="a", **arguments)
    assert outcome.is_error
    assert (tmp_path / "a").read_text() == "one\nand more\n"
    async with hands_in(tmp_path) as hands:
        await hands.call("read", path="a")
        proposal = await hands.proposes(tool, path="a", **arguments)
        assert isinstance(proposal, Proposal)
        assert not (await hands.call(tool, proposal, path="a", **arguments)).is_error


# When the disk or the person says no


FULL = """
import resource, signal, sys
from pathlib import Path
import anyio
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from planlog.features.files.test_changing import hands_in
async def main():
    async with hands_in(Path(sys.argv[1])) as hands:
        await hands.call("read", path="a")
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        print(await hands.says("write", path="a", content="new " * 100_000))
        print(await hands.says("write", path="new/b", content="new " * 100_000))
anyio.run(main)
"""


def test_a_disk_that_is_full_in_the_middle_of_a_write_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old\n")
    root = Path(__file__).parents[4]
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], cwd=root, capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == snapshot("""\
Error: "a": File too large
Error: "new/b": File too large
""")
    assert (tmp_path / "a").read_text() == "old\n"
    assert os.listdir(tmp_path) == ["a"]


async def test_a_write_that_was_cancelled_in_its_sync_changes_nothing_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, release = threading.Event(), threading.Event()
    sync = os.fsync

    def slow(descriptor: int) -> None:
        begun.set()
        release.wait(20)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    async with hands_in(tmp_path) as hands, anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: hands.call("write", path="a", content="new"))
        await anyio.to_thread.run_sync(begun.wait)
        tasks.cancel_scope.cancel()
    (work,) = (thread for thread in threading.enumerate() if thread.name == "blocking work")
    release.set()
    work.join(20)
    assert os.listdir(tmp_path) == []
