import os
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import pytest

from planlog.features.search.conftest import globbed, grepped, make
from planlog.features.search.request import Request
from planlog.features.search.ripgrep import find_ripgrep
from planlog.features.search.without_ripgrep import Engine

LINES = {
    "a.py": "def main() {\n    return foo\n\nclass Foo:\n\tpass\n",
    "src/b.ts": "const foo = 1\nfoo.bar(x)\nföö bar\n日本語 text\n",
    "src/deep/c.txt": "one two\r\nthree  four\r\nend",
    ".hidden/d": "a-b_c [x] {y} (z) a.b\n2024-01-02\n$x^y|z\\w\n",
    "empty": "",
}


@pytest.mark.parametrize(
    "pattern, found",
    [
        ("foo", ["a.py:2:    return foo", "src/b.ts:1:const foo = 1", "src/b.ts:2:foo.bar(x)"]),
        ("^foo", ["src/b.ts:2:foo.bar(x)"]),
        ("foo$", ["a.py:2:    return foo"]),
        ("four$", ["src/deep/c.txt:2:three  four"]),
        ("end", ["src/deep/c.txt:3:end"]),
        (r"def \w+\(", ["a.py:1:def main() {"]),
        ("main() {", []),
        (r"main\(\) {", ["a.py:1:def main() {"]),
        (r"\bclass\s+(\w+):$", ["a.py:4:class Foo:"]),
        ("one|four", ["src/deep/c.txt:1:one two", "src/deep/c.txt:2:three  four"]),
        (r"\d{4}-\d{2}-\d{2}", [".hidden/d:2:2024-01-02"]),
        ("[[:digit:]]{4}", [".hidden/d:2:2024-01-02"]),
        (r"[^a-z\s]{3}", [".hidden/d:2:2024-01-02", "src/b.ts:4:日本語 text"]),
        (r"(?P<a>f)oo\.", ["src/b.ts:2:foo.bar(x)"]),
        (r"(?<a>f)oo\.", ["src/b.ts:2:foo.bar(x)"]),
        ("(?i)FOO:", ["a.py:4:class Foo:"]),
        (r"\w{3} bar", ["src/b.ts:3:föö bar"]),
        (r"\x{f6}", ["src/b.ts:3:föö bar"]),
        (r"\<text\>", ["src/b.ts:4:日本語 text"]),
        ("a\\.b", [".hidden/d:1:a-b_c [x] {y} (z) a.b"]),
        (r"\$x\^y\|z\\w", [".hidden/d:3:$x^y|z\\w"]),
        ("-01-", [".hidden/d:2:2024-01-02"]),
        ("--files", []),
        ("^$", ["a.py:3:"]),
        (r"\Afoo", ["src/b.ts:2:foo.bar(x)"]),
        ("foo\\s+class", []),
        ("[]x]", [".hidden/d:1:a-b_c [x] {y} (z) a.b", ".hidden/d:3:$x^y|z\\w", "src/b.ts:2:foo.bar(x)", "src/b.ts:4:日本語 text"]),
        ("t.{2,3}e", ["src/deep/c.txt:2:three  four"]),
        ("zzz", []),
    ],
)  # fmt: skip
async def test_both_engines_find_the_same_lines(tmp_path: Path, engine: str, pattern: str, found: list[str]) -> None:
    make(tmp_path, LINES)
    text = await grepped(tmp_path, pattern)
    assert text.split("\n") == (found or ["[no matches]"])


