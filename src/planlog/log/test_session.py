"""A session's log: what is appended is durable before it is seen, seen by all, and refused whole or not at all."""

import copy
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planlog.log.event import Event, Violation
from planlog.log.projection import Projection
from planlog.log.session import LeaseMissing, Session, SessionRefused
from planlog.log.sessions import Sessions
from planlog.log.store import (
    Command,
    LeaseLost,
    Row,
    SessionBusy,
    SessionRecord,
    SessionUnknown,
    StoreFull,
    StoreLocked,
)
from planlog.log.store.memory import MemoryStore
from planlog.log.vocabulary import EventType, Rule, Vocabulary


class Note(msgspec.Struct):
    text: str


class Mark(msgspec.Struct):
    turn: int


NOTE = EventType("test/note", Note, feature="test", check=lambda note: None if note.text else "a note says something")
START = EventType("turn/start", Mark, feature="test")


def _no_repeats(state: frozenset[str], event: Event, event_type: EventType[Any] | None) -> frozenset[str]:
    if event.type != "test/note":
        return state
    text = NOTE.read(event).text
    if text in state:
        raise Violation("test", f"{text} said twice")
    return state | {text}


NO_REPEATS: Rule[frozenset[str]] = Rule("no-repeats", begin=lambda first: frozenset(), advance=_no_repeats)
COUNT: Projection[int] = Projection("count", 0, lambda n, event: n + 1)
NOTES: Projection[tuple[str, ...]] = Projection(
    "notes",
    (),
    lambda notes, event: (*notes, NOTE.read(event).text) if event.type == "test/note" else notes,
    types={"test/note"},
)
LAST: Projection[str | None] = Projection(
    "last",
    None,
    lambda last, event: NOTE.read(event).text if event.type == "test/note" else None,
    last_of=("test/note", "turn/start"),
)


@asynccontextmanager
async def opened(store: MemoryStore | None = None) -> AsyncGenerator[tuple[Sessions, Session]]:
    words = Vocabulary()
    with words.learn(NOTE, START, rules=(NO_REPEATS,)):
        sessions = Sessions(store or MemoryStore(), words, clock=lambda: 1000)
        yield sessions, await sessions.create(Path("/work"))


async def test_events_are_numbered_from_zero_without_a_gap() -> None:
    async with opened() as (_, session), session.lease():
        first = await session.append(NOTE.fact(Note("a")), NOTE.fact(Note("b")))
        second = await session.append(NOTE.fact(Note("c")))
        assert [event.seq for event in (*first, *second)] == [0, 1, 2]
        assert session.head == 3


async def test_an_append_without_the_lease_is_a_programming_error() -> None:
    async with opened() as (_, session):
        with pytest.raises(LeaseMissing):
            await session.append(NOTE.fact(Note("a")))


async def test_one_broken_rule_refuses_the_whole_append_and_moves_nothing() -> None:
    async with opened() as (_, session), session.lease():
        await session.append(NOTE.fact(Note("a")))
        with pytest.raises(Violation, match="a said twice"):
            await session.append(NOTE.fact(Note("b")), NOTE.fact(Note("a")))
        assert session.head == 1
        assert await session.view(NOTES) == ("a",)
        await session.append(NOTE.fact(Note("b")))
        assert await session.view(NOTES) == ("a", "b")


class FullOnce(MemoryStore):
    """A store whose disk is full for one append."""

    full = True

    async def append(self, session: str, rows: Any, *, lease: Any, claims: Any = ()) -> None:
        if self.full:
            self.full = False
            raise StoreFull("cannot save: no space left on device")
        await super().append(session, rows, lease=lease, claims=claims)


async def test_what_the_store_could_not_keep_is_not_seen_and_the_session_goes_on() -> None:
    async with opened(FullOnce()) as (_, session), session.lease():
        assert await session.view(NOTES) == ()
        with pytest.raises(StoreFull):
            await session.append(NOTE.fact(Note("a")))
        assert (session.head, await session.view(NOTES)) == (0, ())
        await session.append(NOTE.fact(Note("a")))
        assert (session.head, await session.view(NOTES)) == (1, ("a",))


