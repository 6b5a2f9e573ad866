"""Games with secrets: what each viewer may know, and how a viewer follows every action from there.

State and actions are plain JSON values. A game is any object with `update_state(state, action)` and, if not everything
is for all eyes, `filters(state)`: one function, or a mapping of viewer to function, each of which makes a view of a
state. Where an action shows something new, `update_state` does so in `apply_update(state, fn)`. Whoever has the state
plays with `play_action`; whoever has a view replays the action there, with what it has newly shown, and has the view of
the new state. The library has no opinion on which actions are legal.

In Monty Hall's game the car stands behind one of three doors, and only the host knows which:

>>> class MontyHall:
...     def update_state(self, state, action):
...         if action["type"] == "choose":
...             state["chosen"] = action["door"]
...         def open_a_goat(state):
...             state["opened"] = min({0, 1, 2} - {state["car"], state["chosen"]})
...         if action["type"] == "open":
...             apply_update(state, open_a_goat)
...     def filters(self, state):
...         def audience(state):
...             del state["car"]
...         return {"host": lambda state: None, "audience": audience}
>>> game, state = MontyHall(), {"car": 1, "chosen": None, "opened": None}
>>> view = filter_state(game, state, "audience")
>>> view
{'chosen': None, 'opened': None}
>>> for action in ({"type": "choose", "door": 0}, {"type": "open"}):
...     state, new_infos = play_action(game, state, action)
...     view = replay_action(game, view, action, new_infos["audience"])
>>> view
{'chosen': 0, 'opened': 2}
>>> new_infos["audience"]
[[{'op': 'replace', 'path': '/opened', 'value': 2}]]

`play_action` checks for every viewer that the replay gives the view of the new state. That finds what reads a secret,
branches on one, or draws lots outside of `apply_update`.
"""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jsonpatch

from channel.errors import ForcemoveError, LocalError

__all__ = [
    "DisclosureMalformed",
    "DisclosuresLeft",
    "Json",
    "NestedAction",
    "NewInfo",
    "NoDisclosure",
    "NotAwaited",
    "NotJson",
    "OutsideAction",
    "PlayResult",
    "ReplayMismatch",
    "TwoResults",
    "UnknownViewer",
    "ViewedGame",
    "apply_update",
    "filter_state",
    "play_action",
    "replay_action",
]

Json = Any
"""A JSON value: None, True, False, numbers that are finite, text, lists, and dictionaries whose keys are text."""
Patch = list[dict[str, Json]]
"""A JSON Patch (RFC 6902)."""
NewInfo = list[Patch]
"""What an action newly shows to one viewer: a patch of its view for each `apply_update`, in order."""
Filter = Callable[[Json], Json | None]
"""Makes a view: changes the state that it is given, which is a copy, or returns a new value."""
_MAX_DEPTH = 200


class ViewedGame(Protocol):
    """What a game must have; `filters` may be missing."""

    def update_state(self, state: Json, action: Json) -> Json | None:
        """Change the state that is given, which is a copy, or return a new one; not both."""
        ...


@dataclass(eq=False)
class NotJson(LocalError):
    """A value that is no strict JSON. `path`: where in it (a JSON Pointer)."""

    path: str
    reason: str


@dataclass(eq=False)
class UnknownViewer(LocalError):
    """The game has no filter for this viewer."""

    viewer: str | None


@dataclass(eq=False)
class TwoResults(LocalError):
    """A function has changed what it was given, and has returned something else, too. `function`: which one."""

    function: str


@dataclass(eq=False)
class NotAwaited(LocalError):
    """A function of the game is a coroutine or has returned an awaitable; views wait for nothing."""

    function: str


@dataclass(eq=False)
class OutsideAction(LocalError):
    """`apply_update` is called where no action is being played or replayed."""


@dataclass(eq=False)
class NestedAction(LocalError):
    """An action is played or replayed inside an action of the same game."""


@dataclass(eq=False)
class NoDisclosure(ForcemoveError):
    """`new_info` has `given` entries, and the action wants one more."""

    given: int


@dataclass(eq=False)
class DisclosuresLeft(ForcemoveError):
    """`new_info` has `given` entries, and the action has taken `taken` of them."""

    given: int
    taken: int


@dataclass(eq=False)
class DisclosureMalformed(ForcemoveError):
    """An entry of `new_info` is no JSON Patch, or does not fit the view."""

    index: int
    reason: str


@dataclass(eq=False)
class ReplayMismatch(LocalError):
    """The game breaks the law of views: from `viewer`'s view, the action and `patch` lead to `replay` (or raise it),
    and not to `result`, the view of the new state."""

    viewer: str | None
    result: Json
    replay: Json
    patch: NewInfo


class PlayResult(NamedTuple):
    """The new state, and what the action newly shows: for each viewer where the filters are a mapping, else once."""

    state: Json
    new_info: Any


