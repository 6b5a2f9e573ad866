"""Two clients shuffle, draw and discard over a shared log, told in steps.

What a client does counts when the log gives it back, for itself as for the other. A client's seat is its place in
`CardTable.clients`; seat 0 begins the shuffle. Whoever draws asks for the card at the top, and the other side hands its
key over if its own rules let the drawer draw; whoever discards gives its own key, and the other side sees the card.
When the hand is over, both can give all their keys and see that no card was missing or there twice.

Play it on a signed log (`channel.flow.signed`): who said what is not asked here. Keys are in memory only; a client that
draws them from `games.randomness.seeded` can come back to a hand after a crash.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from channel.errors import MalformedBytes
from channel.flow.actions import Action, ActionCodec, MalformedAction
from channel.flow.queue import ActionQueue
from channel.flow.steps import Step, choice, local, repeat, sequence, transition
from games.randomness import Randomness, system_randomness
from games.sra import deck, pile
from games.sra.arithmetic import decode_numbers, encode_numbers
from games.sra.cipher import DecryptionKey
from games.sra.deck import STEPS, Shuffle
from games.sra.faults import WrongCount
from games.sra.pile import Player, Rule
from games.two_player import PLAYERS

__all__ = [
    "CARDS",
    "AllKeys",
    "CardTable",
    "Deck",
    "Decide",
    "Discard",
    "Draw",
    "Serve",
    "auditing",
    "card_turn",
    "shuffling",
]


class Deck(Action, frozen=True):
    """The deck after a step of the shuffle: each number as 512 hex digits."""

    numbers: tuple[str, ...]


class Draw(Action, frozen=True):
    """Asks for the card at `index`, the top of the pile."""

    index: int


class Serve(Action, frozen=True):
    """Hands over the key of the card at `index` that was asked for: 512 hex digits."""

    index: int
    key: str


class Discard(Action, frozen=True):
    """Lays the card at `index` open, with the discarder's own key for it: 512 hex digits."""

    index: int
    key: str


class AllKeys(Action, frozen=True):
    """Gives the client's key for every card of the deck, when the hand is over: each 512 hex digits."""

    keys: tuple[str, ...]


CARDS: ActionCodec[Deck | Draw | Serve | Discard | AllKeys] = ActionCodec(Deck, Draw, Serve, Discard, AllKeys)
"""The codec of such a table."""

_Read = TypeVar("_Read")
Queue = ActionQueue[Deck | Draw | Serve | Discard | AllKeys]
Decide = Callable[[Player], int | None]
"""What we do when it is our turn: None draws, a number discards the card at that index of our hand."""


@dataclass
class CardTable:
    """One side's context. `clients`: both clients' ids by seat. `shuffle`: begun with `deck.begin`. `rule`: who may
    draw when. `discarded`: the cards that were laid open, in order. `all_keys`: by client, from an audit. `order`: the
    whole deck from the top, after an audit. `player` is there once the deck is shuffled."""

    clients: tuple[str, str]
    shuffle: Shuffle
    rule: Rule = lambda _pile, _seat: True
    randomness: Randomness = system_randomness
    discarded: list[int] = field(default_factory=list)
    all_keys: dict[str, tuple[DecryptionKey, ...]] = field(default_factory=dict, repr=False)
    order: tuple[int, ...] = ()
    _player: Player | None = None
    _sent: Shuffle | None = field(default=None, repr=False)

    @property
    def player(self) -> Player:
        """Our side of the pile. Raises `ShuffleNotFinished` before there is one."""
        return self._player or pile.sit_down(self.shuffle)

    @player.setter
    def player(self, player: Player) -> None:
        self._player = player

    @property
    def name(self) -> str:
        """Our client's id."""
        return self.clients[self.shuffle.seat]

    def is_ours(self, action: Action) -> bool:
        """Whether an action is what we have said ourselves."""
        return action.client_id == self.name


# -------------------------------------------------------------------------------------------------------------- shuffle


def shuffling(*, within: float | None = None) -> Step[CardTable]:
    """The four decks go back and forth. Raises what `deck.receive` and `transition` raise, and `MalformedAction`."""
    one = sequence(local(_send_deck), transition(_accept_deck, expects=Deck, sender=_shuffler, within=within))
    return repeat(one, STEPS)


def _shuffler(table: CardTable) -> str:
    return table.clients[table.shuffle.step % PLAYERS]


async def _send_deck(queue: Queue, table: CardTable) -> None:
    if table.shuffle.is_ours:
        table._sent = deck.send(table.shuffle, table.randomness)
        await queue.enqueue(Deck(table.name, tuple(encode_numbers(table._sent.latest))))