async def test_views_keep_their_reference_when_an_event_means_nothing_to_them() -> None:
    async with opened() as (_, session), session.lease():
        await session.append(NOTE.fact(Note("a")))
        before = await session.view(NOTES)
        await session.append(START.fact(Mark(1)))
        assert await session.view(NOTES) is before
        assert await session.view(COUNT) == 2


async def test_a_last_of_view_follows_from_the_last_event_of_its_types() -> None:
    async with opened() as (_, session), session.lease():
        assert await session.view(LAST) is None
        await session.append(NOTE.fact(Note("a")), NOTE.fact(Note("b")))
        fresh = copy.copy(LAST)
        assert await session.view(LAST) == await session.view(fresh) == "b"
        await session.append(START.fact(Mark(1)))
        assert await session.view(LAST) is None
        assert await session.view(copy.copy(LAST)) is None


async def test_a_follower_gets_everything_once_from_where_it_asked() -> None:
    async with opened() as (_, session), session.lease():
        await session.append(*(NOTE.fact(Note(str(n))) for n in range(5)))
        seen: list[int] = []
        async with anyio.create_task_group() as tasks:

            async def follow() -> None:
                async for batch in session.follow(after=1):
                    seen.extend(event.seq for event in batch)
                    if seen[-1] == 8:
                        tasks.cancel_scope.cancel()

            tasks.start_soon(follow)
            for n in range(5, 9):
                await session.append(NOTE.fact(Note(str(n))))
                await anyio.lowlevel.checkpoint()
        assert seen == [2, 3, 4, 5, 6, 7, 8]


async def test_a_follower_that_fell_far_behind_reads_the_store() -> None:
    async with opened() as (_, session), session.lease():
        for start in range(0, 3000, 500):
            await session.append(*(NOTE.fact(Note(str(n))) for n in range(start, start + 500)))
        seen: list[int] = []
        async for batch in session.follow():
            seen.extend(event.seq for event in batch)
            if seen[-1] == 2999:
                break
        assert seen == list(range(3000))


async def test_two_programs_on_one_store_see_the_same() -> None:
    async with opened() as (sessions, mine):
        words = Vocabulary()
        with words.learn(NOTE, START, rules=(NO_REPEATS,)):
            theirs = await Sessions(sessions.store, words).open(mine.id)
            async with theirs.lease():
                with pytest.raises(SessionBusy):
                    async with mine.lease():
                        pass
                await theirs.append(NOTE.fact(Note("a")))
            async with mine.lease():
                await mine.append(NOTE.fact(Note("b")))
            await theirs.refresh()
            assert await theirs.view(NOTES) == await mine.view(NOTES) == ("a", "b")


async def test_a_waiter_hears_of_another_programs_commit() -> None:
    async with opened() as (sessions, mine):
        words = Vocabulary()
        with words.learn(NOTE, START):
            theirs = await Sessions(sessions.store, words).open(mine.id)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sessions.watch)
                news = mine.news
                async with theirs.lease():
                    await theirs.append(NOTE.fact(Note("a")))
                await mine.changed(news)
                assert mine.head == 1
                news = mine.news
                await theirs.send(Command("c1", "prompt", b"{}", 0))
                await mine.changed(news)
                assert [command.id for command in await mine.commands()] == ["c1"]
                tasks.cancel_scope.cancel()


async def test_a_first_look_counts_nothing_twice_that_another_program_wrote() -> None:
    async with opened() as (sessions, mine):
        words = Vocabulary()
        with words.learn(NOTE, START, rules=(NO_REPEATS,)):
            theirs = await Sessions(sessions.store, words).open(mine.id)
            async with theirs.lease():
                await theirs.append(NOTE.fact(Note("a")), NOTE.fact(Note("b")))
            assert (await mine.view(COUNT), await mine.view(NOTES)) == (2, ("a", "b"))
            await mine.refresh()
            assert (await mine.view(COUNT), await mine.view(NOTES)) == (2, ("a", "b"))


async def test_a_session_that_nobody_watched_before_hears_of_what_it_missed() -> None:
    async with opened() as (sessions, watched):
        quiet = await sessions.create(Path("/work"))
        words = Vocabulary()
        with words.learn(NOTE, START):
            theirs = await Sessions(sessions.store, words).open(quiet.id)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sessions.watch)
                with anyio.move_on_after(0.1):
                    await watched.changed(watched.news)
                async with theirs.lease():
                    await theirs.append(NOTE.fact(Note("a")))
                with anyio.move_on_after(0.1):
                    await watched.changed(watched.news)
                with anyio.fail_after(5):
                    async for batch in quiet.follow():
                        assert [event.seq for event in batch] == [0]
                        break
                tasks.cancel_scope.cancel()