@dataclass
class _Run:
    """One action under way. `update` does what `apply_update` asks for."""

    game: ViewedGame
    update: Callable[[Json, Callable[[Json], Json | None]], Json]
    outer: _Run | None
    is_running: bool = True


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


def play_action(game: ViewedGame, state: Json, action: Json, *, verify: bool = True) -> PlayResult:
    """Play a validated action on a state, which stays as it is; what the action leaves alone is in the new state, too.

    `verify`: check the law of views for every viewer. Raises `NotJson`, `TwoResults`, `NotAwaited`, `NestedAction`,
    `UnknownViewer`, `ReplayMismatch`, and what the game raises.
    """
    _require_json(state)
    _require_json(action)
    viewers = _viewers(game, state)
    new_infos: dict[str | None, NewInfo] = {viewer: [] for viewer in viewers}

    def update(before: Json, fn: Callable[[Json], Json | None]) -> Json:
        _require_value(before)
        shown = {viewer: filter_state(game, before, viewer) for viewer in viewers}
        after = _applied("fn", fn, before)
        _require_value(after)
        for viewer in viewers:
            new_infos[viewer].append(_difference(shown[viewer], filter_state(game, after, viewer)))
        return after

    result = _share(state, _perform(game, state, action, update))
    if verify:
        for viewer in viewers:
            _require_lawful(game, (state, action, result), viewer, new_infos[viewer])
    return PlayResult(result, new_infos.get(None, new_infos))


def replay_action(game: ViewedGame, view: Json, action: Json, new_info: NewInfo | None = None) -> Json:
    """Play an action on a view, which stays as it is. `new_info` may be left out where nothing was shown.

    Functions given to `apply_update` are not called: the view gets what was shown. Raises `NoDisclosure`,
    `DisclosuresLeft`, `DisclosureMalformed`, and as `play_action` does.
    """
    _require_json(view)
    _require_json(action)
    taken = 0

    def update(before: Json, _: Callable[[Json], Json | None]) -> Json:
        nonlocal taken
        taken += 1
        _require_value(before)
        if new_info is None:
            return before
        if taken > len(new_info):
            raise NoDisclosure(len(new_info))
        return _patched(before, new_info[taken - 1], taken - 1)

    if new_info is not None and type(new_info) is not list:
        raise DisclosureMalformed(0, "new_info is a list of patches")
    result = _share(view, _perform(game, view, action, update))
    if new_info is not None and taken < len(new_info):
        raise DisclosuresLeft(len(new_info), taken)
    return result


def filter_state(game: ViewedGame, state: Json, viewer: str | None = None) -> Json:
    """What a viewer may know of a state; `viewer` is None where the game has one filter or none for all.

    Raises `UnknownViewer`, `NotJson`, `TwoResults`, `NotAwaited`, and what the filter raises.
    """
    view = _applied("filter", _filter_of(game, state, viewer), _copy(state))
    _require_json(view)
    return _copy(view)


def apply_update(state: Json, fn: Callable[[Json], Json | None]) -> Json:
    """Inside `update_state`: let `fn` change the state, or return a new one, with what viewers may not know.

    Returns the state to go on with, which is `state` itself unless `fn` has returned another or the view's root has
    been replaced. Raises `OutsideAction`, and while replaying what `replay_action` raises of disclosures.
    """
    run = _RUN.get()
    if run is None or not run.is_running:
        raise OutsideAction
    return run.update(state, fn)


# -------------------------------------------------------------------------------------------------------------- running


def _perform(game: ViewedGame, state: Json, action: Json, update: Callable[..., Json]) -> Json:
    """What `update_state` makes of copies of state and action."""
    outer = _RUN.get()
    if any(run.game is game for run in _runs(outer)):
        raise NestedAction
    run = _Run(game, update, outer)
    token = _RUN.set(run)
    try:
        result = _applied("update_state", lambda draft: game.update_state(draft, _copy(action)), _copy(state))
    finally:
        run.is_running = False
        _RUN.reset(token)
    _require_json(result)
    return result


def _runs(run: _Run | None) -> list[_Run]:
    return [] if run is None else [run, *_runs(run.outer)]


def _applied(name: str, fn: Callable[[Json], Json | None], draft: Json) -> Json:
    """What a function has made of its draft: changed in place or returned, one of the two."""
    if inspect.iscoroutinefunction(fn):
        raise NotAwaited(name)
    before = _copy(draft)
    result = fn(draft)
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()
        raise NotAwaited(name)
    if result is None or result is draft:
        return draft
    if not _equal(before, draft):
        raise TwoResults(name)
    return result


def _viewers(game: ViewedGame, state: Json) -> tuple[str | None, ...]:
    found = _filters(game, state)
    return tuple(found) if isinstance(found, Mapping) else (None,)


