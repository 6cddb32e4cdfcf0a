"""The HTTP client that remote models share, and what its failures mean to a person."""

import ssl
from urllib.parse import urlsplit

import anyio
import httpx2

from planlog import __version__
from planlog.model.error_body import one_line_of
from planlog.model.model import ModelError
from planlog.model.refusals import malformed, refused

CONNECT_SECONDS = 20.0
WRITE_SECONDS = 60.0
ERROR_SECONDS = 2.0
"""How long the text of an error may take to arrive."""
ERROR_BYTES = 1 << 16
BODY_BYTES = 1 << 24
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Connection:
    """One client for all requests of a program, made when the first of them is."""

    def __init__(self) -> None:
        self._client: httpx2.AsyncClient | None = None

    def client(self) -> httpx2.AsyncClient:
        """Redirects are not followed: a key goes where its person sent it, and nowhere else.

        Raises `ModelError` where the environment names certificates or a proxy that cannot be used.
        """
        if self._client is None:
            try:
                self._client = httpx2.AsyncClient(
                    # How long a reply may be silent is the loop's to say.
                    timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
                    headers={"user-agent": f"planlog/{__version__}", "accept-encoding": "identity"},
                )
            except (OSError, ImportError, ValueError, httpx2.InvalidURL) as error:
                raise _unusable(error) from None
        return self._client

    async def aclose(self) -> None:
        """Ends what is open."""
        if self._client is not None:
            await self._client.aclose()


async def whole_body(response: httpx2.Response) -> bytes:
    """The body of a response that comes in one piece. Raises `ModelError` where it has no end."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > BODY_BYTES:
            raise malformed("a reply that is too large")
    return bytes(body)


async def failure_of(response: httpx2.Response) -> ModelError:
    """What a response that is not 200 means; its text is read as far as it comes in time."""
    body = bytearray()
    with anyio.move_on_after(ERROR_SECONDS):
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) >= ERROR_BYTES:
                    break
        except httpx2.HTTPError:
            pass
    headers = {name.lower(): value for name, value in response.headers.items()}
    return refused(response.status_code, headers, bytes(body[:ERROR_BYTES]))


def _unusable(error: Exception) -> ModelError:
    hint = "check what the environment says of proxies and certificates (HTTPS_PROXY, ALL_PROXY, SSL_CERT_FILE)"
    return ModelError(f"no connection can be made ({one_line_of(str(error))}); {hint}", code="NO_CONNECTION")


def unreachable(error: Exception, url: str) -> ModelError:
    """Why no response came from `url`, as one line."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]  # what stands before it may be a password
    causes = _causes(error)
    said = one_line_of(next((str(cause) for cause in reversed(causes) if str(cause)), type(error).__name__))
    if isinstance(error, httpx2.InvalidURL | UnicodeError):
        return ModelError(f"{host} is no address ({said}); check the base URL", code="NO_CONNECTION")
    if isinstance(error, httpx2.ConnectError) and any(isinstance(cause, ssl.SSLError) for cause in causes):
        hint = "check the base URL, the clock and the system's certificates (SSL_CERT_FILE names others)"
        return ModelError(f"no safe connection to {host} ({said}); {hint}", code="TLS_FAILED")
    if isinstance(error, httpx2.ConnectTimeout):
        return ModelError(f"{host} did not answer within {CONNECT_SECONDS:.0f} s", code="NO_CONNECTION", retryable=True)
    if isinstance(error, httpx2.ConnectError | httpx2.ProxyError):
        is_here = parts.hostname in _LOOPBACK and any(isinstance(cause, ConnectionRefusedError) for cause in causes)
        hint = "is the server running?" if is_here else "check the network and the base URL"
        return ModelError(f"cannot reach {host} ({said}); {hint}", code="NO_CONNECTION", retryable=not is_here)
    return ModelError(f"{host} broke off the connection ({said})", code="STREAM_CUT", retryable=True)


def _causes(error: BaseException) -> list[BaseException]:
    """The error, what caused it, and so on; of groups every member."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or one in found:
            continue
        found.append(one)
        waiting += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
    return found