async def test_one_damaged_session_is_told_to_who_follows_it_and_to_nobody_else() -> None:
    async with opened() as (sessions, good):
        bad = await sessions.create(Path("/work"))
        line = b'{"type":"test/note","seq":0,"time":0,"data":{"text":""},"ignorable":true}'
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sessions.watch)
            lease = await sessions.store.acquire(bad.id)
            await sessions.store.append(bad.id, [Row(0, "test/note", 0, line)], lease=lease)
            with anyio.fail_after(5), pytest.raises(SessionRefused, match=f"session {bad.id} is damaged"):
                async for _ in bad.follow():
                    pytest.fail("there is nothing to follow")
            theirs = await sessions.store.acquire(good.id)
            news = good.news
            fact = NOTE.fact(Note("a")).placed(0, 0)
            await sessions.store.append(good.id, [Row(0, fact.type, 0, fact.line)], lease=theirs)
            with anyio.fail_after(5):
                await good.changed(news)
            assert good.head == 1
            tasks.cancel_scope.cancel()


async def test_a_fault_that_has_passed_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a database that somebody has kept locked for too long."""
    async with opened() as (sessions, session):
        async with session.lease():
            await session.append(NOTE.fact(Note("a")))

        async def locked(*wanted: object, **more: object) -> list[bytes]:
            raise StoreLocked("the database is locked")

        with monkeypatch.context() as fault:
            fault.setattr(sessions.store, "read", locked)
            await session.look()
        with anyio.fail_after(5):
            async for batch in session.follow():
                assert [event.seq for event in batch] == [0]
                break


async def test_a_newer_programs_event_that_comes_later_is_refused_too() -> None:
    async with opened() as (sessions, session):
        lease = await sessions.store.acquire(session.id)
        line = b'{"type":"future/thing","seq":0,"time":0,"data":{}}'
        await sessions.store.append(session.id, [Row(0, "future/thing", 0, line)], lease=lease)
        with pytest.raises(SessionRefused, match="which a newer program wrote"):
            await session.refresh()


async def test_a_fold_that_fails_is_folded_again_and_takes_nobody_with_it() -> None:
    broken = [True]

    def fails(state: int, event: Event) -> int:
        if broken[0] and event.seq == 1:
            raise RuntimeError("a bug in a fold")
        return state + 1

    projection = Projection("fails", 0, fails)
    async with opened() as (_, session), session.lease():
        await session.append(NOTE.fact(Note("a")))
        assert (await session.view(projection), await session.view(COUNT)) == (1, 1)
        await session.append(NOTE.fact(Note("b")))
        assert await session.view(COUNT) == 2
        broken[0] = False
        assert await session.view(projection) == 2


async def test_a_writer_that_was_overtaken_is_told_so() -> None:
    async with opened() as (sessions, session), session.lease() as lease:
        await session.append(START.fact(Mark(1)))
        await lease.release()
        theirs = await sessions.store.acquire(session.id)
        line = START.fact(Mark(2)).placed(1, 0).line
        await sessions.store.append(session.id, [Row(1, "turn/start", 0, line)], lease=theirs)
        await session.refresh()
        with pytest.raises(LeaseLost, match=f"session {session.id} was taken over by another process"):
            await session.append(NOTE.fact(Note("a")))


class Cancels(MemoryStore):
    """A store that cancels the task it writes for, in the middle of the write."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = anyio.CancelScope()

    async def append(self, session: str, rows: Any, *, lease: Any, claims: Any = ()) -> None:
        self.scope.cancel()
        await super().append(session, rows, lease=lease, claims=claims)


async def test_an_append_that_is_cancelled_half_way_is_known_to_have_happened() -> None:
    store = Cancels()
    async with opened(store) as (_, session), session.lease():
        with store.scope:
            await session.append(NOTE.fact(Note("a")))
            await anyio.lowlevel.checkpoint()
            pytest.fail("the cancellation was lost")
        assert (session.head, await session.view(NOTES)) == (1, ("a",))


