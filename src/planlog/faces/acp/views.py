"""The views of a session that an editor shows: told when they change, and once where somebody comes to them."""

from collections.abc import Iterable
from typing import Any

from planlog.faces.acp.registry import AcpRenders
from planlog.faces.acp.updates import Update
from planlog.log.event import Event
from planlog.log.projection import Projection


class Views:
    """`folds` are the projections that features draw; each begins where the log does."""

    def __init__(self, renders: AcpRenders, folds: Iterable[Projection[Any]]) -> None:
        self._renders = renders
        self._folds = tuple(folds)
        self._states: dict[str, Any] = {fold.key: fold.init for fold in self._folds}
        self._shown: dict[str, list[Update]] = {}

    def begin_at(self, states: dict[str, Any]) -> None:
        """Begins where the projections have these states; the editor shows nothing yet."""
        self._states.update(states)

    def take_over(self, shown: "Views") -> None:
        """The editor still shows what it was told by `shown`."""
        self._shown = dict(shown._shown)

    def standing(self) -> list[Update]:
        """The views that stand now, each once; a shown one that no longer stands is cleared."""
        updates: list[Update] = []
        for fold in self._folds:
            blank = self._renders.view(fold.key, fold.view(fold.init))
            drawn = self._renders.view(fold.key, fold.view(self._states[fold.key]))
            if drawn != blank or drawn != self._shown.get(fold.key, blank):
                updates += drawn
            self._shown[fold.key] = drawn
        return updates

    def fold(self, event: Event) -> list[tuple[Projection[Any], Any]]:
        """Takes the event in without telling; the projections that it changes, with their states."""
        changed: list[tuple[Projection[Any], Any]] = []
        for fold in self._folds:
            if fold.types is None or event.type in fold.types:
                before, after = self._states[fold.key], fold.apply(self._states[fold.key], event)
                if after is not before:
                    self._states[fold.key] = after
                    changed.append((fold, after))
        return changed

    def event(self, event: Event) -> list[Update]:
        """What changes with a committed event."""
        updates: list[Update] = []
        for fold, state in self.fold(event):
            drawn = self._renders.view(fold.key, fold.view(state))
            # Where nothing of what is gone was shown, there is nothing to clear.
            if state is fold.init and drawn == self._shown.get(fold.key, drawn):
                continue
            updates += drawn
            self._shown[fold.key] = drawn
        return updates