@pytest.mark.parametrize(
    "arguments, found",
    [
        ({"ignore_case": True, "glob": "*.py"}, "a.py:2:    return foo\na.py:4:class Foo:"),
        ({"path": "src"}, "src/b.ts:1:const foo = 1\nsrc/b.ts:2:foo.bar(x)"),
        ({"path": "src/b.ts"}, "src/b.ts:1:const foo = 1\nsrc/b.ts:2:foo.bar(x)"),
        ({"path": "./src/../a.py"}, "a.py:2:    return foo"),
        ({"files_only": True}, "a.py\nsrc/b.ts"),
        ({"files_only": True, "path": "src/b.ts"}, "src/b.ts"),
        ({"path": "src", "files_only": True}, "src/b.ts"),
        ({"glob": "src/**/*.{ts,txt}"}, "src/b.ts:1:const foo = 1\nsrc/b.ts:2:foo.bar(x)"),
        ({"glob": "*.md"}, "[no matches]"),
        ({"path": "src/deep"}, "[no matches]"),
        (
            {"context": 1, "path": "a.py", "ignore_case": True},
            "a.py-1-def main() {\na.py:2:    return foo\na.py-3-\na.py:4:class Foo:\na.py-5-\tpass",
        ),
        (
            {"context": 1, "glob": "*.{py,ts}"},
            "a.py-1-def main() {\na.py:2:    return foo\na.py-3-\n--\nsrc/b.ts:1:const foo = 1\nsrc/b.ts:2:foo.bar(x)\nsrc/b.ts-3-föö bar",
        ),
    ],
)
async def test_both_engines_take_the_same_options(
    tmp_path: Path, engine: str, arguments: Mapping[str, object], found: str
) -> None:
    make(tmp_path, LINES)
    assert await grepped(tmp_path, "foo", **arguments) == found


@pytest.mark.parametrize(
    "pattern, reasons",
    [
        ("(a", ["unclosed group", "missing ), unterminated subpattern at position 0"]),
        ("(?=a)", ["look-around, including look-ahead and look-behind, is not supported"]),
        ("a(?<!b)", ["look-around, including look-ahead and look-behind, is not supported"]),
        (r"(a)\1", ["backreferences are not supported"]),
        (r"a\nb", ["a match lies within one line, so it can have no line feed in it"]),
        ("a\nb", ["a match lies within one line, so it can have no line feed in it"]),
        ("[a", ["unclosed character class", "unterminated character set at position 0"]),
        ("*", ["repetition operator missing expression", "nothing to repeat at position 0"]),
    ],
)
async def test_a_wrong_pattern_is_refused_in_one_line(
    tmp_path: Path, engine: str, pattern: str, reasons: list[str]
) -> None:
    text = await grepped(make(tmp_path, LINES), pattern)
    assert text in [f"Error: the pattern cannot be used: {reason}" for reason in reasons]


GIT = {
    ".gitignore": "*.log\n!keep.log\n/build/\nnode_modules\n# no\nsp\\ ace\ndoc/*.txt\n**/gen/out\nx/**/y\n[ab].c\n\n",
    ".git/config": "foo",
    ".git/info/exclude": "private\n",
    "a.log": "foo",
    "keep.log": "foo",
    "build/x": "foo",
    "src/build/x": "foo",
    "src/node_modules/m": "foo",
    "src/.gitignore": "*.tmp\n!a.log\n",
    "src/a.log": "foo",
    "src/b.log": "foo",
    "src/c.tmp": "foo",
    "private": "foo",
    "sp ace": "foo",
    "doc/a.txt": "foo",
    "doc/deep/a.txt": "foo",
    "p/gen/out": "foo",
    "x/y": "foo",
    "x/1/2/y": "foo",
    "a.c": "foo",
    "c.c": "foo",
    "nested/.git/HEAD": "foo",
    "nested/d.log": "foo",
    "nested/.gitignore": "e\n",
    "nested/e": "foo",
}
SEEN = ["c.c", "doc/deep/a.txt", "keep.log", "nested/d.log", "src/a.log", "src/build/x"]


async def test_what_git_ignores_is_skipped_in_a_repository_and_only_there(tmp_path: Path, engine: str) -> None:
    make(tmp_path, GIT)
    assert (await grepped(tmp_path, "foo", files_only=True)).split("\n") == SEEN
    assert (await globbed(tmp_path, "**")).split("\n") == sorted(
        [*SEEN, ".gitignore", "src/.gitignore", "nested/.gitignore"]
    )
    assert await globbed(tmp_path, "*.log") == "keep.log\nnested/d.log\nsrc/a.log"
    assert await grepped(tmp_path, "foo", path="src", files_only=True) == "src/a.log\nsrc/build/x"
    assert await grepped(tmp_path, "foo", path="doc", files_only=True) == "doc/deep/a.txt"
    assert await grepped(tmp_path, "foo", path="a.log") == "a.log:1:foo"
    os.rename(tmp_path / ".git", tmp_path / "git")
    assert "a.log" in (await grepped(tmp_path, "foo", files_only=True)).split("\n")


