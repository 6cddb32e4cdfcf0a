"""What the pattern of a rule means: `git diff` is any command that begins so, `= make all` that one command alone.

What allows looks at the text and gives up early: one simple command, nothing in it that could begin another. What
forbids looks everywhere, as far as reading can tell: a fence, no wall, for whoever can run anything can run it under
another name.
"""

import re

from planlog.features.shell.reading import Unclear, simple_commands
from planlog.tools.tool import Coverage

EXACTLY = "="
"""Begins a pattern that means one command, word for word."""
LONGEST_OFFER = 200
"""Characters of a command that is offered whole."""
LONGEST = 10_000
"""Characters of a command that is read; a longer one is allowed by no rule, and forbidden where the words are in it."""

# What begins another command, a redirection, an expansion; no control character belongs into a simple command either.
_NOT_SIMPLE = re.compile("[;&|<>$`(){}\x00-\x08\x0a-\x1f\x7f]")
_NOT_PLAIN = re.compile(r"""["'\\*?\[~!]""")
_NOT_WORD = re.compile(r"""["'\\]|^.*/""")
_QUOTING = re.compile(r"""\\\n|["'\\]""")
_MORE = re.compile(r"[\s;&|(`]")
_ASSIGNMENT = re.compile(r"\w+(\[.*\])?\+?=")

_BEGINNINGS = frozenset(
    f"{program} {word}".strip()
    for program, words in {
        "basedpyright": [""],
        "cargo": ["bench", "build", "check", "clippy", "fmt", "test"],
        "git": ["blame", "describe", "diff", "log", "ls-files", "rev-parse", "shortlog", "show", "status"],
        "go": ["build", "list", "test", "vet"],
        "just": ["*"],
        "ls": [""],
        "make": ["*"],
        "mypy": [""],
        "npm": ["test", "run *"],
        "pnpm": ["test", "run *"],
        "pwd": [""],
        "pyright": [""],
        "pytest": [""],
        "python -m": ["pytest", "unittest"],
        "ruff": ["check", "format"],
        "yarn": ["test", "run *"],
    }.items()
    for word in words
)
"""What is offered instead of the whole command; "*" is one word that names a target."""
_MOST_WORDS = 3
_TARGET = re.compile(r"\w[\w:.-]*")
_INTERPRETER = re.compile(
    r"(ba|da|z|k|fi)?sh|python[\d.]*|pypy[\d.]*|perl|ruby|node|deno|bun|php|lua|Rscript|osascript"
)
_CODE = re.compile(r"-\w*[ceEpr]|--(eval|print|command)(=.*)?|eval")

_RESERVED = ("!", "{", "}", "if", "then", "elif", "else", "while", "until", "do", "coproc")
_RUNNERS = frozenset(
    {"builtin", "chroot", "command", "doas", "env", "exec", "find", "flock", "function", "ionice", "nice", "nohup"}
    | {"parallel", "setsid", "ssh", "stdbuf", "strace", "sudo", "time", "timeout", "unbuffer", "watch", "xargs"}
)
"""Run what is among their arguments."""
_READERS = frozenset(
    ["bash", "dash", "env", "eval", "fish", "ksh", "parallel", "script", "sh", "ssh", "su", "trap", "watch", "zsh"]
)
"""Read an argument as a command."""
_DEPTH = 5


def covered(pattern: str, command: str) -> Coverage:
    """How much of what `command` does is meant by `pattern`; "some" as well where that cannot be told."""
    if not pattern or _is_all(pattern, command):
        return "all"
    words = _split(pattern.removeprefix(EXACTLY)) or pattern.split()
    bare = _QUOTING.sub("", command)
    if not all(_NOT_WORD.sub("", word) in bare for word in words):
        return "none"
    if len(command) > LONGEST:
        return "some"
    try:
        return "some" if _is_within(words, command, _DEPTH) else "none"
    except Unclear:
        return "some"


def offered(command: str) -> str:
    """The pattern that a person may allow together with `command`; empty where none is sensible."""
    words = simple_words(command)
    if not words:
        return ""
    for count in range(min(len(words), _MOST_WORDS), 0, -1):
        *before, last = words[:count]
        is_target = " ".join([*before, "*"]) in _BEGINNINGS and _TARGET.fullmatch(last)
        beginning = " ".join([*before, last])
        if (is_target or beginning in _BEGINNINGS) and covered(beginning, command) == "all":
            return beginning
    if any(_INTERPRETER.fullmatch(_name(word)) for word in words) and any(map(_CODE.match, words)):
        return ""
    whole = _stripped(command)
    return f"{EXACTLY} {whole}" if len(whole) < LONGEST_OFFER else ""


def simple_words(command: str) -> list[str] | None:
    """The words of a command that is a simple one beyond doubt, else None."""
    if len(command) > LONGEST or _NOT_SIMPLE.search(_stripped(command)):
        return None
    return _split(command)


def _stripped(text: str) -> str:
    """Without what bash overlooks at the ends; it overlooks less than Python does."""
    return text.strip(" \t\n")


def _split(text: str) -> list[str] | None:
    import shlex  # only a rule pays for it

    try:
        return shlex.split(text)
    except ValueError:
        return None


def _is_all(pattern: str, command: str) -> bool:
    words, wanted = simple_words(command), simple_words(pattern)
    if not words or not wanted:
        return False
    text = _stripped(command)
    if pattern.startswith(EXACTLY):
        return text == _stripped(pattern.removeprefix(EXACTLY))
    if _NOT_PLAIN.search(pattern):
        # A quoted star and a bare one are the same word here, and not to bash.
        return text == pattern or text.startswith((f"{pattern} ", f"{pattern}\t"))
    return words[: len(wanted)] == wanted


def _is_within(wanted: list[str], command: str, depth: int) -> bool:
    """Whether a part of `command` begins with the words `wanted`."""
    if not depth:
        raise Unclear
    return any(_reaches(wanted, words, depth) for words in simple_commands(command))


def _reaches(wanted: list[str], words: list[str], depth: int) -> bool:
    start = 0
    while start < len(words) and (words[start] in _RESERVED or _ASSIGNMENT.match(words[start])):
        start += 1
    words = words[start:]
    starts = range(len(words)) if words and _name(words[0]) in _RUNNERS else range(min(1, len(words)))
    for start in starts:
        if _begins(words[start:], wanted):
            return True
        if _name(words[start]) in _READERS:
            texts = [*words[start + 1 :], " ".join(words[start + 1 :])]
            if any(_is_read(wanted, text, depth - 1) for text in texts):
                return True
    return False


def _is_read(wanted: list[str], text: str, depth: int) -> bool:
    return _is_within(wanted, text, depth) if _MORE.search(text) else bool(text) and _begins([text], wanted)


def _begins(words: list[str], wanted: list[str]) -> bool:
    """Whether `words` begin with those `wanted`, whatever options and their values stand between: `git -C x push`."""
    if not wanted or _name(wanted[0]) != _name(words[0]):
        return False
    rest, after_option = wanted[1:], False
    for word in words[1:]:
        if not rest:
            break
        if word == rest[0]:
            rest, after_option = rest[1:], False
        elif word.startswith("-"):
            after_option = True
        elif after_option:
            after_option = False
        else:
            return False
    return not rest


def _name(word: str) -> str:
    return word.rpartition("/")[2]
