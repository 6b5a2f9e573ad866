"""Playing an action on a state, replaying it on a view, and the law that both lead to the same view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from forcemove_games.views import errors
from forcemove_games.views.drafts import Change, ViewedGame, changed, perform, placed
from forcemove_games.views.faults import Json
from forcemove_games.views.patches import NewInfo, difference, patched
from forcemove_games.views.values import StrictValue, is_same, renewed, strict, taken, text_of, unshare

__all__ = ["Filter", "PlayResult", "filter_state", "play_action", "replay_action"]

Viewer = str | None
Views = Mapping[Viewer, StrictValue]


class PlayResult(NamedTuple):
    """The new state, and what the action newly shows: for each viewer where the filters are a mapping, else once."""

    state: Json
    new_info: Any


def play_action(game: ViewedGame, state: Json, action: Json, *, verify: bool = True) -> PlayResult:
    """Play a validated action on a state, which stays as it is; parts that the action does not change are in the new
    state, too.

    `verify`: check the law of views for every viewer. Raises `NotJson`, `TwoResults`, `NotAwaited`, `NestedAction`,
    `UnknownViewer`, `ReplayMismatch`, and what the game raises.
    """
    known_action, own_action = strict(action)
    start, own_state = strict(state)
    play = _Play(game, start, _filters(game, own_state))
    result = renewed(start, perform(game, start.again(), own_action, play.update))
    if verify:
        play.require_lawful(known_action, result)
    return PlayResult(result.value, play.new_infos.get(None, play.new_infos))


def replay_action(game: ViewedGame, view: Json, action: Json, new_info: NewInfo | None = None) -> Json:
    """Play an action on a view, which stays as it is. `new_info` may be left out where the action shows nothing.

    Functions given to `apply_update` are not called: the view gets the patches instead. Raises `NoDisclosure`,
    `DisclosuresLeft`, `DisclosureMalformed`, and as `play_action` does.
    """
    known, own_view = strict(view)
    _, own_action = strict(action)
    return renewed(known, _replayed(game, StrictValue(own_view, known.text), own_action, new_info)).value


def filter_state(game: ViewedGame, state: Json, viewer: str | None = None) -> Json:
    """What a viewer may know of a state; `viewer` is None where the game has one filter or none for all.

    Raises `UnknownViewer`, `NotJson`, `TwoResults`, `NotAwaited`, and what the filter raises.
    """
    known, own_state = strict(state)
    _, view = strict(_view(_filter_of(_filters(game, own_state), viewer), known))
    return view


# -------------------------------------------------------------------------------------------------------------- filters


Filter = Change
"""Makes a view of the state that it is given, which is a copy: changes it, or returns a new value."""
Filters = Filter | Mapping[str, Filter]
"""One filter for all, or one for each viewer."""


def _filters(game: ViewedGame, state: Json) -> Filters:
    """The game's filters for a state, which is its own."""
    filters = getattr(game, "filters", None)
    return _everything if filters is None else filters(state)


def _everything(_: Json) -> None:
    """The filter of games without secrets."""


def _filter_of(filters: Filters, viewer: Viewer) -> Change:
    if not isinstance(filters, Mapping):
        if viewer is not None:
            raise errors.UnknownViewer(viewer)
        return filters
    if viewer is None or viewer not in filters:
        raise errors.UnknownViewer(viewer)
    return filters[viewer]


def _view(filter_: Change, state: StrictValue) -> Json:
    """The view that a filter makes of a state: not checked yet."""
    return changed("filter", filter_, state.copy(), state)


# -------------------------------------------------------------------------------------------------------------- playing


