"""Rock-paper-scissors around a table: two clients commit on a shared log, then both reveal, in steps.

Everybody plays once, everybody reveals once, in any order, but nobody reveals before the last has played. All read the
same log, so all end with the same result or with the same error, which names the culprit. The state is plain JSON, and
the round is a game for `forcemove_games.views`: a spectator applies the same rules to a view in which there is no
weapon before its reveal.

Knows neither the spectators nor what carries the log. There is no money in it; for that there are channels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial

import msgspec

from forcemove import CounterpartyError, InvalidValue, keccak256, require_bytes
from forcemove.flow.actions import Action, ActionCodec, MalformedAction
from forcemove.flow.queue import ActionQueue
from forcemove.flow.steps import Step, local, repeat, sequence, transition
from forcemove_games.commitment import Opening
from forcemove_games.randomness import Randomness, choose, system_randomness
from forcemove_games.rock_paper_scissors.position import Weapon
from forcemove_games.two_player import PLAYERS
from forcemove_games.views import Filter, Json, PlayResult, apply_update, play_action

PUBLIC = ""
"""The viewer without a seat. No client has this name: theirs have a character or more."""

_DOMAIN = keccak256(b"Forcemove table: rock-paper-scissors: a weapon is hidden")


class Play(Action, frozen=True):
    """Commits to a weapon. `commitment`: 32 bytes, see `commitment_of`, as lower-case hex."""

    commitment: str


class Reveal(Action, frozen=True):
    """Opens the client's commitment. `choice`: the weapon, 0 to 2. `salt`: 32 bytes, as lower-case hex."""

    choice: int
    salt: str


ACTIONS: ActionCodec[Play | Reveal] = ActionCodec(Play, Reveal)
"""The codec of such a table."""

Queue = ActionQueue[Play | Reveal]
Choose = Callable[[Randomness], Weapon]
"""Decides on our weapon, given a source of randomness."""


class ActionNotDue(CounterpartyError):
    """A client has acted out of turn: it is not a player, plays or reveals twice, or reveals before the last play."""

    client_id: str
    type: str


class DisclosesMore(CounterpartyError):
    """A client's action changes more than that action may show."""

    client_id: str


class NoSuchWeapon(CounterpartyError):
    """A client has revealed a number that is not a weapon."""

    client_id: str
    choice: int


class CommitmentNotOpened(CounterpartyError):
    """The client's reveal does not open its `commitment` (32 bytes): another weapon or salt, or a commitment that
    somebody else has made."""

    client_id: str
    commitment: bytes


def commitment_of(table_id: bytes, client_id: str, opening: Opening) -> bytes:
    """The 32 bytes with which a client commits to a weapon at a table.

    keccak256 of 160 bytes: a tag that is this game's own (32), the table's id (32), keccak256 of the client's id in
    UTF-8 (32), and the opening (64). So nobody can open it under another name or at another table, and nothing that
    opens a channel's commitment opens this one.
    """
    return keccak256(_DOMAIN + table_id + keccak256(client_id.encode()) + opening.encode())


def any_weapon(randomness: Randomness) -> Weapon:
    """A random weapon, all equally likely, so that nobody can predict it."""
    return choose(tuple(Weapon), randomness)


# ----------------------------------------------------------------------------------------------------------- the round


@dataclass(frozen=True, slots=True)
class TableRoundResult:
    """How a round has ended. `winner`: a client's id, None for a tie. `weapons`: what each has played."""

    winner: str | None
    weapons: Mapping[str, Weapon]


def _show_nobody(_action: Json, _result: PlayResult) -> None:
    """The `show` of tables that nobody watches."""


