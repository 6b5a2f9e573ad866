"""Games with secrets: what each viewer may know, and how a viewer follows every action from there.

State and actions are plain JSON values. A game is any object with `update_state(state, action)` and, if not everything
is for all eyes, `filters(state)`: one function, or a mapping of viewer to function, each of which makes a view of a
state. Where an action shows something new, `update_state` does so in `apply_update(state, fn)`. The client that has the
state plays with `play_action`; a client that has a view replays the action there, with what it has newly shown, and
gets the view of the new state. The library has no opinion on which actions are legal.

In Monty Hall's game there is a car behind one of three doors, and only the host knows which:

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

A game continues with what `apply_update` returns: the draft that it has given is handed over, and what comes back is
the same object as long as it stays a list or a dictionary.

A viewer that replays need not trust the client that shows: a patch may have a thousand operations at most, each of
which adds, removes, replaces or moves, and the view may have 4 MiB of JSON text after it.
"""

from __future__ import annotations

from forcemove_games.views.drafts import ViewedGame, apply_update
from forcemove_games.views.errors import (
    DisclosureMalformed,
    DisclosuresLeft,
    NestedAction,
    NoDisclosure,
    NotAwaited,
    NotJson,
    OutsideAction,
    ReplayMismatch,
    TwoResults,
    UnknownViewer,
)
from forcemove_games.views.faults import Json
from forcemove_games.views.patches import NewInfo
from forcemove_games.views.playing import Filter, PlayResult, filter_state, play_action, replay_action

__all__ = [
    "DisclosureMalformed",
    "DisclosuresLeft",
    "Filter",
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
