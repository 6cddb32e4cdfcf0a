"""What is found on coming to a session: who runs it, what a dead process left open, where its work is done."""

from pathlib import Path

from planlog.agent.event import TURN_START
from planlog.agent.nesting import NESTING
from planlog.faces.stdio.console import Console
from planlog.kernel.errors import ConfigError
from planlog.log.event import read_line
from planlog.log.session import Session
from planlog.log.store import Store


async def look_around(console: Console, store: Store, session: Session) -> tuple[int, bool]:
    """The seq after which to show, and whether that is in the middle of a dead turn; a note says what was found."""
    owner = await store.owner(session.id)
    if owner is not None:
        console.note(f"process {owner.pid} on {owner.host} is running this session; your prompt comes next")
        return await _before_turn(store, session), False
    interrupted = session.state(NESTING).open
    if interrupted:
        turn = session.state(NESTING).turn
        console.note(f"turn {turn} was interrupted when its process died; it is closed first")
    return session.head - 1, interrupted


async def _before_turn(store: Store, session: Session) -> int:
    """The seq before the last turn's first event, so that all of what runs now is seen."""
    line = await store.last_of(session.id, (TURN_START.name,))
    return read_line(line).seq - 1 if line else -1


def work_folder(session: Session, named: Path | None) -> Path:
    """The folder that was named, else the one where the session began. Raises `ConfigError` where it is gone."""
    folder = named or Path(session.cwd)
    if not folder.is_dir():
        raise ConfigError(f"{folder}, where session {session.id} works, is gone; name another folder with -C")
    return folder
