"""Finds the composition that a program is made of: one that ships, or a file."""

from pathlib import Path

from planlog.kernel.composition import Composition, read_composition
from planlog.kernel.errors import ConfigError

SHIPPED = Path(__file__).parent / "compositions"


def shipped_names() -> list[str]:
    """The names of those that come with the program."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def find_composition(name: str) -> Composition:
    """A shipped composition by its name, or the file of that path; `ConfigError` for neither."""
    shipped = SHIPPED / f"{name}.toml"
    if name.isidentifier() and shipped.exists():
        return read_composition(shipped)
    if not name.endswith(".toml"):
        choices = ", ".join(shipped_names())
        raise ConfigError(f'there is no composition "{name}"; shipped: {choices}; or name a file that ends in .toml')
    return read_composition(Path(name))