@dataclass
class Round:
    """One client's side of one round: the context of its steps.

    `table_id`: 32 bytes; a table may see many rounds. `clients`: the ids of both. `client_id`: which of them we are.
    `choose`: decides on our weapon, once. `show`: is called with each action and what it has led to, secrets included;
    `forcemove_games.spectator` picks what may be seen. `state`: what we know, see `HiddenRound`.

    Raises `InvalidValue` if the clients are not two, or we are not one of them.
    """

    table_id: bytes
    clients: tuple[str, ...]
    client_id: str
    choose: Choose = any_weapon
    randomness: Randomness = system_randomness
    show: Callable[[Json, PlayResult], object] = _show_nobody
    state: Json = field(init=False, repr=False)
    _opening: Opening | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        require_bytes("table_id", self.table_id, 32)
        if len(self.clients) != PLAYERS or len(set(self.clients)) != PLAYERS or PUBLIC in self.clients:
            raise InvalidValue("clients", self.clients, "the ids of two clients")
        if self.client_id not in self.clients:
            raise InvalidValue("client_id", self.client_id, f"one of {', '.join(self.clients)}")
        self.state = {
            "table_id": self.table_id.hex(),
            "clients": list(self.clients),
            "secrets": {},
            "plays": {},
            "reveals": {},
            "result": None,
        }

    @property
    def result(self) -> TableRoundResult | None:
        """The winner and the weapons; None before everybody has revealed."""
        if self.state["result"] is None:
            return None
        return TableRoundResult(self.state["result"]["winner"], _weapons(self.state))

    def opening(self) -> Opening:
        """The opening of our commitment; the weapon is chosen at the first call."""
        if self._opening is None:
            weapon = self.choose(self.randomness)
            if type(weapon) is not Weapon:
                raise InvalidValue("choose", weapon, "a function that returns a Weapon")
            self._opening = Opening.fresh(weapon, self.randomness)
        return self._opening

    def play(self, action: Json, openings: Mapping[str, Json]) -> None:
        """Play an action of the log, knowing these openings. A refused action has changed nothing."""
        played = play_action(HiddenRound(openings), self.state, action)
        self.state = played.state
        self.show(action, played)


# --------------------------------------------------------------------------------------------------------------- steps


def plays_and_reveals(*, within: float) -> Step[Round]:
    """A round. `within`: seconds that we wait for each action.

    Raises, alike for both clients and naming the culprit: `UnexpectedAction` (a reveal before the last play, a play
    after it), `UnexpectedSender` (a stranger, or a client's second play or reveal), `MalformedAction`, `NoSuchWeapon`,
    `CommitmentNotOpened`, `ActionMissing`; and what the transport finds wrong with a message.
    """
    return sequence(
        local(_play),
        repeat(transition(_accept_play, expects=Play, sender=_to_play, within=within), PLAYERS),
        local(_reveal),
        repeat(transition(_accept_reveal, expects=Reveal, sender=_to_reveal, within=within), PLAYERS),
    )


def _to_play(round_: Round) -> tuple[str, ...]:
    """The clients that are to play. There are as many transitions as clients, so it is never empty."""
    return _missing(round_.state, "Play")


def _to_reveal(round_: Round) -> tuple[str, ...]:
    return _missing(round_.state, "Reveal")


async def _play(queue: Queue, round_: Round) -> None:
    commitment = commitment_of(round_.table_id, round_.client_id, round_.opening())
    await queue.enqueue(Play(round_.client_id, commitment.hex()))


def _accept_play(action: Play, round_: Round) -> None:
    # That two commitments are equal is not a fault of the second client: the copy may have overtaken what it copies. A
    # client that has copied one cannot open it.
    own = round_.opening()
    round_.play(msgspec.to_builtins(action), {round_.client_id: _disclosed(own.choice, own.salt.hex())})


async def _reveal(queue: Queue, round_: Round) -> None:
    own = round_.opening()
    await queue.enqueue(Reveal(round_.client_id, own.choice, own.salt.hex()))


def _accept_reveal(action: Reveal, round_: Round) -> None:
    opened = {"type": "Reveal", "client_id": action.client_id}
    round_.play(opened, {action.client_id: _disclosed(action.choice, action.salt)})


# --------------------------------------------------------------------------------------------------- what viewers know


def _disclosed(choice: int, salt: str) -> Json:
    return {"choice": choice, "salt": salt}