async def test_only_the_rules_of_git_count(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    home = make(tmp_path / "home", {".config/git/ignore": "a\n", "rc": "--files\n", ".gitconfig": ""})
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(home / "rc"))
    root = make(tmp_path / "work", {".git/HEAD": "", "a": "foo", ".ignore": "a\n", ".rgignore": "a\n"})
    assert await grepped(root, "foo") == "a:1:foo"
    assert await globbed(root, "a") == "a"


async def test_a_name_cannot_be_mistaken_for_another_line(tmp_path: Path, engine: str) -> None:
    names = ["a\nb:1:x", "c\x1b[2J", "d:1:e", "f-1-g", "[no matches]", '"q"', "plain name.txt", "ünï"]
    make(tmp_path, dict.fromkeys(names, "foo\n"))
    (tmp_path / os.fsdecode(b"l\xe9")).write_text("foo\n")
    expected = [
        '"[no matches]":1:foo', '"\\"q\\"":1:foo', '"a\\nb:1:x":1:foo', '"c\\x1b[2J":1:foo', '"d:1:e":1:foo',
        '"f-1-g":1:foo', '"l\\udce9":1:foo', "plain name.txt:1:foo", "ünï:1:foo",
    ]  # fmt: skip
    assert sorted((await grepped(tmp_path, "foo")).split("\n")) == expected
    assert sorted((await globbed(tmp_path, "**")).split("\n")) == [line.removesuffix(":1:foo") for line in expected]
    assert len((await grepped(tmp_path, "foo", files_only=True)).split("\n")) == len(expected)


async def test_text_of_any_kind_is_one_line(tmp_path: Path, engine: str) -> None:
    make(
        tmp_path,
        {
            "latin": b"caf\xe9 foo\n",
            "signs": "foo \x1b[31m \u2028 \u202e \r x\ty\n",
            "utf16": "foo ü\n".encode("utf-16"),
            "bom": b"\xef\xbb\xbffoo\n",
            "nul": b"foo\n\0",
            "late": b"foo\n" * 18_000 + b"\0",
        },
    )
    assert (await grepped(tmp_path, "foo")).split("\n") == [
        "bom:1:foo",
        "latin:1:café foo",
        "signs:1:foo ␛[31m <U+2028> <U+202E> ␍ x\ty",
        "utf16:1:foo ü",
    ]
    assert await grepped(tmp_path, "foo", files_only=True) == "bom\nlatin\nsigns\nutf16"


async def test_a_binary_file_is_searched_where_it_is_named(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {"nul": b"one foo\n\0\0foo two\n"})
    assert await grepped(tmp_path, "foo") == "[no matches]"
    assert [line.split(":")[2] for line in (await grepped(tmp_path, "foo", path="nul")).split("\n")] == [
        "one foo",
        "foo two",
    ]


async def test_a_long_line_is_cut_around_its_match(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {"a": f"{'é' * 1000}foo{'ü' * 1000}\n", "b": b"\xe9" * 1000 + b"foo", "c": "foo" + "x" * 300})
    shown = (await grepped(tmp_path, "foo")).split("\n")
    assert shown == [
        f"a:1:…{'é' * 100}foo{'ü' * 197}…",
        f"b:1:…{'é' * 297}foo",
        f"c:1:foo{'x' * 297}…",
    ]