@dataclass
class _Play:
    """An action that is played. `filters`: those of the state `filtered`, at first the state before the action.
    `latest`: the views after the last update."""

    game: ViewedGame
    start: StrictValue
    filters: Filters
    filtered: StrictValue = field(init=False)
    latest: Views = field(default_factory=dict, init=False)
    new_infos: dict[Viewer, NewInfo] = field(init=False)

    def __post_init__(self) -> None:
        """Note the viewers, which must stay the same to the end."""
        self.filtered = self.start
        viewers: list[Viewer] = list(self.filters) if isinstance(self.filters, Mapping) else [None]
        self.new_infos = {viewer: [] for viewer in viewers}

    @cached_property
    def first_views(self) -> Views:
        """The viewers' views before the action."""
        views = {viewer: _view(_filter_of(self.filters, viewer), self.start) for viewer in self.new_infos}
        return {viewer: taken(view, is_exact=False) for viewer, view in views.items()}

    def update(self, given: Json, fn: Change) -> tuple[Json, bytes]:
        """Apply `fn`, and record what each viewer newly sees."""
        before = renewed(self.start, given, is_exact=False)
        unshare(given)
        shown = self.first_views if before is self.start else self._views(before, self.first_views)
        result = changed("fn", fn, given, before)
        after = renewed(before, result, is_exact=False)
        self.latest = self._views(after, shown)
        for viewer, view in self.latest.items():
            self.new_infos[viewer].append(difference(shown[viewer].value, view.value))
        unshare(result, within=given)
        return placed(given, result), after.text

    def _views(self, state: StrictValue, near: Views, *, is_exact: bool = False) -> Views:
        """The views of a state; parts that equal those of `near` are the same objects."""
        if state.text != self.filtered.text:
            self.filtered, self.filters = state, _filters(self.game, state.copy())
        views = {viewer: _view(_filter_of(self.filters, viewer), state) for viewer in near}
        return {viewer: renewed(near[viewer], view, is_exact=is_exact) for viewer, view in views.items()}

    def require_lawful(self, action: StrictValue, result: StrictValue) -> None:
        """Raise `ReplayMismatch` where a viewer's replay does not lead to its view of the new state."""
        for viewer, expected in self._views(result, self.latest or self.first_views, is_exact=True).items():
            new_info = self.new_infos[viewer]
            try:
                replay = _replayed(self.game, self.first_views[viewer].again(), action.copy(), new_info)
            except Exception as error:
                raise errors.ReplayMismatch(viewer, expected.copy(), error, new_info) from error
            if not is_same(expected, replay):
                raise errors.ReplayMismatch(viewer, expected.copy(), replay, new_info)


# ------------------------------------------------------------------------------------------------------------ replaying


def _replayed(game: ViewedGame, view: StrictValue, action: Json, new_info: NewInfo | None) -> Json:
    """The value that an action makes of a view; both are its own."""
    if new_info is not None and type(new_info) is not list:
        raise errors.DisclosureMalformed(0, "new_info is a list of patches")
    replay = _Replay(new_info)
    result = perform(game, view, action, replay.update)
    replay.require_complete()
    return result


@dataclass
class _Replay:
    """An action that is replayed. A game may go on after our error, but its result does not count."""

    new_info: NewInfo | None
    taken: int = 0
    error: Exception | None = None

    def update(self, given: Json, _: Change) -> tuple[Json, bytes]:
        """Apply the next entry."""
        try:
            return self._shown(given)
        except Exception as error:
            self.error = error
            raise

    def _shown(self, given: Json) -> tuple[Json, bytes]:
        unshare(given)
        self.taken += 1
        if self.new_info is None:
            return given, text_of(given)
        if self.taken > len(self.new_info):
            raise errors.NoDisclosure(len(self.new_info))
        result, text = patched(given, self.new_info[self.taken - 1], self.taken - 1)
        return placed(given, result), text

    def require_complete(self) -> None:
        """Raise the error of the entries, if there was one, or of entries that are left."""
        if self.error is not None:
            raise self.error
        if self.new_info is not None and self.taken < len(self.new_info):
            raise errors.DisclosuresLeft(len(self.new_info), self.taken)
