import ctypes
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
import quicktok
from anyio.lowlevel import checkpoint
from inline_snapshot import snapshot

from planlog.features.search import child, tool
from planlog.features.search.answers import MOST_LINES, Lines
from planlog.features.search.conftest import call, children, globbed, grepped, make
from planlog.features.search.glob import GLOB, Glob, glob
from planlog.features.search.glob import render as render_names
from planlog.features.search.grep import GREP, Grep, grep, render
from planlog.kernel.composition import Row
from planlog.kernel.features import load_row
from planlog.kernel.plugin import mount_plugin
from planlog.kernel.scope import open_scope
from planlog.tools.call import present
from planlog.tools.thread import in_thread
from planlog.tools.tool import Presentation, ToolFailure, Tools

HOSTILE = "(a+)+$"
DROP = 24
"""PR_CAPBSET_DROP of prctl(2)."""
CAPABILITIES = {"CAP_DAC_OVERRIDE": 1, "CAP_DAC_READ_SEARCH": 2}


def go_on() -> bool:
    return False


def test_the_model_is_told_what_it_searches() -> None:
    assert GREP.definition() == snapshot(
        {
            "name": "grep",
            "description": "Finds lines that match a regular expression (no look-around, no back-references) in files of the working folder, as path:line:text. Skips .git, binary files and what .gitignore names.",
            "parameters": {
                "type": "object",
                "properties": {
                    "pattern": {"type": "string"},
                    "path": {"type": "string"},
                    "glob": {"type": "string", "description": "Which files: src/**/*.{js,ts}"},
                    "ignore_case": {"type": "boolean"},
                    "context": {"type": "integer"},
                    "files_only": {"type": "boolean"},
                },
                "required": ["pattern"],
                "additionalProperties": False,
            },
        }
    )
    assert GLOB.definition() == snapshot(
        {
            "name": "glob",
            "description": "Lists files of the working folder whose path matches a glob, sorted: *.py in any folder, src/**/*.{js,ts} from path on. Skips .git and what .gitignore names.",
            "parameters": {
                "type": "object",
                "properties": {"pattern": {"type": "string"}, "path": {"type": "string"}},
                "required": ["pattern"],
                "additionalProperties": False,
            },
        }
    )


@pytest.mark.parametrize("tool", [GREP, GLOB], ids=lambda tool: tool.name)
def test_each_tool_costs_a_request_less_than_130_tokens(tool: Any) -> None:
    text = json.dumps(tool.definition(), separators=(",", ":"))
    assert len(quicktok.get_encoding("o200k_base").encode(text)) < 130


def test_both_need_no_question_and_may_run_side_by_side() -> None:
    for one in (GREP, GLOB):
        assert (one.concurrency_safe, one.needs_approval) == (True, False)


def test_a_call_is_shown_as_a_search() -> None:
    tools = Tools()
    with tools.add(GREP), tools.add(GLOB):
        assert present(tools, "grep", '{"pattern":"a","path":"src"}') == Presentation(
            "generic", "grep a src", "search", {"pattern": "a", "path": "src"}
        )
        assert present(tools, "glob", '{"pattern":"**"}') == Presentation(
            "generic", "glob **", "search", {"pattern": "**"}
        )


async def test_faces_are_told_how_much_was_found(tmp_path: Path) -> None:
    make(tmp_path, {"a": "foo\nfoo\n", "b": "foo\n"})
    assert (await call(tmp_path, "grep", pattern="foo")).meta == {"search": {"lines": 3, "files": 2, "cut": False}}
    assert (await call(tmp_path, "grep", pattern="foo", files_only=True)).meta == {
        "search": {"lines": 0, "files": 2, "cut": False}
    }
    assert (await call(tmp_path, "glob", pattern="*")).meta == {"search": {"files": 2, "cut": False}}


@pytest.mark.parametrize(
    "name, arguments, said",
    [
        ("grep", {"pattern": ""}, "the pattern is empty; glob lists files"),
        ("grep", {"pattern": "x" * 100_000}, "the pattern has 100000 characters; at most 10000 are possible"),
        ("grep", {"pattern": "a", "context": 21}, "context must be 0 to 20 lines, got 21"),
        ("grep", {"pattern": "a", "context": -1}, "context must be 0 to 20 lines, got -1"),
        ("grep", {"pattern": "a", "path": ""}, "the path is empty"),
        (
            "grep",
            {"pattern": "a", "glob": "{a,b}" * 9},
            '"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" is no glob: it stands for more than 100 globs',
        ),
        ("glob", {"pattern": ""}, "the pattern is empty; ** lists all files"),
        ("glob", {"pattern": "x" * 5000}, "the pattern has 5000 characters; at most 4096 are possible"),
    ],
)
async def test_a_call_that_makes_no_sense_says_why(
    tmp_path: Path, name: str, arguments: dict[str, Any], said: str
) -> None:
    outcome = await call(tmp_path, name, **arguments)
    assert (outcome.text, outcome.is_error) == (f"Error: {said}", True)