def _filters(game: ViewedGame, state: Json) -> Filter | Mapping[str, Filter]:
    filters = getattr(game, "filters", None)
    return _everything if filters is None else filters(_copy(state))


def _everything(_: Json) -> None:
    """The filter of games without secrets."""


def _filter_of(game: ViewedGame, state: Json, viewer: str | None) -> Filter:
    found = _filters(game, state)
    if not isinstance(found, Mapping):
        if viewer is not None:
            raise UnknownViewer(viewer)
        return found
    if viewer is None or viewer not in found:
        raise UnknownViewer(viewer)
    return found[viewer]


def _require_lawful(game: ViewedGame, played: tuple[Json, Json, Json], viewer: str | None, new_info: NewInfo) -> None:
    state, action, result = played
    expected = filter_state(game, result, viewer)
    try:
        replay = replay_action(game, filter_state(game, state, viewer), action, new_info)
    except Exception as error:
        raise ReplayMismatch(viewer, expected, error, new_info) from error
    if not _equal(replay, expected):
        raise ReplayMismatch(viewer, expected, replay, new_info)


# -------------------------------------------------------------------------------------------------------------- patches


def _difference(before: Json, after: Json) -> Patch:
    """A patch that shares nothing with either."""
    patch: Patch = _copy(jsonpatch.make_patch(before, after).patch)
    if _equal(jsonpatch.apply_patch(_copy(before), patch), after):
        return patch
    return [{"op": "replace", "path": "", "value": _copy(after)}]


def _patched(view: Json, patch: Patch, index: int) -> Json:
    """The view with what was shown, changed in place as far as it stays the same root."""
    try:
        _require_json(patch)
        shown = jsonpatch.apply_patch(_copy(view), patch)
        _require_json(shown)
        return jsonpatch.apply_patch(view, _copy(patch), in_place=True)
    except NotJson as error:
        raise DisclosureMalformed(index, error.reason) from None
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, *_WRONG) as error:
        raise DisclosureMalformed(index, str(error)) from None


_WRONG = (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError)
"""What the library raises on patches that are none."""

# ----------------------------------------------------------------------------------------------------------------- JSON


def _require_json(value: Json, path: str = "", depth: int = 0) -> None:
    """Raise `NotJson` on anything that would not come back from JSON text as it is."""
    if depth > _MAX_DEPTH:
        raise NotJson(path, f"it is deeper than {_MAX_DEPTH} levels")
    if type(value) is dict:
        for key, each in value.items():
            _require_key(key, path)
            _require_json(each, f"{path}/{_escaped(key)}", depth + 1)
    elif type(value) is list:
        for index, each in enumerate(value):
            _require_json(each, f"{path}/{index}", depth + 1)
    else:
        _require_simple(value, path)


def _require_value(state: Json) -> None:
    """Raise `NotJson`, and let nothing stand in two places of a state: JSON has equal values, but no same ones. Where a
    game had put one list in two places, a patch for both would change it twice."""
    _require_json(state)
    _unshare(state, set())


def _unshare(value: Json, seen: set[int]) -> None:
    if type(value) not in (dict, list):
        return
    seen.add(id(value))
    for name, each in value.items() if type(value) is dict else enumerate(value):
        if id(each) in seen:
            value[name] = _copy(each)
        else:
            _unshare(each, seen)


def _escaped(key: str) -> str:
    """As a step of a JSON Pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _require_key(key: object, path: str) -> None:
    if type(key) is not str:
        raise NotJson(path, f"a key is no text: {key!r}")
    _require_text(key, path)


def _require_simple(value: Json, path: str) -> None:
    kind = type(value)
    if kind is str:
        _require_text(value, path)
    elif kind is float and not math.isfinite(value):
        raise NotJson(path, f"{value} is no JSON number")
    elif value is not None and kind not in (bool, int, float):
        raise NotJson(path, f"a {kind.__name__} is no JSON value")


def _require_text(text: str, path: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJson(path, "text with half a surrogate pair is no Unicode") from None


def _copy(value: Json) -> Json:
    if type(value) is dict:
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if type(value) is list else value


def _equal(first: Json, second: Json) -> bool:
    """As JSON: True, 1 and 1.0 are three values."""
    return first is second or json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


def _share(old: Json, new: Json) -> Json:
    """The new value, with the old one's objects wherever it is equal, and with none of its own elsewhere."""
    if _equal(old, new):
        return old
    if type(new) is dict:
        names = old if type(old) is dict else {}
        return {key: _share(names[key], each) if key in names else _copy(each) for key, each in new.items()}
    if type(new) is list:
        items = old if type(old) is list else []
        return [_share(items[i], each) if i < len(items) else _copy(each) for i, each in enumerate(new)]
    return new
