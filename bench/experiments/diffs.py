"""How often a diff of ours is git's: random edits of the files of this repository, both ways.

python -m bench.experiments.diffs [EDITS] [SEED]
"""

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from planlog.features.files.diff import changes

ROOT = Path(__file__).parents[2]


def edits(lines: list[str], chance: random.Random) -> list[str]:
    """The lines after one to four edits of the kinds that people make."""
    kinds: list[Callable[[list[str], random.Random], list[str]]] = [_insert, _delete, _replace, _move, _copy, _indent]
    for _ in range(chance.randint(1, 4)):
        lines = chance.choice(kinds)(lines, chance)
    return lines


def _block(lines: list[str], chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(lines) + 1)
    return start, min(len(lines), start + chance.randint(1, 12))


def _insert(lines: list[str], chance: random.Random) -> list[str]:
    start = chance.randrange(len(lines) + 1)
    fresh = [f"{' ' * chance.choice((0, 4, 8))}line {chance.random()}" for _ in range(chance.randint(1, 6))]
    return [*lines[:start], *fresh, *chance.choice(([], [""])), *lines[start:]]


def _delete(lines: list[str], chance: random.Random) -> list[str]:
    start, end = _block(lines, chance)
    return lines[:start] + lines[end:]


def _replace(lines: list[str], chance: random.Random) -> list[str]:
    start, end = _block(lines, chance)
    return [*lines[:start], *(f"{line}  # {chance.randint(0, 9)}" for line in lines[start:end]), *lines[end:]]


def _move(lines: list[str], chance: random.Random) -> list[str]:
    start, end = _block(lines, chance)
    block, rest = lines[start:end], lines[:start] + lines[end:]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + block + rest[at:]


def _copy(lines: list[str], chance: random.Random) -> list[str]:
    start, end = _block(lines, chance)
    at = chance.randrange(len(lines) + 1)
    return lines[:at] + lines[start:end] + lines[at:]


def _indent(lines: list[str], chance: random.Random) -> list[str]:
    start, end = _block(lines, chance)
    return [*lines[:start], *(f"    {line}" if line else line for line in lines[start:end]), *lines[end:]]


def git_diff(folder: Path, before: str, after: str) -> str:
    """What git prints for the two texts, without the lines that name blobs."""
    for side, text in (("a", before), ("b", after)):
        (folder / side).mkdir(exist_ok=True)
        (folder / side / "file").write_text(text, newline="")
    command = ["git", "diff", "--no-index", "--no-color", "--no-prefix", "a/file", "b/file"]
    printed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    return "".join(line for line in printed.splitlines(keepends=True)[2:])


def main() -> None:
    """Prints the share of diffs that are the same, and the first that are not."""
    count, seed = (int(word) for word in (*sys.argv[1:], "1000", "1")[:2])
    chance = random.Random(seed)
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    texts = [(ROOT / name).read_text() for name in names if name.endswith((".py", ".md", ".toml"))]
    texts = [text for text in texts if text.strip()]
    same = shown = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            before = chance.choice(texts)
            after = "\n".join(edits(before.split("\n"), chance))
            ours, gits = changes("file", before, after).text, git_diff(Path(folder), before, after)
            same += ours == gits
            if ours != gits and shown < 3:
                shown += 1
                print(f"--- {number}: ours\n{ours}--- git\n{gits}")
    print(f"{same} of {count} diffs are git's, {same / count:.1%}")


if __name__ == "__main__":
    main()
