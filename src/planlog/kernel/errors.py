"""The one kind of failure that is meant for a person's eyes."""


class PlanlogError(Exception):
    """A failure that someone can act on: its text is one line that says what happened and what to do."""


class ConfigError(PlanlogError):
    """What was asked for cannot be composed or does not exist; a program ends with status 2."""
