"""One side at the table, and its actions on cards: dealing, drawing, discarding, turning up.

Each is a pure function that returns a new value. For a draw, the other side gives its key of the card at the top, and
the drawer's own stays hidden; a hand is dealt with all keys at once. For a discard, the drawer gives its own, too; to
turn a card up, both give theirs.

After an error the old value is still valid. `CardFault`s are the counterparty's, `LocalError`s ours: the `PileRules` of
a game bind both sides alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from forcemove import InvalidValue
from forcemove_games.sra import faults
from forcemove_games.sra.cipher import CipherKey, DecryptionKey
from forcemove_games.sra.deck import Shuffle, open_card
from forcemove_games.sra.pile import Pile, PileRules, lift, publish, require_unseen
from forcemove_games.two_player import PLAYERS


@dataclass(frozen=True, slots=True)
class Player:
    """One side at the table. `seat`: 0 or 1. `hand`: index and card of each card that it holds."""

    seat: int
    pile: Pile
    keys: tuple[CipherKey, ...] = field(repr=False)
    hand: tuple[tuple[int, int], ...] = field(default=(), repr=False)

    @property
    def other(self) -> int:
        """The counterparty's seat."""
        return 1 - self.seat


def sit_down(shuffle: Shuffle) -> Player:
    """A player with the shuffled deck before it. Raises `ShuffleNotFinished`."""
    if not shuffle.is_finished:
        raise faults.ShuffleNotFinished(shuffle.step)
    return Player(shuffle.seat, Pile(shuffle.latest), shuffle.secrets.card_keys)


# -------------------------------------------------------------------------------------------------------------- dealing


def deal(player: Player, count: int) -> Player:
    """Deal the next `count` cards to seat 0, and this many after them to seat 1. No side sees one yet: both call this
    when the game says so, and then `give_hand`. Raises `InvalidValue` unless there are this many cards."""
    if not 1 <= count <= player.pile.left // PLAYERS:
        raise InvalidValue("count", count, f"1 to {player.pile.left // PLAYERS} cards for each side")
    pile = player.pile
    for seat in range(PLAYERS):
        for _ in range(count):
            pile = lift(pile, seat, pile.top)
    return replace(player, pile=pile)


def give_hand(player: Player) -> tuple[Player, tuple[DecryptionKey, ...]]:
    """Our keys for all dealt cards that the other side cannot see yet, in their order, to be sent."""
    indices = _unseen(player.pile, player.other)
    for index in indices:
        player, _ = _give(player, index)
    return player, tuple(player.keys[index].disclose() for index in indices)


def take_hand(player: Player, keys: Sequence[DecryptionKey]) -> Player:
    """Accept the other's keys for all cards that were dealt to us. Raises `WrongCount`, and what `take` raises."""
    indices = _unseen(player.pile, player.seat)
    if len(keys) != len(indices):
        raise faults.WrongCount(len(indices), len(keys))
    for index, key in zip(indices, keys, strict=True):
        player, _ = take(player, index, key)
    return player


def _unseen(pile: Pile, seat: int) -> tuple[int, ...]:
    """The dealt cards of a seat that lack the other's key."""
    return tuple(index for index in pile.held_by(seat) if not pile.has_key(index, 1 - seat))


# -------------------------------------------------------------------------------------------------------------- drawing


def draw(player: Player, rules: PileRules) -> tuple[Player, int]:
    """Ask for the card at the top: the index to ask for. `take` then accepts its key.

    Raises `NoCardToDraw`, and `OurDrawNotAllowed` where the rules answer anything but True.
    """
    _require_cards_left(player)
    top = player.pile.top
    if rules.may_draw(player.pile, player.seat) is not True:
        raise faults.OurDrawNotAllowed(top)
    return replace(player, pile=lift(player.pile, player.seat, top)), top


def hand_over(player: Player, index: int, rules: PileRules) -> tuple[Player, DecryptionKey]:
    """Answer the counterparty, who asks for the card at `index`: our key for it, to be sent.

    Raises `PileEmpty`; `NotTheTop`; `DrawNotAllowed` where the rules answer anything but True. After any error, an
    error that a rule raises included, the key has not left this function.
    """
    lifted = lift(player.pile, player.other, index)
    if rules.may_draw(player.pile, player.other) is not True:
        raise faults.DrawNotAllowed(player.other, index)
    return _give(replace(player, pile=lifted), index)


