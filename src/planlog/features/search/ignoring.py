"""Reads what git ignores: `.gitignore` of each folder and `.git/info/exclude`. Runs in the engine without ripgrep.

Not by asking git: to list files it can start a program that the repository's own configuration names.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

_LONGEST = 1 << 20
"""Bytes of a file of rules that are read."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a `.gitignore`, about paths relative to the folder of the file."""

    means: "re.Pattern[str]"
    folders_only: bool
    ignores: bool


Rules = tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Ignoring:
    """The rules that hold in a folder: those of each folder up to the root of the repository, the nearest first.

    Each comes with the path, from that folder to here, that it is about. Empty outside of a repository.
    """

    in_git: bool = False
    layers: tuple[tuple[str, Rules], ...] = ()
    exclude: tuple[str, Rules] = ("", ())

    def ignores(self, name: str, is_folder: bool) -> bool:
        """Whether git ignores `name` in this folder. The last rule of the nearest file that means it decides."""
        for above, rules in (*self.layers, self.exclude):
            path = f"{above}{name}"
            for rule in reversed(rules):
                if (is_folder or not rule.folders_only) and rule.means.fullmatch(path):
                    return rule.ignores
        return False

    def below(self, name: str, folder: str) -> "Ignoring":
        """What holds in the folder `name` of this one, which is at `folder`."""
        if os.path.lexists(os.path.join(folder, ".git")):
            return _repository(folder)
        if not self.in_git:
            return self
        layers = tuple((f"{above}{name}/", rules) for above, rules in self.layers)
        own = read_rules(os.path.join(folder, ".gitignore"))
        above, rules = self.exclude
        return Ignoring(True, (("", own), *layers) if own else layers, (f"{above}{name}/", rules))


def ignoring_at(folder: str) -> Ignoring:
    """What holds in `folder`, an absolute path, by itself and by what is above it."""
    names: list[str] = []
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent, name = os.path.split(folder)
        if parent == folder:
            return Ignoring()
        names.append(name)
        folder = parent
    found = _repository(folder)
    for name in reversed(names):
        folder = os.path.join(folder, name)
        found = found.below(name, folder)
    return found


def _repository(folder: str) -> Ignoring:
    own = read_rules(os.path.join(folder, ".gitignore"))
    exclude = read_rules(os.path.join(folder, ".git", "info", "exclude"))
    return Ignoring(True, (("", own),) if own else (), ("", exclude))


def read_rules(path: str) -> Rules:
    """The rules of the file at `path`; none where there is no such file."""
    data = b""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            data = os.read(descriptor, _LONGEST)
        except BlockingIOError:  # a FIFO with a writer that says nothing
            pass
        finally:
            os.close(descriptor)
    return tuple(parse_rules(os.fsdecode(data).removeprefix("\ufeff").split("\n")))


def parse_rules(lines: Iterable[str]) -> Iterable[Rule]:
    """The rules of these lines. One that is no pattern means nothing."""
    for line in lines:
        text = re.sub(r"(?<!\\)[ \t\r]+$", "", line)
        if not text or text.startswith("#"):
            continue
        ignores = not text.startswith("!")
        text = text if ignores else text[1:]
        folders_only = text.endswith("/")
        text = text.removesuffix("/")
        if text:
            with suppress(re.error):
                yield Rule(re.compile(_translate(text), re.DOTALL), folders_only, ignores)


_TOKEN = re.compile(r"\\(?P<escaped>.)|(?P<stars>\*+)|(?P<any>\?)|\[(?P<set>[!^]?\]?[^\]]*)\]|(?P<plain>.)", re.DOTALL)


def _translate(glob: str) -> str:
    """The regular expression of a pattern: `*`, `?` and `[…]` stay in one name, a whole `**` crosses folders."""
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    regex = "" if anchored else "(?:.*/)?"
    parts = glob.split("/")
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        if part == "**":
            regex += ".*" if is_last else "(?:.*/)?"
        else:
            regex += "".join(map(_token, _TOKEN.finditer(part))) + ("" if is_last else "/")
    return regex


def _token(match: "re.Match[str]") -> str:
    if match["stars"]:
        return "[^/]*"
    if match["any"]:
        return "[^/]"
    if match["set"] is not None:
        inner = match["set"]
        negated = inner[:1] in ("!", "^")
        inner = inner[1:] if negated else inner
        inner = re.sub(r"[\\\[\]&~|^]", r"\\\g<0>", inner)
        return f"(?!/)[{'^' if negated else ''}{inner}]"
    return re.escape(match["escaped"] or match["plain"])
