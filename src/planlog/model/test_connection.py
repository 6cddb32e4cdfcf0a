"""What a person is told when no response comes, and whether it is worth asking again."""

import ssl

import httpx2
import pytest

from planlog.model.connection import unreachable
from planlog.model.model import ModelError
from planlog.model.models import Models

HERE, THERE = "http://localhost:8000/v1/x", "https://user:secret@host.example/v1/x"


def caused(error: httpx2.HTTPError, cause: BaseException) -> httpx2.HTTPError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "url", "code", "retryable", "said"),
    [
        (httpx2.ConnectTimeout("t"), THERE, "NO_CONNECTION", True, "host.example did not answer within 20 s"),
        (
            caused(httpx2.ConnectError("all failed"), ConnectionRefusedError("refused")), HERE, "NO_CONNECTION", False,
            "cannot reach localhost:8000 (refused); is the server running?",
        ),
        (
            caused(httpx2.ConnectError("all failed"), ConnectionRefusedError("refused")), THERE, "NO_CONNECTION", True,
            "cannot reach host.example (refused); check the network and the base URL",
        ),
        (httpx2.ProxyError("403"), THERE, "NO_CONNECTION", True, "cannot reach host.example (403); check the network and the base URL"),
        (
            caused(httpx2.ConnectError("x"), ssl.SSLCertVerificationError(1, "self-signed")), THERE, "TLS_FAILED", False,
            "no safe connection to host.example (self-signed); check the base URL, the clock and the system's certificates (SSL_CERT_FILE names others)",
        ),
        # a safe connection that broke is one that broke
        (caused(httpx2.ReadError(""), ssl.SSLError(1, "bad record")), THERE, "STREAM_CUT", True, "host.example broke off the connection (bad record)"),
        (httpx2.InvalidURL("odd"), "http://user:secret@999.0.0.1/v1", "NO_CONNECTION", False, "999.0.0.1 is no address (odd); check the base URL"),
        (caused(httpx2.ConnectError("x"), ConnectionRefusedError("refused")), "http://[::1]:9/v1", "NO_CONNECTION", False, "cannot reach [::1]:9 (refused); is the server running?"),
        (httpx2.RemoteProtocolError(""), THERE, "STREAM_CUT", True, "host.example broke off the connection (RemoteProtocolError)"),
    ],
)  # fmt: skip
def test_why_no_response_came_is_one_line_without_what_the_address_hides(
    error: Exception, url: str, code: str, retryable: bool, said: str
) -> None:
    told = unreachable(error, url)
    assert (told.code, told.retryable, str(told)) == (code, retryable, said)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SSL_CERT_FILE", "/nowhere.pem"), ("ALL_PROXY", "socks5://h:1"), ("HTTPS_PROXY", "odd://h:1")],
)
def test_what_the_environment_says_of_connections_and_cannot_be_used_is_one_line(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ModelError, match=r"^no connection can be made \(.+\); check .*SSL_CERT_FILE\)$") as refused:
        Models({}).connection().client()
    assert not refused.value.retryable
