"""JSON-RPC as lines of bytes: what came in becomes messages, what goes out becomes lines. No I/O happens here."""

from typing import Any

import msgspec

from planlog.log.text import mend_escapes

MAX_LINE = 64 << 20
"""Bytes of the longest line that is read."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800
NOT_FOUND = -32002

NULL = b"null"


class Request(msgspec.Struct, frozen=True):
    """Wants an answer. `id` is its JSON, to be echoed as it is; `params` is JSON, `{}` where none came."""

    id: bytes
    method: str
    params: msgspec.Raw


class Notification(msgspec.Struct, frozen=True):
    """Wants no answer, not even to its faults."""

    method: str
    params: msgspec.Raw


class Response(msgspec.Struct, frozen=True):
    """Answers the request `id`, of ours; `result` None: it failed."""

    id: bytes
    result: msgspec.Raw | None


class Fault(msgspec.Struct, frozen=True):
    """Something that is no message; it is answered with this error, and the connection goes on."""

    code: int
    message: str


Message = Request | Notification | Response | Fault


class _Envelope(msgspec.Struct, frozen=True):
    jsonrpc: Any = None
    id: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    method: Any = None
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_envelopes = msgspec.json.Decoder(_Envelope)
_NO_PARAMS = msgspec.Raw(b"{}")


def read_message(line: bytes | None) -> Message | None:
    """The message in a line, None in an empty one; a line that is None was too long."""
    if line is None:
        return Fault(INVALID_REQUEST, f"a line is longer than {MAX_LINE} bytes")
    if not line.strip():
        return None
    try:
        if not line.isascii():
            line.decode()
        envelope = _envelopes.decode(mend_escapes(line))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _fault_of(line, error)
    is_response = envelope.method is None and (
        envelope.result is not msgspec.UNSET or envelope.error is not msgspec.UNSET
    )
    if is_response:
        return Response(_id(envelope) or NULL, envelope.result if isinstance(envelope.result, msgspec.Raw) else None)
    if envelope.jsonrpc != "2.0" or not isinstance(envelope.method, str):
        return Fault(INVALID_REQUEST, 'a message has "jsonrpc": "2.0" and a method')
    params = envelope.params if isinstance(envelope.params, msgspec.Raw) else _NO_PARAMS
    if envelope.id is msgspec.UNSET:
        return Notification(envelope.method, params)
    id = _id(envelope)
    if id is None:
        return Fault(INVALID_REQUEST, "an id is an integer, a string or null")
    return Request(id, envelope.method, params)


def _id(envelope: _Envelope) -> bytes | None:
    """The id's JSON as it was written; None where it cannot be one."""
    if not isinstance(envelope.id, msgspec.Raw):
        return None
    written = bytes(envelope.id).strip()
    if written == NULL or written.startswith(b'"'):
        return written
    return written if written.removeprefix(b"-").isdigit() else None


def _fault_of(line: bytes, error: Exception) -> Fault:
    if isinstance(error, msgspec.ValidationError):
        try:  # an array or a scalar, or something that only begins like one
            msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            pass
        else:
            return Fault(INVALID_REQUEST, "a message is an object; batches are not part of the protocol")
    return Fault(PARSE_ERROR, "a line is not JSON")


# Writing

_encoder = msgspec.json.Encoder()


class _Out(msgspec.Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any


class _Asking(msgspec.Struct, frozen=True, tag_field="jsonrpc", tag="2.0"):
    id: int
    method: str
    params: Any


def notification_line(method: str, params: Any) -> bytes:
    """A notification, with its LF."""
    return _line(_encoder.encode(_Out(method, params)))


def request_line(id: int, method: str, params: Any) -> bytes:
    """A request of ours, with its LF."""
    return _line(_encoder.encode(_Asking(id, method, params)))


def result_line(id: bytes, result: Any) -> bytes:
    """The answer to the request with that id's JSON, with its LF."""
    return _line(b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (id, _encoder.encode(result)))


def error_line(id: bytes, code: int, message: str, data: Any = None) -> bytes:
    """The answer to a request that failed, with its LF."""
    error = {"code": code, "message": message, **({} if data is None else {"data": data})}
    return _line(b'{"jsonrpc":"2.0","id":%b,"error":%b}' % (id, _encoder.encode(error)))


def _line(json: bytes) -> bytes:
    # Some clients end a line at these as well; inside of strings, the only place for them, they can be escaped.
    if b"\xe2\x80" in json:
        json = json.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    if b"\xc2\x85" in json:
        json = json.replace(b"\xc2\x85", b"\\u0085")
    return json + b"\n"
