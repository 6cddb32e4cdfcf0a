"""Finds which lines of two texts stay: a shortest edit script in linear space (Myers 1986, part 4b), as git has it."""

from collections.abc import Sequence

STEPS = 1_000_000
"""Steps of a comparison, at most. What is not compared by then counts as changed: the diff is right, but coarser."""
COST = 256
"""Edits that are looked for from both ends of a part before it is cut where the search has come farthest."""
_FAR = 1 << 60


def changed_lines(old: Sequence[str], new: Sequence[str]) -> tuple[bytearray, bytearray]:
    """1 for each old line that goes and for each new one that comes; the others stay, in their order."""
    gone, come = bytearray(len(old)), bytearray(len(new))
    first, last = common_ends(old, new)
    middle_old, middle_new = range(first, len(old) - last), range(first, len(new) - last)
    in_old, in_new = {old[at] for at in middle_old}, {new[at] for at in middle_new}
    # A line that only one side has is part of no match; without those there is much less to compare.
    ours, theirs = [at for at in middle_old if old[at] in in_new], [at for at in middle_new if new[at] in in_old]
    for at in middle_old:
        gone[at] = 1
    for at in middle_new:
        come[at] = 1
    for one, other in _Comparison([old[at] for at in ours], [new[at] for at in theirs]).matches():
        gone[ours[one]] = come[theirs[other]] = 0
    return gone, come


def common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning, and of the rest how many at the end."""
    most = min(len(old), len(new))
    first = 0
    while first < most and old[first] == new[first]:
        first += 1
    last = 0
    while last < most - first and old[-1 - last] == new[-1 - last]:
        last += 1
    return first, last


class _Comparison:
    """Of two sequences; `_steps` are left."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        self._old = [numbers.setdefault(line, len(numbers)) for line in old]
        self._new = [numbers.setdefault(line, len(numbers)) for line in new]
        self._steps = STEPS

    def matches(self) -> list[tuple[int, int]]:
        """Pairs of places that stay, in no particular order."""
        a, b = self._old, self._new
        found: list[tuple[int, int]] = []
        boxes = [(0, len(a), 0, len(b))]
        while boxes:
            left, right, top, bottom = boxes.pop()
            while left < right and top < bottom and a[left] == b[top]:
                found.append((left, top))
                left, top = left + 1, top + 1
            while left < right and top < bottom and a[right - 1] == b[bottom - 1]:
                right, bottom = right - 1, bottom - 1
                found.append((right, bottom))
            if left < right and top < bottom and self._steps > 0:
                x, y = self._cut(left, right, top, bottom)
                boxes += [(left, x, top, y), (x, right, y, bottom)]
        return found

    def _cut(self, left: int, right: int, top: int, bottom: int) -> tuple[int, int]:
        """Where a shortest way through the box passes: searches from both corners until the ways meet.

        Ways are kept by diagonal, x - y: how far right the forward ones came, how far left the backward ones.
        """
        a, b = self._old, self._new
        lowest, highest = left - bottom, right - top
        start, end = left - top, right - bottom
        odd = (start - end) & 1
        forward, backward = {start: left}, {end: right}
        f_low = f_high = start
        b_low = b_high = end
        for cost in range(1, COST + 1):
            if f_low > lowest:
                f_low -= 1
                forward[f_low - 1] = -1
            else:
                f_low += 1
            if f_high < highest:
                f_high += 1
                forward[f_high + 1] = -1
            else:
                f_high -= 1
            for diagonal in range(f_high, f_low - 1, -2):
                below, above = forward[diagonal - 1], forward[diagonal + 1]
                x = below + 1 if below >= above else above
                y = x - diagonal
                while x < right and y < bottom and a[x] == b[y]:
                    x, y = x + 1, y + 1
                forward[diagonal] = x
                if odd and b_low <= diagonal <= b_high and backward[diagonal] <= x:
                    self._steps -= cost * cost
                    return x, y
            if b_low > lowest:
                b_low -= 1
                backward[b_low - 1] = _FAR
            else:
                b_low += 1
            if b_high < highest:
                b_high += 1
                backward[b_high + 1] = _FAR
            else:
                b_high -= 1
            for diagonal in range(b_high, b_low - 1, -2):
                below, above = backward[diagonal - 1], backward[diagonal + 1]
                x = below if below < above else above - 1
                y = x - diagonal
                while x > left and y > top and a[x - 1] == b[y - 1]:
                    x, y = x - 1, y - 1
                backward[diagonal] = x
                if not odd and f_low <= diagonal <= f_high and x <= forward[diagonal]:
                    self._steps -= cost * cost
                    return x, y
        self._steps -= COST * COST
        reached = [(x, x - diagonal) for diagonal, x in forward.items() if left <= x <= right]
        return max(((x, y) for x, y in reached if top <= y <= bottom), key=sum)
