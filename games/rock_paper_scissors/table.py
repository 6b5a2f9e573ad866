"""Rock-paper-scissors around a table, outside of any channel: two plays, then two reveals, over a shared log.

Everybody commits to a weapon; when both commitments are there, everybody opens its own. In which order the two play,
and the two reveal, does not matter, as long as no reveal comes before the last play. A commitment is a salted hash that
names table and client, so that nobody can take another's for its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from channel.errors import ForcemoveError, InvalidValue
from channel.flow.actions import Action, ActionCodec, MalformedAction
from channel.flow.queue import ActionQueue
from channel.flow.steps import Step, local, repeat, sequence, transition
from channel.protocol.hashing import keccak256
from games.commitment import Opening
from games.randomness import Randomness, system_randomness
from games.rock_paper_scissors.position import Weapon
from games.two_player import PLAYERS

__all__ = ["ROUND", "Play", "PlayedTwice", "Reveal", "RevealedTwice", "Round", "WrongOpening", "play_round"]

_DOMAIN = keccak256(b"forcemove/rock-paper-scissors/table/1")


class Play(Action, frozen=True):
    """Commits to a weapon: the 32 bytes of `Round.commitment_of`, as hex."""

    commitment: str


class Reveal(Action, frozen=True):
    """Opens the commitment. `weapon`: 0 to 2. `salt`: 32 bytes as hex."""

    weapon: int
    salt: str


ROUND: ActionCodec[Play | Reveal] = ActionCodec(Play, Reveal)
"""The codec of such a table."""


@dataclass(eq=False)
class PlayedTwice(ForcemoveError):
    """A client has played already."""

    client_id: str


@dataclass(eq=False)
class RevealedTwice(ForcemoveError):
    """A client has revealed already."""

    client_id: str


@dataclass(eq=False)
class WrongOpening(ForcemoveError):
    """What a client reveals is not what it has committed to."""

    client_id: str


@dataclass
class Round:
    """One client's round. `clients`: both, ours among them. `plays`: commitments, `weapons`: what was revealed, by
    client id. Raises `InvalidValue` where there are not two different clients, or ours is none of them."""

    table_id: bytes
    client_id: str
    clients: tuple[str, str]
    weapon: Weapon
    randomness: Randomness = system_randomness
    plays: dict[str, str] = field(default_factory=dict)
    weapons: dict[str, Weapon] = field(default_factory=dict)
    opening: Opening = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(set(self.clients)) != PLAYERS or self.client_id not in self.clients:
            raise InvalidValue("clients", self.clients, f"two different ones, {self.client_id} among them")
        self.opening = Opening.fresh(self.weapon, self.randomness)

    def commitment_of(self, client_id: str, opening: Opening) -> str:
        """What a client must have played to open it like this: keccak256 of domain, table id, keccak256 of the client's
        id, and the opening's 64 bytes."""
        client = keccak256(client_id.encode())
        return keccak256(_DOMAIN + self.table_id + client + opening.encode()).hex()

    @property
    def winner(self) -> str | None:
        """Who has won, when both have revealed; None where it is a tie."""
        first, second = self.clients
        if self.weapons[first] == self.weapons[second]:
            return None
        return first if self.weapons[first].beats(self.weapons[second]) else second


Queue = ActionQueue[Play | Reveal]


def play_round(*, within: float | None = None) -> Step[Round]:
    """The round; `within`: seconds for each of the four actions. Raises `PlayedTwice`, `RevealedTwice`, `WrongOpening`,
    `MalformedAction`, and as `transition` does, for both clients the same."""
    return sequence(
        local(_play),
        repeat(transition(_note_play, expects=Play, sender=_clients, within=within), PLAYERS),
        local(_reveal),
        repeat(transition(_note_reveal, expects=Reveal, sender=_clients, within=within), PLAYERS),
    )


def _clients(round_: Round) -> tuple[str, str]:
    return round_.clients


async def _play(queue: Queue, round_: Round) -> None:
    await queue.enqueue(Play(round_.client_id, round_.commitment_of(round_.client_id, round_.opening)))


def _note_play(action: Play, round_: Round) -> None:
    if action.client_id in round_.plays:
        raise PlayedTwice(action.client_id)
    round_.plays[action.client_id] = action.commitment


async def _reveal(queue: Queue, round_: Round) -> None:
    await queue.enqueue(Reveal(round_.client_id, int(round_.weapon), round_.opening.salt.hex()))


def _note_reveal(action: Reveal, round_: Round) -> None:
    if action.client_id in round_.weapons:
        raise RevealedTwice(action.client_id)
    try:
        weapon, opening = Weapon(action.weapon), Opening(action.weapon, bytes.fromhex(action.salt))
    except (ValueError, InvalidValue) as error:
        raise MalformedAction(str(error), action.client_id) from None
    if round_.commitment_of(action.client_id, opening) != round_.plays[action.client_id]:
        raise WrongOpening(action.client_id)
    round_.weapons[action.client_id] = weapon
