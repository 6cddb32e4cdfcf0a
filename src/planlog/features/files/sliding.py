"""Puts changes where a reader expects them: of equal diffs, the one whose changed lines are a whole block.

A removed or added run of lines can often be moved up or down without changing what the diff does: when a function is
added, its closing lines may be those of the one before it. The rules, their order and their weights are those of
`git diff` (its indent heuristic, on by default since git 2.14), so that both print the same.
"""

from collections.abc import Sequence

MOST_SLID = 100
MOST_INDENT = 200
MOST_BLANK = 20
"""Bounds of what is looked at: lines that a run is moved, columns of an indent, blank lines in a row."""


def slide(lines: Sequence[str], changed: bytearray, other: bytearray) -> None:
    """Moves the runs of `changed` lines in place; `other` are those of the other text, which stay where they are."""
    run, opposite = _Run(lines, changed), _Run((), other)
    while True:
        if run.end > run.start:
            _settle(run, opposite)
        if not run.next():
            return
        opposite.next()


class _Run:
    """Changed lines from `start` to `end`, perhaps none, between two lines that stay.

    As many lines stay in one text as in the other, so the n-th run of one has its opposite in the other.
    """

    def __init__(self, lines: Sequence[str], changed: bytearray) -> None:
        self.lines = lines
        self.changed = changed
        self.start = self.end = 0
        self._grow_down()

    def _grow_down(self) -> None:
        while self.end < len(self.changed) and self.changed[self.end]:
            self.end += 1

    def _grow_up(self) -> None:
        while self.start and self.changed[self.start - 1]:
            self.start -= 1

    def next(self) -> bool:
        """Goes on to the next run; False where this is the last."""
        if self.end == len(self.changed):
            return False
        self.start = self.end = self.end + 1
        self._grow_down()
        return True

    def previous(self) -> None:
        """Goes back to the one before."""
        self.start = self.end = self.start - 1
        self._grow_up()

    def up(self) -> bool:
        """Moves the run by a line, and joins it with one that it meets; False where the lines do not allow it."""
        if not self.start or self.lines[self.start - 1] != self.lines[self.end - 1]:
            return False
        self.start -= 1
        self.end -= 1
        self.changed[self.start], self.changed[self.end] = 1, 0
        self._grow_up()
        return True

    def down(self) -> bool:
        """The same, down."""
        if self.end == len(self.changed) or self.lines[self.start] != self.lines[self.end]:
            return False
        self.changed[self.start], self.changed[self.end] = 0, 1
        self.start += 1
        self.end += 1
        self._grow_down()
        return True


def _settle(run: _Run, opposite: _Run) -> None:
    while True:
        size = run.end - run.start
        while run.up():
            opposite.previous()
        highest = run.end
        meets = run.end if opposite.end > opposite.start else None
        while run.down():
            opposite.next()
            if opposite.end > opposite.start:
                meets = run.end
        if run.end - run.start == size:
            break
    if run.end == highest:
        return
    if meets is not None:  # side by side with a run of the other text, it is a change of lines
        while opposite.end == opposite.start:
            run.up()
            opposite.previous()
        return
    best = _best_end(run.lines, max(highest, run.end - size - 1, run.end - MOST_SLID), run.end, size)
    while run.end > best:
        run.up()
        opposite.previous()


def _best_end(lines: Sequence[str], first: int, last: int, size: int) -> int:
    best, best_score = first, None
    for end in range(first, last + 1):
        (indent, penalty), (other_indent, other_penalty) = _split(lines, end), _split(lines, end - size)
        score = (indent + other_indent, penalty + other_penalty)
        if best_score is None or _compared(score, best_score) <= 0:
            best, best_score = end, score
    return best


def _compared(one: tuple[int, int], other: tuple[int, int]) -> int:
    indents = (one[0] > other[0]) - (one[0] < other[0])
    return 60 * indents + one[1] - other[1]


def _split(lines: Sequence[str], at: int) -> tuple[int, int]:
    """How deep the text is at a cut before line `at`, and how badly a reader takes the cut."""
    is_end = at >= len(lines)
    indent = -1 if is_end else _indent(lines[at])
    before, blanks_before = _nearest(lines, range(at - 1, -1, -1))
    after, blanks_after = _nearest(lines, range(at + 1, len(lines)))
    penalty = 1 if before == -1 and not blanks_before else 0
    penalty += 21 if is_end else 0
    following = 1 + blanks_after if indent == -1 else 0
    blanks = blanks_before + following
    penalty += 6 * following - 30 * blanks
    if indent == -1:
        indent = after
    if indent != -1 and before != -1 and indent != before:
        if indent > before:
            penalty += 10 if blanks else -4
        elif after != -1 and after > indent:
            penalty += 17 if blanks else 24
        else:
            penalty += 17 if blanks else 23
    return indent, penalty


def _nearest(lines: Sequence[str], places: range) -> tuple[int, int]:
    """The indent of the nearest line that is not blank, -1 where there is none, and how many blank ones come before."""
    for count, at in enumerate(places):
        indent = _indent(lines[at])
        if indent != -1:
            return indent, count
        if count + 1 == MOST_BLANK:
            return 0, MOST_BLANK
    return -1, len(places)


def _indent(line: str) -> int:
    """Columns before the first character that is no white space; -1 for a blank line."""
    columns = 0
    for character in line:
        if character == " ":
            columns += 1
        elif character == "\t":
            columns += 8 - columns % 8
        elif character not in "\n\r\v\f":
            return columns
        if columns >= MOST_INDENT:
            return MOST_INDENT
    return -1
