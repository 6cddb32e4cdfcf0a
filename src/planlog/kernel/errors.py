"""The one kind of failure that is meant for a person's eyes."""


class PlanlogError(Exception):
    """A failure that someone can act on: its text is one line that says what happened and what to do."""


class ConfigError(PlanlogError):
    """What was asked for cannot be composed or does not exist; a program ends with status 2."""


def first_leaf(error: BaseException) -> BaseException:
    """The error itself; of a group, the first that is in it, however deep."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def one_line(error: BaseException) -> str:
    """An error's reason for a person: ours as it is, others with their class, groups as their first leaf."""
    error = first_leaf(error)
    first = next(iter(str(error).splitlines()), "")
    if isinstance(error, PlanlogError):
        return first
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
