"""A model at the other end of an HTTP connection: sends what a dialect wrote, hands it what comes back.

Nothing is tried twice here: whether a request is made again is the loop's to decide, and to show.
"""

import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress

import anyio
import httpx2
import msgspec

from planlog.model.connection import Connection, failure_of, unreachable, whole_body
from planlog.model.error_body import one_line_of
from planlog.model.model import Chunk, Finish, ModelError, Replay, Request
from planlog.model.providers import Address, dialect_of
from planlog.model.refusals import malformed, of_provider

EVENT_BYTES = 1 << 24
LAST_WORDS_SECONDS = 5.0
"""How long an answer that is whole waits for its counts, where a server neither sends them nor ends."""
PARTING_SECONDS = 0.2
"""How long the end of a reply that is whole is waited for, so that the next request may use its connection."""


class RemoteModel:
    """One model of a provider."""

    context_window: int | None = None

    def __init__(
        self, address: Address, name: str, connection: Connection, *, effort: str | None, max_tokens: int | None
    ) -> None:
        self.provider = address.provider.name
        self.name = name
        self.effort = effort
        self.max_tokens = max_tokens
        self._address = address
        self._connection = connection
        self._dialect = dialect_of(address)

    @asynccontextmanager
    async def stream(self, request: Request) -> AsyncIterator[AsyncGenerator[Chunk | Replay]]:
        """See `Model`; what fails says which provider it was, and never its key."""
        try:
            body = self._dialect.body(self.name, self.provider, request)
            async with self._response(body) as response, aclosing(self._chunks(response, body)) as chunks:
                yield chunks
        except ModelError as error:
            raise of_provider(error, self._address) from None

    @asynccontextmanager
    async def _response(self, body: bytes) -> AsyncIterator[httpx2.Response]:
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        headers |= self._dialect.headers(self._address.key)
        url = self._address.url + self._dialect.path
        client = self._connection.client()
        try:
            response = await client.send(client.build_request("POST", url, content=body, headers=headers), stream=True)
        except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError) as error:
            raise unreachable(error, url) from None
        try:
            if response.status_code != 200:
                raise await failure_of(response)
            yield response
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    async def _chunks(self, response: httpx2.Response, body: bytes) -> AsyncGenerator[Chunk | Replay]:
        """What the reply says. A connection that breaks is an end like any other: the decoder knows a good one."""
        decoder = self._dialect.decoder(body)
        deadline = math.inf
        async with aclosing(_events(response)) as events:
            while (data := await _next(events, deadline)) is not None:
                for chunk in decoder.take(data):
                    deadline = math.inf
                    yield chunk
                    if isinstance(chunk, Finish):
                        await _await_end(events)
                        return
                if decoder.is_whole:  # an event that says nothing, as those that keep a connection alive, gives no time
                    deadline = min(deadline, anyio.current_time() + LAST_WORDS_SECONDS)
        for chunk in decoder.end():
            yield chunk


async def _events(response: httpx2.Response) -> AsyncGenerator[str]:
    """The data of each event, as far as they came; a reply in one piece counts as one event."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "text/event-stream":
            response.encoding = "utf-8-sig"  # such streams have no other, whatever a header says
            async for event in httpx2.EventSource(response, EVENT_BYTES):
                yield event.data
        elif kind == "application/json":
            yield _whole_answer(await whole_body(response))
        else:
            text = (
                f"the provider answers with {one_line_of(kind) or 'something'} instead of a stream; check the base URL"
            )
            raise ModelError(text, code="NO_STREAM", status=response.status_code)
    except httpx2.SSEError as error:
        raise malformed(f"an event that is too large ({error})") from None
    except httpx2.HTTPError:
        return


def _whole_answer(body: bytes) -> str:
    """The reply of a server that does not stream. Raises `ModelError` for something else."""
    text = body.decode(errors="replace")
    try:
        said = msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        said = None
    if isinstance(said, dict) and said.keys() & {"choices", "content", "error"}:
        return text
    raise ModelError(
        f"the provider answers with {one_line_of(text) or 'nothing'}; check the base URL", code="NO_STREAM"
    )


async def _next(events: AsyncGenerator[str], deadline: float) -> str | None:
    """The next event's data, None at the end; or at the deadline, which ends the reply."""
    with anyio.CancelScope(deadline=deadline):
        return await anext(events, None)
    return None


async def _await_end(events: AsyncGenerator[str]) -> None:
    with anyio.move_on_after(PARTING_SECONDS), suppress(ModelError):  # the answer is whole, whatever follows it
        async for _ in events:
            pass
