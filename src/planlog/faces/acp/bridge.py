"""planlog as an agent of an editor: every method of the protocol that it takes part in, over its sessions."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from planlog.agent.event import AbortKind
from planlog.agent.tasks import task_group
from planlog.faces.acp.codec import INVALID_PARAMS, NOT_FOUND
from planlog.faces.acp.connection import Connection
from planlog.faces.acp.hello import greeting
from planlog.faces.acp.house import House
from planlog.faces.acp.listing import page_of
from planlog.faces.acp.messages import (
    Authenticate,
    Initialize,
    ListPage,
    ListSessions,
    LoadSession,
    McpServer,
    NewSession,
    OneSession,
    Opened,
    Options,
    Prompt,
    SetMode,
    SetOption,
)
from planlog.faces.acp.opening import is_folder
from planlog.faces.acp.prompts import command_of, prompt_text
from planlog.faces.acp.requests import Asked, Method, RpcError
from planlog.faces.acp.streams import Inlet, Outlet
from planlog.faces.acp.talk import Talk
from planlog.faces.acp.tracing import trace
from planlog.faces.acp.updates import ConfigUpdate, ModeUpdate
from planlog.log.header import valid_id
from planlog.log.session import Session
from planlog.log.store import SessionUnknown

END_SECONDS = 2.0
"""How long turns may take to end when the client is gone."""
FLUSH_SECONDS = 0.5


class Bridge:
    """Serves one client; `tasks` hold what goes on in its sessions."""

    def __init__(self, house: House, inlet: Inlet, outlet: Outlet, tasks: TaskGroup) -> None:
        self._house = house
        self._outlet = outlet
        self._tasks = tasks
        self._talks: dict[str, Talk] = {}
        self._opening = anyio.Lock()
        self._connection = Connection(inlet, outlet, self._methods(), {"session/cancel": (OneSession, self._cancel)})

    async def serve(self, *, initialized: bool = False) -> None:
        """Serves until the client says no more or reads no more. `initialized`: it has been greeted already."""
        self._connection.initialized = initialized
        await self._connection.serve()

    async def end(self) -> None:
        """Ends every turn, in a bounded time, and sends what is left to be said."""
        with anyio.move_on_after(END_SECONDS):
            async with anyio.create_task_group() as tasks:
                for talk in self._talks.values():
                    tasks.start_soon(self._end, talk, "disposed")
        with anyio.move_on_after(FLUSH_SECONDS):
            await self._outlet.flushed()

    def _methods(self) -> dict[str, Method]:
        return {
            "initialize": Method(Initialize, self._initialize, early=True),
            "authenticate": Method(Authenticate, self._authenticate),
            "session/new": Method(NewSession, self._new),
            "session/load": Method(LoadSession, self._load),
            "session/resume": Method(LoadSession, self._resume),
            "session/list": Method(ListSessions, self._list),
            "session/close": Method(OneSession, self._close),
            "session/delete": Method(OneSession, self._delete),
            "session/prompt": Method(Prompt, self._prompt, lasts=True),
            "session/set_mode": Method(SetMode, self._set_mode),
            "session/set_config_option": Method(SetOption, self._set_option),
        }

    # The connection

    async def _initialize(self, wanted: Initialize, asked: Asked) -> dict[str, Any]:
        self._connection.initialized = True
        return greeting()

    async def _authenticate(self, wanted: Authenticate, asked: Asked) -> None:
        raise RpcError(INVALID_PARAMS, "there is nothing to authenticate with; keys come from planlog's environment")

    # Sessions

    async def _new(self, wanted: NewSession, asked: Asked) -> None:
        folder = _folder(wanted.cwd)
        if not is_folder(folder):
            raise RpcError(INVALID_PARAMS, f"cwd is no folder: {str(folder)[:200]}")
        session = await self._house.sessions.create(folder)
        try:
            talk = await self._talk(session, folder, wanted.mcp_servers)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self._house.sessions.delete(session.id)
            raise
        asked.reply(self._opened(talk, session.id))
        talk.following.begin()

    async def _load(self, wanted: LoadSession, asked: Asked) -> Opened:
        async with self._come_to(wanted) as talk:
            await talk.following.replay()
            return self._opened(talk)

    async def _resume(self, wanted: LoadSession, asked: Asked) -> None:
        async with self._come_to(wanted) as talk:
            if not talk.following.is_on:
                await talk.following.resume()
            asked.reply(self._opened(talk))
            talk.following.opened()

    @asynccontextmanager
    async def _come_to(self, wanted: LoadSession) -> AsyncGenerator[Talk]:
        """The session as it is open already, or opened now, for one at a time; closed again when that fails."""
        folder = _folder(wanted.cwd)
        while True:
            talk = await self._find(wanted, folder)
            try:
                async with talk.coming:
                    if not talk.is_closing:
                        talk.come(folder, wanted.mcp_servers or ())
                        yield talk
                        return
            finally:
                if not talk.following.is_on and not talk.coming.locked():
                    self._begin_end(talk, "user")
            await talk.ended.wait()

    async def _find(self, wanted: LoadSession, folder: Path) -> Talk:
        async with self._opening:
            if talk := self._talks.get(wanted.session_id):
                return talk
            try:
                session = await self._house.sessions.open(wanted.session_id)
            except SessionUnknown as error:
                raise _unknown(wanted.session_id) from error
            return await self._talk(session, folder, wanted.mcp_servers)

    async def _talk(self, session: Session, folder: Path, servers: list[McpServer] | None) -> Talk:
        return await self._tasks.start(self._live, session, folder, servers or ())

    async def _live(
        self, session: Session, folder: Path, servers: Sequence[McpServer], *, task_status: TaskStatus[Talk]
    ) -> None:
        """Keeps the session open until it is closed. A fault of ours ends this one, the others go on."""
        talk: Talk | None = None
        try:
            async with task_group() as tasks:
                talk = self._talks[session.id] = Talk(self._house, self._connection, session, folder, tasks)
                async with talk.opened(servers):
                    task_status.started(talk)
                    await talk.closed.wait()
                    tasks.cancel_scope.cancel()
        except Exception as error:
            trace()
            if talk:
                talk.turns.fail(f"planlog failed: {type(error).__name__}")
        finally:
            if talk:
                del self._talks[session.id]
                talk.ended.set()

    def _opened(self, talk: Talk, session: str | None = None) -> Opened:
        more = {"session_id": session} if session else {}
        return Opened(talk.choices.modes(), talk.choices.options(), **more)

    async def _list(self, wanted: ListSessions, asked: Asked) -> ListPage:
        folder = str(_folder(wanted.cwd)) if wanted.cwd is not None else None
        return await page_of(self._house.sessions.store, folder, wanted.cursor)

    async def _close(self, wanted: OneSession, asked: Asked) -> dict[str, Any]:
        talk = self._open(wanted.session_id)
        await self._end(talk, "user")
        return {}

    async def _delete(self, wanted: OneSession, asked: Asked) -> dict[str, Any]:
        if talk := self._talks.get(wanted.session_id):
            await self._end(talk, "user")
        if valid_id(wanted.session_id):
            with suppress(SessionUnknown):
                await self._house.refuse_running(wanted.session_id, "delete it")
            await self._house.sessions.delete(wanted.session_id)
        return {}

    async def _end(self, talk: Talk, kind: AbortKind) -> None:
        """Ends it, whether or not whoever asked for that goes on waiting."""
        self._begin_end(talk, kind)
        await talk.ended.wait()

    def _begin_end(self, talk: Talk, kind: AbortKind) -> None:
        if not talk.is_closing:
            talk.is_closing = True
            self._tasks.start_soon(self._close_talk, talk, kind)

    async def _close_talk(self, talk: Talk, kind: AbortKind) -> None:
        try:
            await talk.close(kind)
        except Exception:  # it is closed all the same
            trace()

    def _open(self, session: str) -> Talk:
        talk = self._talks.get(session)
        if talk is None or talk.is_closing:
            raise _unknown(session, "; one that was closed has to be loaded or resumed first")
        return talk

    # Turns

    async def _prompt(self, wanted: Prompt, asked: Asked) -> None:
        talk = self._open(wanted.session_id)
        text = prompt_text(wanted.prompt)
        words = command_of(text)
        command = self._house.renders.command(words[0]) if words else None
        await talk.turns.prompt(asked, words[1] if words and command else text, command)

    async def _cancel(self, wanted: OneSession) -> None:
        if talk := self._talks.get(wanted.session_id):
            await talk.turns.stop()

    # Choices

    async def _set_mode(self, wanted: SetMode, asked: Asked) -> dict[str, Any]:
        talk = self._open(wanted.session_id)
        talk.choices.choose_mode(wanted.mode_id)
        self._house.agent.tighten(talk.session, talk.choices.policy)
        self._connection.update(wanted.session_id, ConfigUpdate(talk.choices.options()))
        return {}

    async def _set_option(self, wanted: SetOption, asked: Asked) -> Options:
        talk = self._open(wanted.session_id)
        mode = talk.choices.policy
        talk.choices.choose(wanted.config_id, wanted.value)
        self._house.agent.tighten(talk.session, talk.choices.policy)
        if talk.choices.policy != mode:
            self._connection.update(wanted.session_id, ModeUpdate(talk.choices.policy))
        return Options(talk.choices.options())


def _folder(cwd: str) -> Path:
    folder = Path(cwd)
    if not folder.is_absolute() or "\0" in cwd:
        raise RpcError(INVALID_PARAMS, f"cwd has to be an absolute path, got {cwd[:200]!r}")
    return folder


def _unknown(session: str, more: str = "") -> RpcError:
    return RpcError(NOT_FOUND, f"there is no session {session[:80]!r} here{more}", {"sessionId": session[:200]})
