"""Notices a model that goes round in circles: calls that fail and fail."""

import msgspec

from planlog.agent.event import Failure

MAX_FAILURES = 20
MAX_SAME_FAILURES = 5


class Streak(msgspec.Struct, frozen=True):
    """The calls of a turn as far back as they are alike. A success ends `failures`, any other call ends `same`."""

    failures: int = 0
    same: int = 0
    last: tuple[str, str, str] = ("", "", "")
    failed: bool = False

    def after(self, name: str, arguments: str, text: str, failed: bool) -> "Streak":
        """The streak after one more call with its result's text; failures of every kind count."""
        call = (name, arguments, text)
        same = self.same + 1 if call == self.last else 1
        return Streak(self.failures + 1 if failed else 0, same, call, failed)

    def fault(self) -> Failure | None:
        """Why the turn has to end, if it has to."""
        name, _, text = self.last
        if self.failed and self.same >= MAX_SAME_FAILURES:
            said = text.removeprefix("Error: ").partition("\n")[0][:200]
            return Failure(f"stopped: the same call of {name} failed {self.same} times in a row: {said}", REPEATED)
        if self.failures >= MAX_FAILURES:
            return Failure(f"stopped: {self.failures} calls in a row failed, the last one of {name}", REPEATED)
        return None


REPEATED = "REPEATED_CALLS"
