import json
import os
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from inline_snapshot import snapshot

from planlog.features.files import tool
from planlog.features.files.read import READ, Read
from planlog.features.files.reading import PIECE, WHOLE, read_page
from planlog.features.files.seen import stamp
from planlog.kernel.composition import Row
from planlog.kernel.features import load_row
from planlog.kernel.plugin import mount_plugin
from planlog.kernel.scope import open_scope
from planlog.tools.call import present, run_call
from planlog.tools.outcome import Outcome
from planlog.tools.tool import Execution, Presentation, ToolFailure, Tools


async def run(folder: Path, arguments: dict[str, Any]) -> Outcome:
    tools = Tools()
    with tools.add(READ):
        return await run_call(tools, "read", json.dumps(arguments), Execution("c", None, folder))


async def call(folder: Path, path: str, **more: Any) -> Outcome:
    return await run(folder, {"path": path, **more})


async def text(folder: Path, path: str, **more: Any) -> str:
    return (await call(folder, path, **more)).text


def sparse(path: Path, size: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


# --- what the model is told and reads


def test_the_model_is_told_what_it_reads() -> None:
    assert READ.definition() == snapshot(
        {
            "name": "read",
            "description": "Reads a text file of the working folder, as numbered lines: the number, a tab, the line. At most 2000 lines from line offset (1) on; a notice at the end says where to go on.",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
                "required": ["path"],
                "additionalProperties": False,
            },
        }
    )


async def test_a_file_is_read_as_numbered_lines_and_its_state_is_kept(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(b"one\n\n\ttwo\n")
    outcome = await call(tmp_path, "./src/../src/a.py")
    assert outcome.text == "1\tone\n2\t\n3\t\ttwo"
    assert outcome.meta == {"file": {"path": "src/a.py", "stamp": stamp(b"one\n\n\ttwo\n")}, "lines": [1, 3, 3]}


async def test_a_notice_says_where_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"line {n}\n" for n in range(1, 2341)))
    assert (await text(tmp_path, "a")).endswith("\n2000\tline 2000\n[lines 1 to 2000 of 2340; go on with offset 2001]")
    assert await text(tmp_path, "a", offset=2339) == "2339\tline 2339\n2340\tline 2340\n[lines 2339 to 2340 of 2340]"
    assert await text(tmp_path, "a", offset=5, limit=1) == "5\tline 5\n[line 5 of 2340; go on with offset 6]"
    assert (await call(tmp_path, "a", offset=5, limit=1)).meta["lines"] == [5, 5, 2340]  # type: ignore[index]
    assert await text(tmp_path, "a", offset=2341) == 'Error: offset 2341 is beyond the end: "a" has 2340 lines'


async def test_long_lines_fill_a_page_and_too_long_ones_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(("x" * 1000 + "\n") * 100)
    shown = await text(tmp_path, "a")
    assert shown.endswith("\n[lines 1 to 27 of 100; go on with offset 28]")
    assert len(shown) < 30_000
    (tmp_path / "b").write_text("y" * 7_000_000 + "\nend\n")
    assert await text(tmp_path, "b") == f"1\t{'y' * 2000}… [6998000 more characters]\n2\tend"


@pytest.mark.parametrize(
    "data, shown",
    [
        (b"", "[the file is empty]"),
        (b"\n", "1\t"),
        (b"a", "1\ta\n[no line feed at the end]"),
        (b"a\r\nb\r\n", "1\ta\n2\tb"),
        (b"a\r\nb\n", "1\ta␍\n2\tb\n[signs such as ␛ and <U+0085> stand for control characters]"),
        (b"caf\xe9\n", "1\tcafé\n[not UTF-8, shown as Latin-1]"),
        (b"\xef\xbb\xbfa\n", "1\ta"),
        ("a\n".encode("utf-16"), "1\ta\n[the file is UTF-16 LE]"),
        (b"\x1b[31mred\n", "1\t␛[31mred\n[signs such as ␛ and <U+0085> stand for control characters]"),
        (b"[lines 1 to 9 of 9]\n", "1\t[lines 1 to 9 of 9]"),
        (b"a\0b", '["a" is not text: binary file, 3 bytes]'),
        (b"\x89PNG\r\n\x1a\n\0\0\0", '["a" is not text: PNG image, 11 bytes]'),
        (b"\xff\xd8\xff\xe0", '["a" is not text: JPEG image, 4 bytes]'),
    ],
)
async def test_whatever_is_odd_about_a_file_is_said_in_one_notice(tmp_path: Path, data: bytes, shown: str) -> None:
    (tmp_path / "a").write_bytes(data)
    outcome = await call(tmp_path, "a")
    assert (outcome.text, outcome.is_error) == (shown, False)
    assert outcome.meta is not None
    assert outcome.meta["file"] == {"path": "a", "stamp": stamp(data)}


