import random
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from planlog.features.files import lcs
from planlog.features.files.diff import Diff, changes

# Few different lines, so that many are alike and runs can be slid.
texts = st.lists(st.sampled_from(["a\n", "  b\n", "\n", "}\n", "é\r\n"]), max_size=14).flatmap(
    lambda lines: st.sampled_from(["".join(lines), "".join(lines) + "end"])
)


def applied(text: str, diff: str) -> str:
    """What comes of `text` when the hunks of a unified diff are applied to it, each exactly where it says."""
    old = re.findall(r"[^\n]*\n|[^\n]+$", text)
    new: list[str] = []
    at = 0
    hunks = re.split(r"(?m)^(@@ .*)\n", diff)[1:]
    for header, body in zip(hunks[::2], hunks[1::2], strict=True):
        numbers = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", header)
        assert numbers
        start = int(numbers[1]) - (numbers[2] != "0")
        new += old[at:start]
        at = start
        for line in re.findall(r"[^\n]*\n", body.replace("\n\\ No newline at end of file\n", "\0\n")):
            mark, content = line[0], line[1:].removesuffix("\0\n") if line.endswith("\0\n") else line[1:]
            if mark in " -":
                assert old[at] == content
                at += 1
            if mark in " +":
                new.append(content)
    return "".join(new + old[at:])


@given(texts, texts)
def test_a_diff_turns_the_old_text_into_the_new_one_and_counts_its_lines(before: str, after: str) -> None:
    diff = changes("f", before, after)
    assert applied(before, diff.text) == after
    body = diff.text.partition("@@")[2]
    assert diff.added == len(re.findall(r"(?m)^\+", body))
    assert diff.removed == len(re.findall(r"(?m)^-", body))
    assert (diff.text == "") == (before == after)


def test_a_change_reads_as_git_prints_it() -> None:
    before = "import os\n\n\ndef one():\n    a\n    b\n    c\n    d\n    return 1\n\n\ndef two():\n    return 2\n"
    after = before.replace("    return 1\n", "    return 1.0\n").replace("    return 2\n", "    return 2")
    assert changes("src/a b.py", before, after).text == snapshot("""\
--- a/src/a b.py\t
+++ b/src/a b.py\t
@@ -6,8 +6,8 @@ def one():
     b
     c
     d
-    return 1
+    return 1.0
 \n\
 \n\
 def two():
-    return 2
+    return 2
\\ No newline at end of file
""")


def test_a_function_that_was_added_is_shown_whole() -> None:
    before = "def a():\n    return 1\n\n\ndef c():\n    return 3\n"
    after = "def a():\n    return 1\n\n\ndef b():\n    return 1\n\n\ndef c():\n    return 3\n"
    assert changes("a.py", before, after).text == snapshot("""\
--- a/a.py
+++ b/a.py
@@ -2,5 +2,9 @@ def a():
     return 1
 \n\
 \n\
+def b():
+    return 1
+
+
 def c():
     return 3
""")


def test_a_file_that_was_or_is_not_there_and_a_name_that_could_be_taken_for_more() -> None:
    assert changes("new", None, "a\n") == Diff("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n", 1, 0)
    assert changes("old", "a\n", None) == Diff("--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", 0, 1)
    assert changes('a\n"\x1b\u00e9', "", "a\n").text.startswith('--- "a/a\\n\\"\\033é"\n+++ "b/a\\n\\"\\033é"\n@@')


@pytest.mark.parametrize("seed", range(12))
def test_random_edits_of_real_code_read_as_git_prints_them(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    lines = Path(__file__).read_text().splitlines(keepends=True)
    for _ in range(3):
        at, size = chance.randrange(len(lines)), chance.randint(1, 8)
        lines[at : at + size] = chance.choice([[], lines[at : at + size] * 2, ["    new\n"] * 2])
    before, after = Path(__file__).read_text(), "".join(lines)
    (tmp_path / "a").write_text(before)
    (tmp_path / "b").write_text(after)
    command = ["git", "diff", "--no-index", "--no-color", "--no-prefix", "a", "b"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout
    assert changes("f", before, after).text.partition("@@")[2] == printed.partition("@@")[2]


def test_a_long_text_in_another_order_costs_no_more_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lcs, "STEPS", 3 * lcs.COST**2)
    lines = [f"{number}\n" for number in range(5000)]
    before = "".join(lines)
    random.Random(1).shuffle(lines)
    after = "".join(lines)
    assert applied(before, changes("f", before, after).text) == after
