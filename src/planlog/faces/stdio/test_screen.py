import io
import os
from pathlib import Path

import pytest

from planlog.faces.renders import Span
from planlog.faces.stdio.console import Console
from planlog.faces.stdio.outlet import ScreenGone
from planlog.faces.stdio.screen import Screen, open_screen
from planlog.kernel.errors import PlanlogError

TERMINAL = {"TERM": "xterm-256color"}


def screen(
    *, is_terminal: bool = False, env: dict[str, str] | None = None, encoding: str = "utf-8", columns: int = 80
) -> tuple[Screen, bytearray]:
    written = bytearray()
    made = Screen(
        written.extend,
        is_terminal=is_terminal,
        env=TERMINAL if env is None else env,
        encoding=encoding,
        columns=lambda: columns,
    )
    return made, written


def test_streamed_text_ends_its_line_before_a_line_is_printed() -> None:
    out, written = screen()
    out.text("I will")
    out.text(" plan")
    out.lines([(Span("[todos]", "bold"),), (Span("  [ ] one"),)])
    out.text("Done.\n")
    out.lines([(Span("end"),)])
    assert written.decode() == "I will plan\n[todos]\n  [ ] one\nDone.\nend\n"


def test_a_pipe_gets_neither_colour_nor_cursor_movement() -> None:
    out, written = screen()
    out.status("thinking")
    out.lines([(Span("good", "good"),)])
    assert written == b"good\n"
    assert out.width is None


def test_a_status_is_one_short_line_that_the_next_output_replaces() -> None:
    out, written = screen(is_terminal=True, columns=12)
    out.status("bash  sleep 300")
    out.status("bash  sleep 300")
    out.lines([(Span("done"),)])
    assert written.decode() == "\r\x1b[K\x1b[2mbash  slee…\x1b[0m\r\x1b[Kdone\n"


def test_a_status_never_stands_in_the_middle_of_text() -> None:
    out, written = screen(is_terminal=True)
    out.text("half a line")
    out.status("thinking")
    assert written == b"half a line"


def test_a_dumb_terminal_has_no_status() -> None:
    out, written = screen(is_terminal=True, env={"TERM": "dumb"})
    out.status("thinking")
    assert written == b""


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", "+ a -- \\u4efb..."),
        ("latin-1", "+ a -- \\u4efb..."),
        ("gb18030", "✓ a -- 任…"),
    ],
)
def test_no_character_is_too_much_for_any_encoding(encoding: str, shown: str) -> None:
    out, written = screen(encoding=encoding)
    out.lines([(Span("✓ a -- 任…"),)])
    assert written.decode(encoding) == f"{shown}\n"


def test_json_goes_out_byte_for_byte() -> None:
    out, written = screen(encoding="ascii")
    out.json_lines(['{"a":"任…"}'.encode()])
    assert written == '{"a":"任…"}\n'.encode()


def test_a_note_parts_from_text_on_the_same_terminal_and_not_from_text_in_a_pipe() -> None:
    for is_terminal, expected in ((True, "half\n"), (False, "half")):
        out, written = screen(is_terminal=is_terminal)
        err, noted = screen(is_terminal=True)
        console = Console(out, err)
        out.text("half")
        console.note("retrying")
        assert written.decode() == expected
        assert noted.decode() == "\x1b[2mretrying\x1b[0m\n"


def test_a_reader_that_went_away_is_told_apart_from_a_full_disk(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream:
        out = open_screen(stream, {})
        os.close(reading)
        with pytest.raises(ScreenGone):
            out.text("anybody?")
    with open("/dev/full", "w") as stream:
        out = open_screen(stream, {})
        with pytest.raises(PlanlogError, match="cannot write to /dev/full: No space left on device"):
            out.text("much")


def test_a_stream_without_a_descriptor_is_written_like_any_other() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    out = open_screen(stream, TERMINAL)
    out.lines([(Span("任务", "bold"),)])
    stream.seek(0)
    assert stream.read() == "任务\n"
    assert open_screen(None, TERMINAL).width is None


def test_json_keeps_its_bytes_in_a_file_and_is_escaped_on_a_terminal() -> None:
    document = '["\x9b2J\u202e任"]'.encode()
    out, written = screen()
    out.json_lines([document])
    assert written == document + b"\n"
    out, written = screen(is_terminal=True)
    out.json_lines([document])
    assert written.decode() == '["\\u009b2J\\u202e任"]\n'