@pytest.mark.parametrize("pattern", ["-e", "-", "--", "-v foo", "--pre=touch ran", "\\-x", "x" * 10_000])
async def test_a_pattern_is_never_an_option(tmp_path: Path, engine: str, pattern: str) -> None:
    make(tmp_path, {"a": f"{pattern.removeprefix(chr(92))}\n"})
    assert (await grepped(tmp_path, pattern)).startswith("a:1:")
    assert await globbed(tmp_path, "-a") == "[no files]"
    assert os.listdir(tmp_path) == ["a"]


async def test_nothing_is_found_in_an_empty_folder(tmp_path: Path, engine: str) -> None:
    assert await grepped(tmp_path, "foo") == "[no matches]"
    assert await grepped(tmp_path, "foo", files_only=True) == "[no matches]"
    assert await globbed(tmp_path, "**") == "[no files]"


# --- much


async def test_a_million_matches_stop_early_and_say_so(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {f"{n}": "foo\n" * 100_000 for n in range(10)})
    shown = (await grepped(tmp_path, "foo")).split("\n")
    assert (len(shown), shown[-1]) == (201, "[more than 20000 matching lines; narrow the pattern or the path]")


async def test_a_notice_says_how_many_more_there_are(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {f"{n:03}": "foo\n" for n in range(300)})
    shown = (await grepped(tmp_path, "foo")).split("\n")
    assert (shown[199], shown[200]) == (
        "199:1:foo",
        "[100 more lines in 300 files; narrow the pattern or the path]",
    )
    assert (await grepped(tmp_path, "foo", files_only=True)).split("\n")[200] == (
        "[100 more files in 300 files; narrow the pattern or the path]"
    )
    assert (await globbed(tmp_path, "**")).split("\n")[200] == "[100 more files; narrow the pattern or the path]"


async def test_only_whole_lines_are_shown_and_as_many_as_fit(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {"a": ("foo" + "é" * 280 + "\n") * 150})
    shown = await grepped(tmp_path, "foo")
    assert shown.count("\n") == 96
    assert 27_000 < len(shown) < 30_000
    assert shown.endswith("[54 more lines in 1 file; narrow the pattern or the path]")


async def test_a_line_of_many_megabytes_is_only_named(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {"a": "foo" + "x" * 6_000_000 + "\n", "b": "foo\n"})
    assert await grepped(tmp_path, "foo") == "a:?:[a line of more than 4 MB]\nb:1:foo"


def test_answers_are_read_the_same_wherever_they_are_cut() -> None:
    message = (
        b'{"type":"match","data":{"path":{"text":"./a"},"lines":{"text":"foo\\n"},"line_number":1,"submatches":[]}}\n'
    )
    end = b'{"type":"end","data":{"path":{"text":"./a"},"binary_offset":null}}\n'
    data = message * 3 + end
    for size in (1, 7, 50, len(data)):
        lines = Lines(lambda path: True)
        assert all(lines.take(data[at : at + size]) for at in range(0, len(data), size))
        assert [(one.path, one.number, one.text) for one in lines.found] == [("a", 1, "foo")] * 3
    assert MOST_LINES < 100_000


# --- what takes long


async def test_a_hostile_pattern_is_stopped_and_the_loop_goes_on(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {"a": "a" * 5000 + "b\n"})
    shown: list[str] = []
    turns = 0

    async def look() -> None:
        found = await in_thread(lambda stopped: grep(Grep(HOSTILE), tmp_path, stopped, 0.5))
        shown.append(render(found))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        while not shown:
            await checkpoint()
            turns += 1
    if engine == "python":
        assert shown == ["[stopped after 0.5 s, so there may be more; narrow the pattern or the path]"]
    else:
        assert shown == ["[no matches]"]
    assert turns > 10
    assert not children()


async def test_a_cancel_leaves_no_process_and_no_result_behind(tmp_path: Path, without_ripgrep: None) -> None:
    make(tmp_path, {"a": "a" * 5000 + "b\n"})
    told: list[str] = []

    async def look() -> None:
        told.append(await grepped(tmp_path, HOSTILE))

    async with anyio.create_task_group() as group:
        group.start_soon(look)
        while not children():
            await checkpoint()
        group.cancel_scope.cancel()
    assert not children()
    assert not told


