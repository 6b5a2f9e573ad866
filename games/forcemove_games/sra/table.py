"""A table at which two clients play cards over a log: their messages, and what one side knows.

A client's seat is its place in `CardTable.clients`; seat 0 begins the shuffle. A game adds actions and data of its own
by subclasses. Knows no step; see `flow`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from forcemove import InvalidValue, MalformedBytes
from forcemove.flow.actions import Action, ActionCodec, MalformedAction, type_of
from forcemove.flow.queue import ActionQueue
from forcemove_games.randomness import Randomness, system_randomness
from forcemove_games.sra import player
from forcemove_games.sra.arithmetic import Numbers, decode_numbers
from forcemove_games.sra.cipher import DecryptionKey
from forcemove_games.sra.deck import DisclosedKeys, Shuffle
from forcemove_games.sra.pile import ANYTHING, PileRules
from forcemove_games.sra.player import Player
from forcemove_games.two_player import PLAYERS


class Deck(Action, frozen=True):
    """The deck after a step of the shuffle: each number as 512 hex digits."""

    numbers: tuple[str, ...]


class Deal(Action, frozen=True):
    """Hands over the keys of all cards that lie before the other side, in their order: each 512 hex digits."""

    keys: tuple[str, ...]


class TurnUp(Action, frozen=True):
    """Gives the client's key of the card at `index`, which is turned up for all: 512 hex digits."""

    index: int
    key: str


class Draw(Action, frozen=True):
    """Asks for the card at `index`, the top of the pile."""

    index: int


class Serve(Action, frozen=True):
    """Hands over the key of the card at `index` that was asked for: 512 hex digits."""

    index: int
    key: str


class DiscardCard(Action, frozen=True, tag="Discard"):
    """Lays the card at `index` open, with the discarder's own key for it: 512 hex digits."""

    index: int
    key: str


class AllKeys(Action, frozen=True):
    """Gives the client's key of the shuffle's first phase, and that of every card of the deck, when the hand is over:
    each 512 hex digits."""

    phase_key: str
    keys: tuple[str, ...]


CARDS: ActionCodec[Deck | Deal | TurnUp | Draw | Serve | DiscardCard | AllKeys] = ActionCodec(
    Deck, Deal, TurnUp, Draw, Serve, DiscardCard, AllKeys
)
"""The codec of such a table. A game with actions of its own makes one of `CARDS.types` and these."""

Queue = ActionQueue[Deck | Deal | TurnUp | Draw | Serve | DiscardCard | AllKeys]
_Read = TypeVar("_Read")


def keys_of(action: Action, texts: tuple[str, ...]) -> tuple[DecryptionKey, ...]:
    """The keys in an action. Raises `MalformedAction`, which names its client, and `InvalidExponent`."""
    return _read(action, lambda: tuple(map(DecryptionKey.decode, texts)))


def numbers_of(action: Action, texts: tuple[str, ...]) -> Numbers:
    """The numbers in an action. Raises `MalformedAction`, which names its client."""
    return _read(action, lambda: decode_numbers(texts))


def _read(action: Action, read: Callable[[], _Read]) -> _Read:
    try:
        return read()
    except MalformedBytes as error:
        raise MalformedAction(str(error), action.client_id) from None


@dataclass
class CardTable:
    """One side's context. `clients`: both clients' ids by seat. `shuffle`: begun with `deck.begin`. `rules`: the draws
    and discards that are allowed. `shown`: the keys that were given away for the audit, by client. `order`: the whole
    deck from the top, after an audit. `player` is there once the deck is shuffled.

    Raises `InvalidValue` unless there are two different clients.
    """

    clients: tuple[str, str]
    shuffle: Shuffle
    rules: PileRules = ANYTHING
    randomness: Randomness = system_randomness
    shown: dict[str, DisclosedKeys] = field(default_factory=dict, repr=False)
    order: tuple[int, ...] = ()
    sent: Shuffle | None = field(default=None, repr=False)
    """The shuffle after the deck that we have posted, until it comes back."""
    _player: Player | None = None

    def __post_init__(self) -> None:
        if len(self.clients) != PLAYERS or len(set(self.clients)) != PLAYERS:
            raise InvalidValue("clients", self.clients, "the ids of two clients")

    @property
    def player(self) -> Player:
        """Our side of the pile. Raises `ShuffleNotFinished` before the shuffle is done."""
        return self._player or player.sit_down(self.shuffle)

    @player.setter
    def player(self, changed: Player) -> None:
        self._player = changed

    @property
    def name(self) -> str:
        """Our client's id."""
        return self.clients[self.shuffle.seat]

    @property
    def other(self) -> str:
        """The counterparty's id."""
        return self.clients[1 - self.shuffle.seat]

    def is_ours(self, action: Action) -> bool:
        """Whether an action is our own."""
        return action.client_id == self.name

    def draw(self) -> Draw:
        """The action with which we ask for the top card. Raises what `player.draw` raises."""
        return Draw(self.name, player.draw(self.player, self.rules)[1])

    def discard(self, index: int) -> DiscardCard:
        """The action with which we lay down the card at `index`. Raises what `player.key_to_discard` raises."""
        return DiscardCard(self.name, index, player.key_to_discard(self.player, index, self.rules).encode())

    def require_lawful(self, action: Action) -> None:
        """Raise a `LocalError` where the rules forbid us this action: called before we post the first action of our
        turn.

        A game with actions of its own checks them here, and calls this for the others.
        """
        lawful: Action = action
        if isinstance(action, Draw):
            lawful = self.draw()
        elif isinstance(action, DiscardCard):
            lawful = self.discard(action.index)
        if lawful != action or not self.is_ours(action):
            raise InvalidValue("action", type_of(type(action)), "as the table's own draw and discard make it")