@pytest.mark.parametrize(
    "arguments, said",
    [
        ({"path": "none"}, '"none" does not exist'),
        ({"path": "aa.txt"}, '"aa.txt" does not exist; did you mean "a.txt"?'),
        ({"path": ""}, "the path is empty"),
        ({"path": "."}, '"." is a folder, not a file'),
        ({"path": "folder"}, '"folder" is a folder, not a file'),
        ({"path": "fifo"}, '"fifo" is a FIFO, not a file'),
        ({"path": "broken"}, '"not there" does not exist'),
        ({"path": "loop"}, '"loop" is a link that leads back to itself'),
        ({"path": "out"}, '"out" is outside of the workspace ROOT'),
        ({"path": "a.txt", "offset": 0}, "offset must be at least 1, the first line; got 0"),
        ({"path": "a.txt", "offset": 2}, 'offset 2 is beyond the end: "a.txt" has 1 line'),
        ({"path": "a.txt", "limit": 0}, "limit must be at least 1; got 0"),
        ({"path": "x\n\x1b[31m"}, '"x\\n\\x1b[31m" does not exist'),
        (
            {"file": "a"},
            'invalid arguments: missing required property "path"; "file" is not a declared property (additionalProperties: false)',
        ),
    ],
)
async def test_what_cannot_be_read_is_named_in_one_line(tmp_path: Path, arguments: dict[str, Any], said: str) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "broken").symlink_to("not there")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").symlink_to("/etc/passwd")
    outcome = await run(tmp_path, arguments)
    assert outcome.is_error
    assert outcome.text.replace(str(tmp_path), "ROOT") == f"Error: {said}"
    assert outcome.meta is None


async def test_a_device_is_named(tmp_path: Path) -> None:
    assert await text(Path("/dev"), "null") == 'Error: "null" is a device, not a file'


async def test_a_name_with_a_line_feed_and_an_escape_code_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "a\n9\tb\x1b[31m").write_bytes(b"\0")
    assert await text(tmp_path, "a\n9\tb\x1b[31m") == '["a\\n9\\tb\\x1b[31m" is not text: binary file, 1 bytes]'


async def test_a_file_without_a_size_is_read_to_its_end() -> None:
    if sys.platform == "linux":
        assert (await text(Path("/proc/self"), "status")).startswith("1\tName:\t")


# --- files that are large, or change


async def test_a_sparse_file_of_two_gigabytes_is_named_at_once(tmp_path: Path) -> None:
    outcome = await call(sparse(tmp_path / "a", 2 << 30).parent, "a")
    assert outcome.text == '["a" is not text: binary file, 2147483648 bytes]'
    assert outcome.meta == {"file": {"path": "a"}, "kind": "binary file", "size": 2 << 30}


async def test_of_a_large_file_only_the_page_is_read_and_no_stamp_is_made(tmp_path: Path) -> None:
    line = "x" * 99 + "\n"
    with (tmp_path / "a").open("w") as file:
        for _ in range(12):
            file.write(line * 10_000)
    outcome = await call(tmp_path, "a", limit=2)
    assert outcome.text == f"1\t{line}2\t{line}[lines 1 to 2 of a file of 12000000 bytes; go on with offset 3]"
    assert outcome.meta == {"file": {"path": "a"}, "lines": [1, 2, None]}
    assert await text(tmp_path, "a", offset=120_000) == f"120000\t{line}[line 120000 of 120000]"
    assert await text(tmp_path, "a", offset=120_001) == 'Error: offset 120001 is beyond the end: "a" has 120000 lines'