def _accept_deck(action: Deck, table: CardTable) -> None:
    if table.is_ours(action) and table._sent is not None:
        table.shuffle, table._sent = table._sent, None
    else:
        table.shuffle = deck.receive(table.shuffle, _read(action, lambda: decode_numbers(action.numbers)))


# ---------------------------------------------------------------------------------------------------------------- turns


def card_turn(seat: int, decide: Decide, *, within: float | None = None) -> Step[CardTable]:
    """One turn: `seat` draws or discards, and the other side serves. `decide` is asked where the seat is ours.

    Raises what `pile.hand_over`, `pile.take` and `pile.discard` raise, `MalformedAction`, and as `transition` does.
    """

    def mover(table: CardTable) -> str:
        return table.clients[seat]

    def server(table: CardTable) -> str:
        return table.clients[1 - seat]

    async def act(queue: Queue, table: CardTable) -> None:
        if table.shuffle.seat == seat:
            await queue.enqueue(_decided(table, decide(table.player)))

    drawing = sequence(
        transition(_accept_draw, expects=Draw, sender=mover),
        local(_serve),
        transition(_accept_key, expects=Serve, sender=server, within=within),
    )
    discarding = transition(_accept_discard, expects=Discard, sender=mover)
    return sequence(local(act), choice({Draw: drawing, Discard: discarding}, sender=mover, within=within))


def _decided(table: CardTable, index: int | None) -> Draw | Discard:
    if index is None:
        return Draw(table.name, pile.draw(table.player)[1])
    return Discard(table.name, index, pile.discard(table.player, index)[1].encode())


def _accept_draw(action: Draw, table: CardTable) -> None:
    """The drawer waits for the key now. The other side sees whether it owes one, and changes when it has given it."""
    if table.is_ours(action):
        table.player, _ = pile.draw(table.player)
    else:
        pile.hand_over(table.player, action.index, table.rule)


async def _serve(queue: Queue, table: CardTable) -> None:
    top = table.player.pile.top
    if not _waits_for_key(table.player):
        _, key = pile.hand_over(table.player, top, table.rule)
        await queue.enqueue(Serve(table.name, top, key.encode()))


def _waits_for_key(player: Player) -> bool:
    """Whether the last card that left the pile is ours and its key is still to come."""
    last = player.pile.top - 1
    return last >= 0 and player.pile.places[last].holder == player.seat and not player.pile.has_key(last, player.other)


def _accept_key(action: Serve, table: CardTable) -> None:
    if table.is_ours(action):
        table.player, _ = pile.hand_over(table.player, action.index, table.rule)
    else:
        table.player, _ = pile.take(table.player, action.index, _key(action))


def _accept_discard(action: Discard, table: CardTable) -> None:
    if table.is_ours(action):
        card = dict(table.player.hand)[action.index]
        table.player, _ = pile.discard(table.player, action.index)
    else:
        table.player, card = pile.take(table.player, action.index, _key(action))
    table.discarded.append(card)


# ---------------------------------------------------------------------------------------------------------------- audit


def auditing(*, within: float | None = None) -> Step[CardTable]:
    """The hand is over: both give all their keys, and each sees that the deck had all cards, each once.

    Raises what `deck.audit` raises, the same for both: each knows of itself whether it is to blame. And `WrongCount`,
    `InvalidExponent`, `MalformedAction` and as `transition` does, for the counterparty's message.
    """
    keys = transition(_accept_all_keys, expects=AllKeys, sender=_has_not_shown, within=within)
    return sequence(local(_show_all_keys), repeat(keys, PLAYERS), local(_audit))


def _has_not_shown(table: CardTable) -> tuple[str, ...]:
    return tuple(name for name in table.clients if name not in table.all_keys)


async def _show_all_keys(queue: Queue, table: CardTable) -> None:
    keys = tuple(key.disclose().encode() for key in table.player.keys)
    await queue.enqueue(AllKeys(table.name, keys))


def _accept_all_keys(action: AllKeys, table: CardTable) -> None:
    if len(action.keys) != table.shuffle.size:
        raise WrongCount(table.shuffle.size, len(action.keys))
    table.all_keys[action.client_id] = _read(action, lambda: tuple(map(DecryptionKey.decode, action.keys)))


def _audit(_queue: Queue, table: CardTable) -> None:
    first, second = (table.all_keys[name] for name in table.clients)
    table.order = deck.audit(table.player.pile.numbers, first, second)


# ----------------------------------------------------------------------------------------------------------------- keys


def _key(action: Serve | Discard) -> DecryptionKey:
    return _read(action, lambda: DecryptionKey.decode(action.key))


def _read(action: Action, read: Callable[[], _Read]) -> _Read:
    """What a text of the action encodes. Raises `MalformedAction`, which names its client, where it encodes nothing."""
    try:
        return read()
    except MalformedBytes as error:
        raise MalformedAction(str(error), action.client_id) from None