class HiddenRound:
    """The round as a game with secrets: its viewers are both clients and `PUBLIC`.

    State: `table_id` (hex), `clients`, `plays` (commitments by client), `secrets` and `reveals` (openings by client:
    `choice`, `salt`), and `result`: None, or an object with the `winner`, who is None for a tie. A client's view has no
    secrets but its own, the public's none at all. Actions: a Play as on the log, and a Reveal without the opening,
    which is disclosed. Replaying a Reveal verifies the opening, and that nothing else has changed.
    """

    def __init__(self, openings: Mapping[str, Json] | None = None) -> None:
        """`openings`: those that are known where an action is played; none for replaying."""
        self._openings = dict(openings or {})

    def update_state(self, state: Json, action: Json) -> Json:
        """See `forcemove_games.views.ViewedGame`. Raises `ActionNotDue`, `MalformedAction`, `DisclosesMore`,
        `NoSuchWeapon`, `CommitmentNotOpened`."""
        client_id, is_play = action["client_id"], action["type"] == "Play"
        if client_id not in _missing(state, action["type"]):
            raise ActionNotDue(client_id, action["type"])
        expected = _without_secrets(state)
        state = apply_update(state, partial(self._keep if is_play else self._disclose, client_id))
        if not is_play:
            expected["reveals"][client_id] = state["reveals"][client_id]
        if _without_secrets(state) != expected:
            raise DisclosesMore(client_id)
        if is_play:
            state["plays"][client_id] = _bytes32(action["commitment"], client_id).hex()
        else:
            _require_opened(state, client_id)
            state["result"] = _result(state)
        return state

    def filters(self, state: Json) -> dict[str, Filter]:
        """See `forcemove_games.views`."""
        return {viewer: partial(_view, viewer) for viewer in (*state["clients"], PUBLIC)}

    def _keep(self, client_id: str, state: Json) -> None:
        if client_id in self._openings:
            state["secrets"][client_id] = self._openings[client_id]

    def _disclose(self, client_id: str, state: Json) -> None:
        state["secrets"].pop(client_id, None)
        state["reveals"][client_id] = self._openings[client_id]


def _missing(state: Json, type_: str) -> tuple[str, ...]:
    """The clients whose `Play` or `Reveal` is due, in any order: nobody reveals before the last has played."""
    still_to_play = tuple(client_id for client_id in state["clients"] if client_id not in state["plays"])
    if type_ == "Play":
        return still_to_play
    if type_ != "Reveal" or still_to_play:
        return ()
    return tuple(client_id for client_id in state["clients"] if client_id not in state["reveals"])


def _without_secrets(state: Json) -> Json:
    return deepcopy({name: part for name, part in state.items() if name != "secrets"})


def _view(viewer: str, state: Json) -> None:
    secrets = state.pop("secrets")
    if viewer != PUBLIC:
        state["secrets"] = {client_id: secrets[client_id] for client_id in secrets if client_id == viewer}


def _require_opened(state: Json, client_id: str) -> None:
    choice, salt = state["reveals"][client_id]["choice"], _bytes32(state["reveals"][client_id]["salt"], client_id)
    if type(choice) is not int or choice not in range(len(Weapon)):
        raise NoSuchWeapon(client_id, choice)
    commitment = bytes.fromhex(state["plays"][client_id])
    if commitment_of(bytes.fromhex(state["table_id"]), client_id, Opening(choice, salt)) != commitment:
        raise CommitmentNotOpened(client_id, commitment)


def _result(state: Json) -> Json:
    if len(state["reveals"]) < PLAYERS:
        return None
    (one, first), (other, second) = _weapons(state).items()
    winner = one if first.beats(second) else other if second.beats(first) else None
    return {"winner": winner}


def _weapons(state: Json) -> dict[str, Weapon]:
    return {client_id: Weapon(reveal["choice"]) for client_id, reveal in state["reveals"].items()}


def _bytes32(text: str, client_id: str) -> bytes:
    """32 bytes, of which there is one text. Raises `MalformedAction`, which names the client that has said it."""
    try:
        data = bytes.fromhex(text)
    except (TypeError, ValueError):
        data = b""
    if len(data) != 32 or data.hex() != text:
        raise MalformedAction("a commitment and a salt are 32 bytes in lower-case hex", client_id)
    return data
