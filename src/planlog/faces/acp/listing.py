"""The list of sessions, page by page."""

import base64

from planlog.agent.event import SESSION_TITLE
from planlog.faces.acp.codec import INVALID_PARAMS
from planlog.faces.acp.messages import ListedSession, ListPage
from planlog.faces.acp.requests import RpcError
from planlog.faces.acp.translation import iso, short
from planlog.kernel.errors import PlanlogError
from planlog.log.event import read_line
from planlog.log.store import SessionRecord, Store

PAGE = 50
"""Sessions in one page of the list."""


async def page_of(store: Store, folder: str | None, cursor: str | None) -> ListPage:
    """The page that `cursor` asks for, the first one where it is None, of all sessions or those of one folder."""
    records = await store.find("")
    if folder is not None:
        records = [record for record in records if record.cwd == folder]
    start = _start(records, cursor) if cursor is not None else 0
    page, more = records[start : start + PAGE], len(records) > start + PAGE
    listed = tuple([await _listed(store, record) for record in page])
    return ListPage(listed, _cursor(page[-1]) if more else None)


async def _listed(store: Store, record: SessionRecord) -> ListedSession:
    title = None
    try:
        if line := await store.last_of(record.id, (SESSION_TITLE.name,)):
            title = SESSION_TITLE.read(read_line(line)).title
    except PlanlogError:  # a damaged session is listed without its title, so that the others are listed
        pass
    return ListedSession(record.id, record.cwd, iso(record.updated_at), short(title) if title else None)


def _cursor(last: SessionRecord) -> str:
    return base64.urlsafe_b64encode(f"{last.updated_at}:{last.id}".encode()).decode()


def _start(records: list[SessionRecord], cursor: str) -> int:
    """Where the page begins that follows the one whose last session the cursor names."""
    try:
        updated_at, id = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode().split(":", 1)
        last = (-int(updated_at), id)
    except ValueError as error:
        raise RpcError(INVALID_PARAMS, "the cursor is none that this list has given") from error
    return sum((-record.updated_at, record.id) <= last for record in records)