async def test_an_append_that_is_cancelled_before_it_begins_has_not_happened() -> None:
    async with opened() as (_, session), session.lease():
        with anyio.CancelScope() as scope:
            scope.cancel()
            await session.append(NOTE.fact(Note("a")))
        assert (session.head, await session.view(NOTES)) == (0, ())


async def test_a_log_that_a_newer_program_wrote_is_refused_and_an_ignorable_name_is_not() -> None:
    async with opened() as (sessions, session):
        lease = await sessions.store.acquire(session.id)
        new = b'{"type":"future/thing","seq":%d,"time":0,"data":{}%b}'
        await sessions.store.append(
            session.id, [Row(0, "future/thing", 0, new % (0, b',"ignorable":true'))], lease=lease
        )
        words = Vocabulary()
        assert (await Sessions(sessions.store, words).open(session.id)).head == 1
        await sessions.store.append(session.id, [Row(1, "future/thing", 0, new % (1, b""))], lease=lease)
        with pytest.raises(SessionRefused, match='"future/thing" \\(seq 1\\), which a newer program wrote'):
            await Sessions(sessions.store, words).open(session.id)


async def test_a_known_name_whose_feature_is_absent_refuses_nothing() -> None:
    async with opened() as (sessions, session):
        lease = await sessions.store.acquire(session.id)
        row = Row(0, "todo/write", 0, b'{"type":"todo/write","seq":0,"time":0,"data":{"todos":"odd"}}')
        await sessions.store.append(session.id, [row], lease=lease)
        await lease.release()
        await session.refresh()
        assert (await session.read())[0].line == row.line


async def test_damage_is_refused_with_its_place() -> None:
    async with opened() as (sessions, session):
        lease = await sessions.store.acquire(session.id)
        bad = b'{"type":"test/note","seq":0,"time":0,"data":{"text":""},"ignorable":true}'
        await sessions.store.append(session.id, [Row(0, "test/note", 0, bad)], lease=lease)
        with pytest.raises(SessionRefused, match="damaged at seq 0"):
            await session.read()


async def test_a_log_that_breaks_a_rule_is_refused_with_its_session() -> None:
    async with opened() as (sessions, session):
        lease = await sessions.store.acquire(session.id)
        line = b'{"type":"test/note","seq":%d,"time":0,"data":{"text":"a"},"ignorable":true}'
        await sessions.store.append(session.id, [Row(n, "test/note", 0, line % n) for n in (0, 1)], lease=lease)
        with pytest.raises(SessionRefused, match=f"session {session.id} is damaged: .* a said twice"):
            await session.refresh()


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a" * 200, "a/b", "a\0b", "nosuchsession"])
async def test_an_id_that_is_none_is_refused_before_storage_is_touched(name: str) -> None:
    async with opened() as (sessions, _):
        with pytest.raises(SessionUnknown):
            await sessions.open(name)


async def test_a_session_is_found_by_the_start_of_its_id() -> None:
    store = MemoryStore()
    for name in ("abc1", "abc2", "abd"):
        await store.create(SessionRecord(name, 0, "/", b"{}", 0, 0))
    sessions = Sessions(store, Vocabulary())
    assert (await sessions.find("abd")).id == "abd"
    assert (await sessions.find("abc1")).id == "abc1"
    with pytest.raises(Exception, match='2 sessions start with "abc"'):
        await sessions.find("abc")
    with pytest.raises(Exception, match="no session starts with"):
        await sessions.find("x")


def _log(kinds: list[bool]) -> list[Event]:
    facts = [NOTE.fact(Note(str(n))) if note else START.fact(Mark(n)) for n, note in enumerate(kinds)]
    return [fact.placed(seq, 0) for seq, fact in enumerate(facts)]


@given(st.lists(st.booleans(), max_size=30), st.data())
def test_folding_from_any_cut_equals_folding_from_the_start(kinds: list[bool], data: st.DataObject) -> None:
    events = _log(kinds)
    cut = data.draw(st.integers(0, len(events)))
    projections: list[Projection[Any]] = [COUNT, NOTES, LAST]
    for projection in projections:
        half = projection.fold(events[:cut])
        assert projection.go_on(half, events[cut:]) == projection.fold(events)
