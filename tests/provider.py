"""A provider on this machine: answers requests with given bytes, in given pieces, and remembers what it was asked."""

import asyncio
import json
import ssl
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STREAM = "text/event-stream"
_TLS = b"\x16"
"""The first byte of somebody who wants a safe connection."""


@dataclass(frozen=True)
class Reply:
    """How one request is answered.

    `body` is written in pieces of `piece` bytes (0: at once), `cut_after` bytes of it and then the connection breaks.
    `hangs` says that nothing more comes after the body, and no end either; `then_again` that the body never ends,
    `goes_on` what is said for ever after it.
    `raw` is written instead of everything else.
    """

    body: bytes = b""
    status: int = 200
    kind: str = STREAM
    headers: Mapping[str, str] = field(default_factory=dict)
    piece: int = 0
    cut_after: int | None = None
    hangs: bool = False
    then_again: bool = False
    goes_on: bytes = b""
    chunked: bool = True
    raw: bytes | None = None


@dataclass(frozen=True)
class Asked:
    """One request as it came: `path` with its query, `headers` by lower-case name, `time` by the monotonic clock."""

    time: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


class Provider:
    """Gives `replies` in order, the last one for ever."""

    def __init__(self, replies: Sequence[Reply] = (), certificate: Path | None = None) -> None:
        """`certificate` is a PEM file with a key: the provider then speaks TLS."""
        self.asked: list[Asked] = []
        self.url = ""
        self._replies = list(replies)
        self._certificate = certificate
        self._came = threading.Event()

    def queue(self, *replies: Reply) -> None:
        """Replaces the replies that are left."""
        self._replies = list(replies)

    def wait(self, count: int = 1, seconds: float = 20.0) -> None:
        """Waits, in another thread than the provider's, until it was asked so often."""
        while len(self.asked) < count:
            if not self._came.wait(seconds):
                raise AssertionError(f"asked {len(self.asked)} times, not {count}")
            self._came.clear()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator["Provider"]:
        """Listens on loopback until the block ends; `url` then says where."""
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            try:
                await self._connected(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                tasks.discard(task)
                writer.close()

        tls: ssl.SSLContext | None = None
        if self._certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(self._certificate)
        server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def in_thread(self) -> Iterator["Provider"]:
        """`serve` on a thread and a loop of its own, for programs in other processes."""
        ready, done = threading.Event(), asyncio.Event()
        loop = asyncio.new_event_loop()

        async def run() -> None:
            async with self.serve():
                ready.set()
                await done.wait()

        thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
        thread.start()
        assert ready.wait(10)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(done.set)
            thread.join(10)
            loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            start = await reader.readexactly(1)
            if start == _TLS:
                writer.write(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
                return
            head = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            method, path, _ = first.split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            asked = Asked(time.monotonic(), method, path, headers, body)
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
            self.asked.append(asked)
            self._came.set()
            if not await _answer(reply, writer):
                return


async def _answer(reply: Reply, writer: asyncio.StreamWriter) -> bool:
    """Writes the reply; whether the connection may be used again."""
    if reply.raw is not None:
        writer.write(reply.raw)
        await writer.drain()
        return False
    lasts = reply.chunked and reply.cut_after is None
    headers = {"content-type": reply.kind, **reply.headers}
    headers |= {"transfer-encoding": "chunked"} if reply.chunked else {"connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} Said\r\n{head}\r\n".encode("latin-1"))
    body = reply.body if reply.cut_after is None else reply.body[: reply.cut_after]
    while True:
        for piece in _pieces(body, reply.piece):
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece) if reply.chunked else piece)
            if reply.piece or reply.then_again or reply.goes_on:
                await writer.drain()
        if not (reply.then_again or reply.goes_on):
            break
        body = reply.goes_on or body
    await writer.drain()
    if reply.hangs:
        await asyncio.sleep(3600)
    if lasts:
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    return lasts


def _pieces(body: bytes, size: int) -> Iterable[bytes]:
    if not size:
        return [body] if body else []
    return (body[start : start + size] for start in range(0, len(body), size))


def error_reply(status: int, message: str = "", **headers: str) -> Reply:
    """A refusal in the form that OpenAI and Anthropic share."""
    body = json.dumps({"type": "error", "error": {"type": "some_error", "message": message}}).encode()
    return Reply(body, status, "application/json", {name.replace("_", "-"): value for name, value in headers.items()})