def take(player: Player, index: int, key: DecryptionKey) -> tuple[Player, int]:
    """Accept the counterparty's key for a card that we have asked for, and see which card it is.

    Raises what `publish` raises, `KeyNotDue` where the card is not ours to see, `CardTwice` where we have it already.
    """
    pile = publish(player.pile, player.other, index, key)
    _require_holder(pile, index, player.seat, player.other)
    card = open_card(pile.numbers, index, key, player.keys[index].disclose())
    require_unseen(card, index, (*pile.open_cards, *player.hand))
    return replace(player, pile=pile, hand=(*player.hand, (index, card))), card


# ------------------------------------------------------------------------------------------------------------ laid open


def turn_up(player: Player) -> tuple[Player, int]:
    """Turn up the card at the top, when the game says so: its index, for which both sides then `give` their keys.
    Raises `NoCardToDraw`."""
    _require_cards_left(player)
    top = player.pile.top
    return replace(player, pile=lift(player.pile, None, top)), top


def give(player: Player, index: int) -> tuple[Player, DecryptionKey]:
    """Our key for a card that is turned up, to be sent. Raises `NotInHand` for any other card; if the other's key came
    before, what `record_turned` raises."""
    if not 0 <= index < player.pile.top or player.pile.places[index].holder is not None:
        raise faults.NotInHand(index)
    return _give(player, index)


def record_turned(player: Player, index: int, key: DecryptionKey) -> Player:
    """Accept the counterparty's key for a card that is turned up. Raises what `publish` raises, `KeyNotDue` for any
    other card, and `CardTwice` where we have the card in our hand."""
    pile = publish(player.pile, player.other, index, key)
    _require_holder(pile, index, None, player.other)
    return _seen(player, pile, index)


def key_to_discard(player: Player, index: int, rules: PileRules) -> DecryptionKey:
    """Our key for a card of our hand, which opens the card to all, to be sent.

    Raises `NotInHand`, and `OurDiscardNotAllowed` where the rules answer anything but True.
    """
    held = dict(player.hand)
    if index not in held:
        raise faults.NotInHand(index)
    if rules.may_discard(player.pile, player.seat, held[index]) is not True:
        raise faults.OurDiscardNotAllowed(index, held[index])
    return player.keys[index].disclose()


def discard(player: Player, index: int, rules: PileRules) -> tuple[Player, DecryptionKey]:
    """Lay down the card at `index`: our key for it. Raises what `key_to_discard` raises."""
    key_to_discard(player, index, rules)
    hand = tuple(each for each in player.hand if each[0] != index)
    return _give(replace(player, hand=hand), index)


def record_discard(player: Player, index: int, key: DecryptionKey, rules: PileRules) -> tuple[Player, int]:
    """Accept the counterparty's discard, and see which card it is.

    Raises what `publish` raises, `KeyNotDue` where the counterparty does not hold that card, `CardTwice` where we have
    it in our hand, and `DiscardNotAllowed` where the rules answer anything but True.
    """
    pile = publish(player.pile, player.other, index, key)
    _require_holder(pile, index, player.other, player.other)
    seen = _seen(player, pile, index)
    card = pile.laid[-1]
    if rules.may_discard(player.pile, player.other, card) is not True:
        raise faults.DiscardNotAllowed(player.other, index, card)
    return seen, card


def _seen(player: Player, pile: Pile, index: int) -> Player:
    """The player with a pile in which the card at `index` may have become open."""
    card = pile.places[index].card
    if card is not None:
        require_unseen(card, index, player.hand)
    return replace(player, pile=pile)


def _require_holder(pile: Pile, index: int, holder: int | None, giver: int) -> None:
    if pile.places[index].holder != holder:
        raise faults.KeyNotDue(giver, index)


def _give(player: Player, index: int) -> tuple[Player, DecryptionKey]:
    key = player.keys[index].disclose()
    return _seen(player, publish(player.pile, player.seat, index, key), index), key


def _require_cards_left(player: Player) -> None:
    if player.pile.is_empty:
        raise faults.NoCardToDraw
