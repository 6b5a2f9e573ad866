"""The draft of an action, which `update_state` works on, and `apply_update`, to which a game gives it and gets it back.

A game gives its draft to `apply_update` and continues with the value that this returns; its earlier draft is not its
own any more. The root stays the same object as long as it stays a list or a dictionary, whether `fn` changes it, or
returns another, or a patch does: a game cannot tell whether it is played or replayed, and references to inner objects
stay valid.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol

from forcemove_games.views.errors import NestedAction, NotAwaited, OutsideAction, TwoResults
from forcemove_games.views.faults import Json
from forcemove_games.views.values import UNWRITABLE, StrictValue, is_same, json_of, text_of

__all__ = ["Change", "Update", "ViewedGame", "apply_update", "changed", "perform", "placed"]

Change = Callable[[Json], Json | None]
"""Changes the value that it is given, or returns another; not both."""


class ViewedGame(Protocol):
    """What a game must have; `filters` may be missing."""

    def update_state(self, state: Json, action: Json) -> Json | None:
        """Change the state that is given, which is a copy, or return a new one; not both."""
        ...


Update = Callable[[Json, Change], tuple[Json, bytes]]
"""What `apply_update` does: makes, of the draft that the game gives, the draft to continue with, and its text."""


@dataclass
class _Run:
    """One action that is being played. `draft`: the last one that the game was given; `text`: its text then."""

    game: ViewedGame
    draft: Json
    text: bytes
    update: Update
    outer: _Run | None
    is_changed: bool = False
    is_running: bool = True

    def hand_over(self, given: Json, fn: Change) -> Json:
        """The draft to continue with. Raises `TwoResults` where the game has changed the one that it has, and gives
        another."""
        self._look_for_changes()
        if given is not self.draft and self.is_changed:
            raise TwoResults("update_state")
        self.draft, self.text = self.update(given, fn)
        return self.draft

    def outcome(self, returned: Json | None) -> Json:
        """The state after the action. Raises `TwoResults` where the game has changed its draft, at any time, and has
        returned another value."""
        if returned is None or returned is self.draft:
            return self.draft
        self._look_for_changes()
        if self.is_changed:
            raise TwoResults("update_state")
        return returned

    def _look_for_changes(self) -> None:
        self.is_changed = self.is_changed or _has_changed(self.draft, self.text)


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


def apply_update(state: Json, fn: Change) -> Json:
    """Inside `update_state`: let `fn` change the state, or return a new one, with what viewers may not know.

    Returns the state to continue with. That is `state` itself, with what `fn` has returned in it, unless one of the two
    is a list and the other a dictionary, or one is neither. Raises `OutsideAction`, `TwoResults`, `NotJson`, and while
    replaying what `replay_action` raises of disclosures.
    """
    run = _RUN.get()
    if run is None or not run.is_running:
        raise OutsideAction
    return run.hand_over(state, fn)


def perform(game: ViewedGame, draft: StrictValue, action: Json, update: Update) -> Json:
    """The state that `update_state` makes of a draft and an action, both its own. Raises `NestedAction`."""
    outer = _RUN.get()
    if any(run.game is game for run in _runs(outer)):
        raise NestedAction
    run = _Run(game, draft.value, draft.text, update, outer)
    token = _RUN.set(run)
    try:
        return run.outcome(called("update_state", game.update_state, draft.value, action))
    finally:
        run.is_running = False
        _RUN.reset(token)


def _runs(run: _Run | None) -> list[_Run]:
    return [] if run is None else [run, *_runs(run.outer)]


def called(name: str, function: Callable[..., Json | None], *arguments: Json) -> Json | None:
    """What a game's function returns. Raises `NotAwaited`, with this name, and what the function raises."""
    if inspect.iscoroutinefunction(function):
        raise NotAwaited(name)
    result = function(*arguments)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise NotAwaited(name)
    return result


def changed(name: str, change: Change, draft: Json, before: StrictValue) -> Json:
    """The value that a change has made of a draft, which was the same as `before`: the draft itself, or another value
    and the draft is unchanged. Raises `TwoResults` and `NotAwaited`, with this name."""
    result = called(name, change, draft)
    if result is None or result is draft:
        return draft
    if not is_same(before, draft):
        raise TwoResults(name)
    return result


def placed(given: Json, result: Json) -> Json:
    """The draft to continue with, where a game has given a draft and this is the result: the same root if possible. No
    part of the result may be the root itself."""
    if type(result) is not type(given) or type(given) not in (dict, list):
        return result
    if result is not given:
        _fill(given, result)
    return given


def _fill(root: Json, content: Json) -> None:
    if type(root) is dict:
        members = dict(content)
        root.clear()
        root.update(members)
    else:
        root[:] = content


def _has_changed(draft: Json, text: bytes) -> bool:
    """Whether a draft differs from its text; another order of a dictionary is not a change."""
    try:
        return text_of(draft) != text and not is_same(StrictValue(json_of(text), text), draft)
    except UNWRITABLE:
        return True
