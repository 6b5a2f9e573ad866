"""Discard for spectators: the number of cards that each player holds, the pile, and the discarded cards.

A client at the table plays each turn here once more, as a game with secrets (see `forcemove_games.views`), and relays
it (see `forcemove_games.spectator`). Spectators check every turn by the rules. They are given no key, so they have to
believe the relaying client which card a player discarded; the players themselves believe nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from forcemove import CounterpartyError
from forcemove_games.discard_sra.cards import HAND, SIZE, fits
from forcemove_games.discard_sra.rules import Kind, turns
from forcemove_games.discard_sra.table import DiscardTable
from forcemove_games.two_player import PLAYERS
from forcemove_games.views import Filter, Json, PlayResult, apply_update, play_action

PUBLIC = ""
"""The viewer without a seat. No client has this name: theirs have a character or more."""

_TYPES = {Kind.DISCARD: "Discard", Kind.DRAW: "Draw", Kind.CANNOT_MOVE: "CannotMove"}


class NotLegal(CounterpartyError):
    """An action that the rules do not allow in this state: out of turn, a card that does not fit or was discarded
    already, a draw from an empty pile, and so on. `client_id`: the client that it names; None for an action that is
    nobody's turn."""

    client_id: str | None
    type: str


class HiddenHands:
    """The game as one with secrets: its viewers are the client whose table it is, and `PUBLIC`.

    State: `clients` (by seat), `hands` (cards by client, of the one whose table it is; the public sees none), `counts`
    (cards that each client holds), `left` (in the pile), `laid` (cards, in order), `turns` (taken), `stuck` (how many
    in a row could not move), and `result`: None, or an object with the `winner`, who is None where both are stuck.
    Actions by `type`: `Begin` with the `card` that is turned up; `Discard` with `client_id` and `card`; `Draw` and
    `CannotMove` with `client_id`; `Result` when the deck was audited.
    """

    def __init__(self, hands: Mapping[str, tuple[int, ...]] | None = None) -> None:
        """`hands`: those that are known after the action that is played; none for replaying."""
        self._hands = {client_id: list(cards) for client_id, cards in (hands or {}).items()}

    def update_state(self, state: Json, action: Json) -> Json:
        """See `forcemove_games.views.ViewedGame`. Raises `NotLegal`."""
        if not _LEGAL.get(action["type"], _nothing)(state, action):
            raise NotLegal(action.get("client_id"), action["type"])
        _CHANGES[action["type"]](state, action)
        return apply_update(state, self._know)

    def filters(self, state: Json) -> dict[str, Filter]:
        """See `forcemove_games.views`."""
        return {viewer: partial(_view, viewer) for viewer in (*state["hands"], PUBLIC)}

    def _know(self, state: Json) -> None:
        state["hands"] = self._hands


def is_over(view: Json) -> bool:
    """Whether a view shows a result."""
    return view["result"] is not None


def _view(viewer: str, state: Json) -> None:
    hands = state.pop("hands")
    if viewer != PUBLIC:
        state["hands"] = {viewer: hands[viewer]}


# ---------------------------------------------------------------------------------------------------------- the actions


def _nothing(_state: Json, _action: Json) -> bool:
    return False


def _may_begin(state: Json, action: Json) -> bool:
    return not state["laid"] and _is_card(action["card"])


def _may_discard(state: Json, action: Json) -> bool:
    card = action["card"]
    return _is_due(state, action) and _is_card(card) and card not in state["laid"] and fits(card, state["laid"][-1])


def _may_draw(state: Json, action: Json) -> bool:
    return _is_due(state, action) and state["left"] > 0


def _cannot_move(state: Json, action: Json) -> bool:
    return _is_due(state, action) and state["left"] == 0


def _may_end(state: Json, _action: Json) -> bool:
    return _is_played(state) and state["result"] is None


def _is_due(state: Json, action: Json) -> bool:
    mover = state["clients"][state["turns"] % PLAYERS]
    return bool(state["laid"]) and not _is_played(state) and action["client_id"] == mover


def _is_played(state: Json) -> bool:
    return bool(state["laid"]) and (0 in state["counts"].values() or state["stuck"] == PLAYERS)


def _is_card(card: Json) -> bool:
    return type(card) is int and 0 <= card < SIZE


def _begin(state: Json, action: Json) -> None:
    state["counts"] = dict.fromkeys(state["clients"], HAND)
    state["left"] = SIZE - PLAYERS * HAND - 1
    state["laid"] = [action["card"]]


def _take_turn(state: Json, action: Json, *, held: int = 0, left: int = 0, stuck: int = 0) -> None:
    state["counts"][action["client_id"]] += held
    state["left"] += left
    state["stuck"] = stuck and state["stuck"] + stuck
    state["turns"] += 1


def _discard(state: Json, action: Json) -> None:
    state["laid"].append(action["card"])
    _take_turn(state, action, held=-1)


def _end(state: Json, _action: Json) -> None:
    winner = next((client_id for client_id in state["clients"] if state["counts"][client_id] == 0), None)
    state["result"] = {"winner": winner}


_LEGAL: dict[str, Callable[[Json, Json], bool]] = {
    "Begin": _may_begin,
    "Discard": _may_discard,
    "Draw": _may_draw,
    "CannotMove": _cannot_move,
    "Result": _may_end,
}
_CHANGES: dict[str, Callable[[Json, Json], None]] = {
    "Begin": _begin,
    "Discard": _discard,
    "Draw": partial(_take_turn, held=1, left=-1),
    "CannotMove": partial(_take_turn, stuck=1),
    "Result": _end,
}

# --------------------------------------------------------------------------------------------------------- at the table


def _show_nobody(_action: Json, _played: PlayResult) -> None:
    """The `show` of tables that nobody watches."""


@dataclass
class ClientView:
    """What one client at a table knows, as a state of `HiddenHands`. Make its `watch` the table's.

    `clients`: by seat. `client_id`: whose table it is. `show`: is called with each action and its result, secrets
    included; `forcemove_games.spectator.Relay` picks what may be seen.
    """

    clients: tuple[str, str]
    client_id: str
    show: Callable[[Json, PlayResult], object] = _show_nobody
    state: Json = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.state = {
            "clients": list(self.clients),
            "hands": {self.client_id: []},
            "counts": dict.fromkeys(self.clients, 0),
            "left": SIZE,
            "laid": [],
            "turns": 0,
            "stuck": 0,
            "result": None,
        }

    def watch(self, table: DiscardTable) -> None:
        """Play the last action of the table here."""
        action = _last_action(table)
        played = play_action(HiddenHands({self.client_id: table.position.hand}), self.state, action)
        self.state = played.state
        self.show(action, played)


def _last_action(table: DiscardTable) -> Json:
    if table.result is not None:
        return {"type": "Result"}
    laid, taken = table.player.pile.laid, turns(table.history)
    if not taken:
        return {"type": "Begin", "card": laid[-1]}
    last = taken[-1]
    action = {"type": _TYPES[last.kind], "client_id": table.clients[last.seat]}
    return {**action, "card": laid[-1]} if last.kind is Kind.DISCARD else action
