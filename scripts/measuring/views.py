"""The cost of views, compared with a round trip of the same state through the standard library's json,
`loads(dumps(state))`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from forcemove_games.views import Json, apply_update, filter_state, play_action, replay_action
from scripts.measuring.cases import Measured, Row, case, ratios

TRIPS = 6
"""How many short actions a round times at once: a busy machine interrupts long actions, and not short ones, so all take
about as long."""
VIEWED = "a 100 kB state (8,500 values: players' hands, a board, a log) of which one field changes"


class Hall:
    """A card game of many players. Each sees no hand but its own; the log says which viewer has seen what was said."""

    def __init__(self) -> None:
        """Make a state of a hundred kilobytes."""
        names = [f"player-{number}" for number in range(190)]
        self.state: Json = {
            "turn": 12,
            "pile": [f"card-{number}" for number in range(52)],
            "players": {name: _player(number) for number, name in enumerate(names)},
            "board": [[_square(row, column) for column in range(32)] for row in range(73)],
            "log": [_said(number, names[number % 9]) for number in range(270)],
        }

    def update_state(self, state: Json, action: Json) -> None:
        def mark(state: Json) -> None:
            state["log"][action["line"]]["seen"] = True

        apply_update(state, mark)

    def filters(self, state: Json) -> dict[str, Callable[[Json], None]]:
        return {viewer: partial(_view, viewer) for viewer in list(state["players"])[:2]}


def _player(number: int) -> Json:
    hand = ["7S", "KD", "AH", "2C", f"{number % 8 + 2}H"]
    return {"score": 37 * number, "rating": 100 / (number + 3), "is_in": number % 7 > 0, "hand": hand, "note": None}


def _square(row: int, column: int) -> Json:
    chosen = (7 * row + 5 * column) % 4
    return {"unit": "scout", "hits": row % 5, "moved": False} if chosen == 3 else chosen or None


def _said(number: int, name: str) -> Json:
    said = f"a sentence that somebody has said at the table, number {number}"
    return {"at": 1_700_000_000 + number, "who": name, "said": said, "tags": ["x", "public"], "seen": False}


def _view(viewer: str, state: Json) -> None:
    state["pile"] = len(state["pile"])
    for name, player in state["players"].items():
        if name != viewer:
            player["hand"] = len(player["hand"])


@case(
    Row("view_replay_ratio", "x", f"replay an action on {VIEWED} / its JSON round trip", 2),
    Row("view_filter_ratio", "x", f"filter {VIEWED} / its JSON round trip", 2),
    Row("view_play_ratio", "x", f"play an action, two viewers, all checks on {VIEWED} / its JSON round trip", 8),
)
def views(rounds: int = 60) -> Measured:
    """Views of a large state, over its JSON round trip."""
    hall, action = Hall(), {"line": 5}
    state = hall.state
    view, new_info = filter_state(hall, state, "player-0"), play_action(hall, state, action).new_info["player-0"]
    actions = {
        "round trips": lambda: _repeated(lambda: json.loads(json.dumps(state))),
        "replays": lambda: _repeated(lambda: replay_action(hall, view, action, new_info)),
        "filters": lambda: _repeated(lambda: filter_state(hall, state, "player-0")),
        "play": lambda: play_action(hall, state, action),
    }
    names = {"view_replay_ratio": "replays", "view_filter_ratio": "filters", "view_play_ratio": "play"}
    found = ratios(rounds, actions, {row: (name, "round trips") for row, name in names.items()})
    return found | {"view_play_ratio": TRIPS * found["view_play_ratio"]}


def _repeated(action: Callable[[], object]) -> None:
    for _ in range(TRIPS):
        action()
