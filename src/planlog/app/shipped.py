"""Finds the composition that a program is made of: one that ships, or a file."""

from importlib.util import find_spec
from pathlib import Path

from msgspec.structs import replace

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
        return without_absent(read_composition(shipped))
    if not name.endswith(".toml"):
        choices = ", ".join(shipped_names())
        raise ConfigError(f'there is no composition "{name}"; shipped: {choices}; or name a file that ends in .toml')
    return read_composition(Path(name))


def without_absent(composition: Composition) -> Composition:
    """The composition without the rows whose folder is not there.

    What ships is what lies in the package: whoever takes a feature's folder away has taken the feature away. In a file
    of one's own such a row is a mistake, and refused when it is mounted.
    """
    return replace(composition, rows=tuple(row for row in composition.rows if _is_there(row.use)))


def _is_there(package: str) -> bool:
    spec = find_spec(package)
    # A folder that holds no module, perhaps only what Python cached of former ones, is a package without an origin.
    return spec is not None and spec.origin is not None