@pytest.mark.parametrize("stops", ["at once", "when it has enough", "when nobody waits"])
def test_a_child_is_killed_with_what_it_started(tmp_path: Path, stops: str) -> None:
    script = 'sh -c "echo \\$\\$ > pid; exec sleep 1000" & while :; do [ -s pid ] && echo on; done'
    answers = {"at once": (0.0, True), "when it has enough": (9.0, False), "when nobody waits": (9.0, True)}
    seconds, wants_more = answers[stops]

    def stopped() -> bool:
        return stops == "when nobody waits" and (tmp_path / "pid").exists()

    def run() -> child.Ended:
        return child.run(
        ["sh", "-c", script], folder=str(tmp_path), given=subprocess.DEVNULL, seconds=seconds, stopped=stopped,
        take=lambda data: wants_more,
    )  # fmt: skip

    if stops == "when nobody waits":
        with pytest.raises(ToolFailure, match=r"^stopped before the search was over$"):
            run()
    else:
        ended = run()
        assert (ended.status, ended.cut) == (-9, "enough" if stops == "when it has enough" else "time")
    assert not children()
    if (tmp_path / "pid").exists() and (number := (tmp_path / "pid").read_text().strip()):
        status = Path(f"/proc/{number}/stat")
        assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] in ("Z", "X", "R", "D")


def test_a_child_gets_nothing_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    printed: list[bytes] = []

    def take(data: bytes) -> bool:
        printed.append(data)
        return True

    child.run(
        [sys.executable, "-I", "-S", "-c", "import os; print(sorted(os.environ), os.read(0, 9))"],
        folder=str(tmp_path), given=subprocess.DEVNULL, seconds=30, stopped=go_on, take=take,
    )  # fmt: skip
    assert b"".join(printed) == b"['LC_ALL'] b''\n"


# --- what cannot be read


def test_what_cannot_be_read_is_said(tmp_path: Path, engine: str) -> None:
    make(tmp_path, {"a": "foo\n", "closed/b": "foo\n", "c": "foo\n"})
    (tmp_path / "closed").chmod(0)
    (tmp_path / "c").chmod(0)
    found: list[str] = []

    def look() -> None:
        # What this thread starts may be the superuser, but may not read what it has no permission for.
        for capability in ("CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH"):
            ctypes.CDLL(None).prctl(DROP, CAPABILITIES[capability], 0, 0, 0)
        found.extend(render(grep(Grep(pattern), tmp_path, go_on)) for pattern in ("foo", "zzz"))
        found.append(render_names(glob(Glob("**"), tmp_path, go_on)))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    (tmp_path / "closed").chmod(0o755)
    assert found == [
        "a:1:foo\n[some files or folders could not be read]",
        "[no matches]\n[some files or folders could not be read]",
        "a\nc\n[some folders could not be read]",
    ]


# --- rules, and the plugin


@pytest.mark.parametrize(
    "pattern, path, coverage",
    [
        ("", ".", "all"),
        ("**", ".", "all"),
        ("src/**", "src", "all"),
        ("src/", "src/deep", "all"),
        ("src/**", "src/deep/a.py", "all"),
        ("src/**", ".", "some"),
        ("src/**", "doc", "none"),
        ("*.env", "src", "some"),
        ("*.env", "conf/.env", "all"),
        ("src/*.py", "src", "some"),
        ("src/a/b", "src/c", "none"),
        ("*/b", "src", "some"),
        ("**/b", "src", "some"),
        ("src/**", "link", "all"),
        ("src/**", "../out", "none"),
        ("{src,doc}/**", "doc", "all"),
    ],
)
def test_a_rule_covers_what_lies_in_the_place(tmp_path: Path, pattern: str, path: str, coverage: str) -> None:
    make(tmp_path, {"src/deep/a.py": "", "src/c/x": "", "doc/x": "", "conf/.env": ""})
    (tmp_path / "link").symlink_to("src/deep")
    assert GREP.covered is not None
    assert GLOB.covered is not None
    assert GREP.covered(pattern, Grep("foo", path=path), tmp_path) == coverage
    assert GLOB.covered(pattern, Glob("*", path=path), tmp_path) == coverage


async def test_the_plugin_offers_both_while_it_is_mounted() -> None:
    assert load_row(Row("search", "planlog.features.search", {}), ("tool", "stdio"))
    tools = Tools()
    async with open_scope([mount_plugin("tool", tool.plugin)], {Tools: tools}) as scope:
        await scope.ready()
        assert tools.names() == ["glob", "grep"]
    assert tools.names() == []
