"""One client at the other end of the wire: its requests are carried out side by side, each is answered once.

Whatever a client sends, the connection lives; only the end of the stream, or of what can be written, ends it.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import anyio
import msgspec
from anyio.abc import TaskGroup

from planlog.agent.tasks import task_group
from planlog.faces.acp.codec import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    MAX_LINE,
    METHOD_NOT_FOUND,
    NULL,
    Fault,
    Message,
    Notification,
    Request,
    Response,
    error_line,
    notification_line,
    read_message,
    request_line,
)
from planlog.faces.acp.requests import Asked, ClientFailed, Method, RpcError
from planlog.faces.acp.streams import Inlet, Outlet
from planlog.faces.acp.tracing import trace
from planlog.faces.acp.updates import Update
from planlog.kernel.errors import PlanlogError, one_line
from planlog.log.text import clean_text
from planlog.tools.lines import Lines

T = TypeVar("T")
MOST_OPEN = 200
"""Requests that are carried out at once. The next one is read when one of them is answered, unless they last: what ends
those may be what is read next, so one more of them is refused."""
LAST_SECONDS = 0.5
"""How long requests may still take that came before the end of the stream, unless they last."""


class Connection:
    """`notes` are the notifications that mean something; others are ignored."""

    def __init__(
        self,
        inlet: Inlet,
        outlet: Outlet,
        methods: Mapping[str, Method],
        notes: Mapping[str, tuple[type[Any], Callable[[Any], Awaitable[None]]]],
    ) -> None:
        self._inlet = inlet
        self._outlet = outlet
        self._methods = methods
        self._notes = notes
        self._open: dict[bytes, Asked] = {}
        self._asked: dict[bytes, tuple[anyio.Event, list[Response]]] = {}
        self._count = 0
        self._short = 0
        self._lasting = 0
        self._room = anyio.Event()
        self.initialized = False

    async def serve(self) -> None:
        """Carries out what the client wants until it says no more; then whatever still runs is cancelled."""
        lines = Lines(MAX_LINE)
        async with task_group() as tasks:
            tasks.start_soon(self._end_when_broken, tasks)
            while data := await self._inlet.read():
                for line in lines.feed(data):
                    await self._heed(read_message(line), tasks)
            for line in lines.end():
                await self._heed(read_message(line), tasks)
            with anyio.move_on_after(LAST_SECONDS):
                while self._short:
                    await self._next_answer()
            tasks.cancel_scope.cancel()

    async def _end_when_broken(self, tasks: TaskGroup) -> None:
        await self._outlet.broken.wait()
        tasks.cancel_scope.cancel()

    # Out

    def update(self, session: str, update: Update) -> None:
        """Tells the client something about a session."""
        self._outlet.send(notification_line("session/update", {"sessionId": session, "update": update}))

    @property
    def is_full(self) -> bool:
        """Whether the client has fallen behind with reading."""
        return self._outlet.is_full

    async def room(self) -> None:
        """Waits until the client has read enough."""
        await self._outlet.room()

    async def ask(self, method: str, params: Any, answer: type[T]) -> T:
        """The client's answer to a request of ours. Raises `ClientFailed`. Cancelled, it takes the request back."""
        self._count += 1
        id = self._count
        key = str(id).encode()
        came, answers = anyio.Event(), []
        self._asked[key] = (came, answers)
        self._outlet.send(request_line(id, method, params))
        try:
            await came.wait()
        except anyio.get_cancelled_exc_class():
            self._outlet.send(notification_line("$/cancel_request", {"requestId": id}))
            raise
        finally:
            del self._asked[key]
        try:
            return msgspec.json.decode(answers[0].result or b"null", type=answer)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ClientFailed(f"{method}: {error}") from error

    # In

    async def _heed(self, message: Message | None, tasks: TaskGroup) -> None:
        match message:
            case Request():
                while self._short >= MOST_OPEN:
                    await self._next_answer()
                await self._begin(message, tasks)
            case Notification():
                # Begun after what was asked before it, which it may be about.
                tasks.start_soon(self._note, message)
            case Response(id=id):
                if waiting := self._asked.get(id):
                    waiting[1].append(message)
                    waiting[0].set()
            case Fault(code=code, message=text):
                self._outlet.send(error_line(NULL, code, text))
            case None:
                pass

    async def _next_answer(self) -> None:
        self._room = anyio.Event()
        await self._room.wait()

    async def _begin(self, request: Request, tasks: TaskGroup) -> None:
        asked = Asked(request.id, self._outlet)
        method = self._methods.get(request.method)
        if not self.initialized and not (method and method.early):
            asked.fail(INVALID_REQUEST, "initialize comes first")
        elif method is None:
            asked.fail(METHOD_NOT_FOUND, f"there is no method {request.method[:200]}")
        elif request.id in self._open and request.id != NULL:
            asked.fail(INVALID_REQUEST, "a request with that id is still being carried out")
        elif method.lasts and self._lasting >= MOST_OPEN:
            asked.fail(INTERNAL_ERROR, f"{MOST_OPEN} of these are being carried out; wait for one of them")
        else:
            try:
                params = msgspec.json.decode(request.params, type=method.params)
            except (msgspec.MsgspecError, RecursionError) as error:
                asked.fail(INVALID_PARAMS, f"{request.method}: {clean_text(str(error))}")
                return
            self._open[request.id] = asked
            self._count_open(method, 1)
            tasks.start_soon(self._carry_out, method, params, asked)

    def _count_open(self, method: Method, change: int) -> None:
        if method.lasts:
            self._lasting += change
        else:
            self._short += change

    async def _carry_out(self, method: Method, params: Any, asked: Asked) -> None:
        scope = anyio.CancelScope()
        asked.cancel = scope.cancel
        try:
            with scope:
                asked.reply(await method.run(params, asked))
            if scope.cancelled_caught:
                asked.fail(CANCELLED, "the request was cancelled")
        except RpcError as error:
            asked.fail(error.code, error.message, error.data)
        except PlanlogError as error:
            asked.fail(INTERNAL_ERROR, one_line(error))
        except Exception as error:  # a fault of ours: this request fails, the other sessions go on
            trace()
            asked.fail(INTERNAL_ERROR, f"planlog failed: {type(error).__name__}")
        finally:
            self._count_open(method, -1)
            if self._open.get(asked.id) is asked:
                del self._open[asked.id]
            if not method.lasts:  # unless it was answered, the end has come
                asked.fail(CANCELLED, "planlog is ending")
            self._room.set()

    async def _note(self, note: Notification) -> None:
        if note.method == "$/cancel_request":
            try:
                id = msgspec.json.decode(note.params, type=_Taken).request_id
            except (msgspec.MsgspecError, RecursionError):
                return
            if asked := self._open.get(bytes(id)):
                try:
                    asked.cancel()
                except Exception:  # nobody is there any more who could be stopped
                    trace()
            return
        known = self._notes.get(note.method)
        if known is None or not self.initialized:
            return
        params, heed = known
        try:
            meant = msgspec.json.decode(note.params, type=params)
        except (msgspec.MsgspecError, RecursionError):
            return
        try:
            await heed(meant)
        except Exception:  # nobody can be answered; the sessions go on
            trace()


class _Taken(msgspec.Struct, frozen=True, rename="camel"):
    request_id: msgspec.Raw
