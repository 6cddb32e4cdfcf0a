"""Settles where a folder is that a person named: its whole path, of which the log and every error can speak."""

from collections.abc import Callable
from pathlib import Path

from planlog.kernel.errors import ConfigError


def settled(find: Callable[[], Path]) -> Path:
    """The path that `find` finds, which may ask for the current folder. Raises `ConfigError`.

    A name that is not UTF-8 is refused: it cannot be written into a log or a database, and no other name is the same.
    """
    try:
        path = find()
    except FileNotFoundError as error:
        raise ConfigError("the current folder is gone; go to another, or name folders by their whole paths") from error
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"{path}: the name of this folder is not UTF-8; rename it or use another one") from error
    return path
