"""Opens the model that a person names: `script:FILE`, or `provider:model`."""

from pathlib import Path

from planlog.kernel.errors import ConfigError
from planlog.model.model import Model

CHOICES = "script:FILE, a file of scripted replies"


def open_model(text: str | None) -> Model:
    """A new instance for one session. Raises `ConfigError`, one line that says what is possible."""
    if text is None:
        raise ConfigError(f"no model is chosen; name one with -m: {CHOICES}")
    kind, colon, name = text.partition(":")
    if not colon or not kind or not name:
        raise ConfigError(f'"{text}" names no model; a model is provider:model. Possible now: {CHOICES}')
    if kind != "script":
        raise ConfigError(f'there is no provider "{kind}". Possible now: {CHOICES}')
    from planlog.model.scripted import open_script

    return open_script(Path(name))