async def test_the_end_of_a_line_without_end_is_not_looked_for(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w") as file:
        file.write("first\n")
        for _ in range(12):
            file.write("y" * 1_000_000)
    os.truncate(tmp_path / "a", 2 << 30)  # and then NULs, which nobody reads
    assert await text(tmp_path, "a") == (
        f"1\tfirst\n2\t{'y' * 2000}… [many more characters]\n"
        "[line 2 of a file of 2147483648 bytes is too long to be read to its end]"
    )


async def test_a_large_file_may_be_in_any_encoding(tmp_path: Path) -> None:
    lines = "é→\n" * 3_000_000
    for encoding, notice in (("utf-8", ""), ("utf-16", "; the file is UTF-16 LE")):
        (tmp_path / "a").write_bytes(lines.encode(encoding))
        size = (tmp_path / "a").stat().st_size
        assert await text(tmp_path, "a", offset=2_000_000, limit=1) == (
            f"2000000\té→\n[line 2000000 of a file of {size} bytes; go on with offset 2000001{notice}]"
        )
    (tmp_path / "a").write_bytes(b"\xe9\n" * 6_000_000)
    assert (await text(tmp_path, "a", limit=1)).endswith("go on with offset 2; not UTF-8, shown as Latin-1]")
    (tmp_path / "a").write_bytes(b"a\n" * 6_000_000 + b"\xff\n")
    assert (await text(tmp_path, "a", offset=6_000_001)).startswith("6000001\t\\xff\n")


def test_whoever_stops_waiting_stops_the_reading(tmp_path: Path) -> None:
    sparse(tmp_path / "a", 64 << 30)
    with (tmp_path / "a").open("r+b") as file:
        file.write(b"x\n" * PIECE)
    (tmp_path / "b").write_bytes(b"x\n" * (WHOLE // 2))
    for place, patience in (("a", 0), ("a", 1), ("a", 9), ("b", 0), ("b", 9), ("b", 60)):
        answers = iter([False] * patience)
        with pytest.raises(ToolFailure, match=r"^stopped before it was read$"):
            read_page(tmp_path, place, 1 << 40, 1, partial(next, answers, True))
        assert next(answers, None) is None


async def test_a_cancelled_call_ends_while_it_reads(tmp_path: Path) -> None:
    sparse(tmp_path / "a", 1 << 40)
    with (tmp_path / "a").open("r+b") as file:
        file.write(b"x\n" * PIECE)
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: call(tmp_path, "a", offset=1 << 60))
            await anyio.lowlevel.checkpoint()
            scope.cancel()
    assert scope.cancelled_caught


@pytest.mark.parametrize("change", ["grows", "shrinks", "is replaced"])
def test_a_file_that_changes_while_it_is_read_is_read_as_far_as_it_goes(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 99 + b"\n" + b"y\n" * PIECE)
    asked = 0

    def meanwhile() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1 and change == "shrinks":
            os.truncate(path, 100)
        elif change == "grows":
            with suppress(OSError), path.open("ab") as file:
                file.write(b"z" * PIECE)
        elif asked == 1:
            path.unlink()
            path.write_bytes(b"new\n")
        return False

    shown = read_page(tmp_path, "a", 1, 1, meanwhile)
    assert shown.lines == (f"1\t{'x' * 99}",)
    assert (shown.stamp is None) == (change == "grows")  # it grew for as long as it was read


def test_many_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\n" * 100_000)
    read: list[int | None] = []

    def one() -> None:
        read.append(read_page(tmp_path, "a", 5, 1, lambda: False).total)

    threads = [threading.Thread(target=one) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [100_000] * 10


# --- how it is judged, shown and mounted


def test_a_call_is_shown_by_its_path() -> None:
    tools = Tools()
    with tools.add(READ):
        shown = present(tools, "read", '{"path":"src/a.py","offset":5}')
        assert shown == Presentation("generic", "Read src/a.py", "read", {"path": "src/a.py", "offset": 5})
        assert present(tools, "read", '{"path":"a\\nb"}').title == "Read a\\nb"


def test_it_runs_beside_others_unasked_and_rules_go_by_place(tmp_path: Path) -> None:
    assert READ.concurrency_safe
    assert not READ.needs_approval
    assert READ.covered is not None
    assert READ.covered("*.env", Read("deep/../.env"), tmp_path) == "all"
    assert READ.covered("*.env", Read("env"), tmp_path) == "none"


async def test_the_tool_is_there_while_its_plugin_runs() -> None:
    assert [mount.id for mount in load_row(Row("files", "planlog.features.files", {}), ("tool",))] == ["files/tool"]
    mounted = Tools()
    async with open_scope([mount_plugin("tool", tool.plugin)], {Tools: mounted}) as scope:
        await scope.ready()
        assert "read" in mounted.names()
    assert mounted.names() == []
