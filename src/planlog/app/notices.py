"""Shows what the house logs for a person: a database that has to be waited for, a plugin that stopped."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from planlog.faces.stdio.console import Console


class _Notices(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.note(record.getMessage())


@contextmanager
def shown_warnings(console: Console) -> Generator[None]:
    """Prints warnings of `planlog` as notes until the block ends."""
    logger, handler = logging.getLogger("planlog"), _Notices(console)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
