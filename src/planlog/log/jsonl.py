"""A log as a file: a header line, then one event a line, split on LF bytes and nothing else.

The file's commit marker is its last `turn/end`. A line after it that is not whole JSON was torn by a crash: it is
dropped, with what follows it and a notice. Whatever else is wrong with a line is refused with the line's number.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import msgspec

from planlog.kernel.errors import PlanlogError
from planlog.log.event import KNOWN_TYPES, Event, check_envelope, read_line
from planlog.log.header import Header, read_header
from planlog.log.store import Row, SessionRecord, SessionUnknown, Store
from planlog.log.store.refusals import exists
from planlog.log.text import mend_escapes
from planlog.log.vocabulary import Rule, Vocabulary

BATCH = 500
"""Rows a commit, so that bulk work never holds the database for long."""

PACKED = frozenset({"text-chunks", "reasoning-chunks", "tool-call-chunks"})


class FileRefused(PlanlogError):
    """The file is not a log that can be taken in; the text names the line."""


class LogFile(msgspec.Struct, frozen=True):
    """A file that was read and checked whole; `notices` say what was dropped."""

    header: Header
    header_line: bytes
    events: list[Event]
    notices: list[str]


def read_file(lines: Iterable[bytes], words: Vocabulary) -> LogFile:
    """Reads and checks a log. `lines` are split on LF, with or without it at their end. Raises `FileRefused`."""
    numbered = enumerate((line.removesuffix(b"\n") for line in lines), start=1)
    _, header_line = next(numbered, (1, b""))
    try:
        header = read_header(header_line)
    except PlanlogError as error:
        raise FileRefused(f"line 1: {error}") from error
    events: list[Event] = []
    notices: list[str] = []
    check = _Checker(words)
    for number, line in numbered:
        mended = mend_escapes(line)
        if mended != line:
            notices.append(f"line {number} held half a character (a lone surrogate); it is U+FFFD now")
        try:
            event = check(mended, len(events))
        except PlanlogError as error:
            if _whole(mended) or _commits_later(numbered):
                raise FileRefused(f"line {number}: {error}") from error
            notices.append(f"line {number} and what follows it was torn by a crash and is left out: {error}")
            break
        if event is not None:
            events.append(event)
        elif number > 1:
            notices.append(f"line {number} is blank and is left out")
    return LogFile(header, header_line, events, notices)


async def take_in(file: LogFile, store: Store) -> str:
    """Writes a file's log to the store, byte for byte, as the session that its header names; returns its id.

    All or nothing, though in many commits: the session has a hidden id until it is whole, and what an attempt that was
    cut short has left is removed by the next one.
    """
    header, hidden = file.header, f".{file.header.id}"
    if any(record.id == header.id for record in await store.find(header.id)):
        raise exists(header.id)
    await _remove_leftover(hidden, store)
    await store.create(SessionRecord(hidden, header.created_at, header.cwd, file.header_line, 0, header.created_at))
    lease = await store.acquire(hidden)
    try:
        rows = [Row(event.seq, event.type, event.time, event.line) for event in file.events]
        for start in range(0, len(rows), BATCH):
            await store.append(hidden, rows[start : start + BATCH], lease=lease)
        await store.rename(hidden, header.id)
    finally:
        await lease.release()
    return header.id


async def _remove_leftover(hidden: str, store: Store) -> None:
    try:
        lease = await store.acquire(hidden)
    except SessionUnknown:
        return
    try:
        await store.delete(hidden)
    finally:
        await lease.release()


async def write_file(session: str, store: Store) -> AsyncIterator[bytes]:
    """The lines of a session's file, each with its LF, as they were taken in or written."""
    yield (await store.record(session)).header + b"\n"
    start = 0
    while page := await store.read(session, start):
        for line in page:
            yield line + b"\n"
        start += len(page)


class _Checker:
    """Checks line after line as one log."""

    def __init__(self, words: Vocabulary) -> None:
        self._words = words
        self._states: dict[Rule[Any], Any] = {rule: rule.begin(None) for rule in words.rules()}

    def __call__(self, line: bytes, seq: int) -> Event | None:
        """The event of `line`, or None for an empty line. Raises `PlanlogError`."""
        if not line:
            return None
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise FileRefused(f"not UTF-8: {error.reason} at byte {error.start}") from error
        if (packed := _packed(line)) is not None:
            raise FileRefused(f'packed rows ("{packed}") cannot be read; export the log without packing')
        event = read_line(line)
        if event.seq != seq:
            raise FileRefused(f"seq {event.seq} where {seq} was due")
        check_envelope(event)
        event_type = self._words.get(event.type)
        if event_type is not None:
            event_type.check(event)
        elif event.type not in KNOWN_TYPES and not event.ignorable:
            raise FileRefused(f'"{event.type}" was written by a newer program; update planlog to read it')
        self._states = {rule: rule.advance(state, event, event_type) for rule, state in self._states.items()}
        return event


class _Kind(msgspec.Struct):
    type: str = ""


def _whole(line: bytes) -> bool:
    """Whether a line is JSON, so that no crash has torn it."""
    try:
        msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return False
    return True


_kinds: Callable[[bytes], _Kind] = msgspec.json.Decoder(_Kind).decode


def _packed(line: bytes) -> str | None:
    try:
        kind = _kinds(line).type
    except (msgspec.MsgspecError, RecursionError):
        return None
    return kind if kind in PACKED else None


def _commits_later(rest: Iterator[tuple[int, bytes]]) -> bool:
    for _, line in rest:
        try:
            if _kinds(line).type == "turn/end":
                return True
        except (msgspec.MsgspecError, RecursionError):
            continue
    return False
