"""The errors of a game's views, of the values in them, and of an action's disclosures."""

from __future__ import annotations

from typing import Any

from forcemove import CounterpartyError, LocalError

__all__ = [
    "DisclosureMalformed",
    "DisclosuresLeft",
    "NestedAction",
    "NoDisclosure",
    "NotAwaited",
    "NotJson",
    "OutsideAction",
    "ReplayMismatch",
    "TwoResults",
    "UnknownViewer",
]


class NotJson(LocalError):
    """A value that is not strict JSON. `path`: the place in it (a JSON Pointer)."""

    path: str
    reason: str


class UnknownViewer(LocalError):
    """The game has no filter for this viewer."""

    viewer: str | None


class TwoResults(LocalError):
    """A function has changed its argument, and has returned another value, too. `function`: its name."""

    function: str


class NotAwaited(LocalError):
    """A function of the game is a coroutine or has returned an awaitable; views await nothing."""

    function: str


class OutsideAction(LocalError):
    """`apply_update` is called where no action is being played or replayed."""


class NestedAction(LocalError):
    """An action is played or replayed inside an action of the same game."""


class NoDisclosure(CounterpartyError):
    """`new_info` has `given` entries, and the action wants one more."""

    given: int


class DisclosuresLeft(CounterpartyError):
    """`new_info` has `given` entries, and the action has taken `taken` of them."""

    given: int
    taken: int


class DisclosureMalformed(CounterpartyError):
    """An entry of `new_info` is not JSON Patch, has too many or forbidden operations, does not fit the view, or makes
    it too large."""

    index: int
    reason: str


class ReplayMismatch(LocalError):
    """The game breaks the law of views: from `viewer`'s view, the action and `patch` lead to `replay` (or raise it),
    and not to `result`, the view of the new state."""

    viewer: str | None
    result: Any
    replay: Any
    patch: Any
