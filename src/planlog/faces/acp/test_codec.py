import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from planlog.faces.acp.codec import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Fault,
    Notification,
    Request,
    Response,
    error_line,
    notification_line,
    read_message,
    request_line,
    result_line,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
IDS = st.none() | st.integers() | st.text(max_size=9)


@given(IDS, st.text(max_size=9), st.dictionaries(st.text(max_size=5), JSON, max_size=3))
def test_a_request_is_read_as_it_was_written_and_its_id_is_echoed(id: Any, method: str, params: Any) -> None:
    read = read_message(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())
    assert isinstance(read, Request)
    assert (json.loads(read.id), read.method, json.loads(bytes(read.params))) == (id, method, params)
    assert json.loads(result_line(read.id, params)) == {"jsonrpc": "2.0", "id": id, "result": params}
    assert json.loads(error_line(read.id, -1, "no")) == {
        "jsonrpc": "2.0",
        "id": id,
        "error": {"code": -1, "message": "no"},
    }


@given(
    st.binary(max_size=40)
    | st.text('[]{}":,0aid\\u', max_size=30).map(str.encode)
    | JSON.map(lambda value: json.dumps(value).encode())
)
def test_whatever_a_line_holds_it_is_a_message_a_fault_or_nothing(line: bytes) -> None:
    assert isinstance(read_message(line), Request | Notification | Response | Fault | None)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", PARSE_ERROR),
        (b"\xff", PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"NaN", PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"7", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b"{}", INVALID_REQUEST),
        (b'{"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","method":7}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"x"}', INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":[],"method":"x"}', INVALID_REQUEST),
        (None, INVALID_REQUEST),
    ],
)
def test_what_is_no_message_has_the_code_that_the_protocol_wants(line: bytes | None, code: int) -> None:
    read = read_message(line)
    assert isinstance(read, Fault)
    assert read.code == code


def test_empty_lines_are_nothing_and_answers_are_known_by_what_they_hold() -> None:
    assert read_message(b" \r") is None
    assert read_message(b'{"jsonrpc":"2.0","id":3,"result":{"a":1}}') == Response(b"3", Raw(b'{"a":1}'))
    assert read_message(b'{"id":3,"error":{}}') == Response(b"3", None)
    assert read_message(b'{"jsonrpc":"2.0","method":"x"}') == Notification("x", Raw(b"{}"))


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
def test_what_is_written_is_one_line_for_every_reader(text: str) -> None:
    for line in (notification_line("x", {"text": text}), request_line(1, "x", {"text": text})):
        assert line.endswith(b"\n")
        assert len(line.decode().splitlines()) == 1
        assert json.loads(line)["params"]["text"] == text