async def test_neither_links_nor_anything_but_files_are_searched(tmp_path: Path, engine: str) -> None:
    outside = make(tmp_path / "outside", {"secret": "foo"})
    root = make(tmp_path / "work", {"a": "foo", "sub/b": "foo"})
    (root / "link").symlink_to(outside / "secret")
    (root / "folder").symlink_to(outside)
    (root / "broken").symlink_to("nowhere")
    (root / "loop").symlink_to("loop")
    (root / "sub" / "up").symlink_to("..")
    os.mkfifo(root / "fifo")
    (root / "null").symlink_to("/dev/zero")
    assert await grepped(root, "foo") == "a:1:foo\nsub/b:1:foo"
    assert await globbed(root, "**") == "a\nsub/b"
    assert await grepped(root, "foo", path="folder") == f'Error: "folder" is outside of the workspace {root}'
    assert await globbed(root, "*", path="..") == f'Error: ".." is outside of the workspace {root}'
    assert await grepped(root, "foo", path="fifo") == 'Error: "fifo" is a FIFO, not a file'
    assert await grepped(root, "foo", path="none") == 'Error: "none" does not exist'
    assert await globbed(root, "*", path="a") == 'Error: "a" is a file, not a folder'


def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = make(tmp_path / "outside", {"x": "secret"})
    root = make(tmp_path / "work", {"a/x": "own", "b/x": "own"})
    monkeypatch.chdir(root)
    files = Engine(asdict(Request(pattern="secret"))).files()
    path, folder = next(files)
    for name in ("a", "b"):
        (root / name).rename(tmp_path / name)
        (root / name).symlink_to(outside)
    assert path == "a/x"
    descriptor = os.open("x", os.O_RDONLY, dir_fd=folder)
    assert os.read(descriptor, 9) == b"own"
    os.close(descriptor)
    assert [path for path, _ in files] == [None]


async def test_a_large_file_of_nothing_is_searched_fast(tmp_path: Path, engine: str) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2 << 30)
    make(tmp_path, {"a": "foo"})
    assert await grepped(tmp_path, "foo") == "a:1:foo"


async def test_an_rg_in_the_workspace_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = make(tmp_path / "outside", {"rg": "#!/bin/sh\n"}) / "rg"
    root = make(tmp_path / "work", {"bin/rg": f"#!/bin/sh\ntouch {tmp_path}/ran\n", "a": "foo"})
    for path in (outside, root / "bin" / "rg"):
        path.chmod(0o755)
    (root / "rg").symlink_to(outside)
    (tmp_path / "link").symlink_to(root / "bin")
    own = [str(root / "bin"), ".", "", "bin", str(root), str(tmp_path / "link")]
    monkeypatch.setenv("PATH", os.pathsep.join([*own, os.environ["PATH"]]))
    monkeypatch.chdir(root)
    assert await grepped(root, "foo") == "a:1:foo"
    assert not (tmp_path / "ran").exists()
    monkeypatch.setattr("sys.executable", str(root / "bin" / "python"))
    monkeypatch.setenv("PATH", os.pathsep.join(own))
    assert find_ripgrep(root) is None
    monkeypatch.setenv("PATH", os.pathsep.join([*own, str(outside.parent)]))
    assert find_ripgrep(root) == str(outside)


if os.geteuid() == 0:  # Only the superuser makes devices and mounts.

    async def test_devices_and_what_is_mounted_are_left_out(tmp_path: Path, engine: str) -> None:
        outside = make(tmp_path / "outside", {"secret": "foo"})
        root = make(tmp_path / "work", {"a": "foo", "m{o}[u]*nt!/b": "foo", "file": "foo", "sub/disk/c": "foo"})
        os.mknod(root / "zero", 0o20666, os.makedev(1, 5))
        mounted = [root / "m{o}[u]*nt!", root / "file", root / "sub" / "disk"]
        subprocess.run(["mount", "--bind", outside, mounted[0]], check=True)
        subprocess.run(["mount", "--bind", outside / "secret", mounted[1]], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", mounted[2]], check=True)
        try:
            make(mounted[2], {"d": "foo"})
            assert await grepped(root, "foo") == "a:1:foo"
            assert await globbed(root, "**") == "a"
            assert await grepped(root, "foo", path="sub") == "[no matches]"
            assert (await grepped(root, "foo", path="sub/disk")).startswith('Error: "sub/disk" is outside')
        finally:
            for place in mounted:
                subprocess.run(["umount", place], check=True)
