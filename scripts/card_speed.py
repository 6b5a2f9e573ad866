"""What cards cost in CPU time: a shuffle with its proof, its check, a hand's set-up, and a turn of Discard. Each is the
least of some rounds, as on a core that nobody else uses."""

from __future__ import annotations

import time
from collections.abc import Callable

from forcemove_games.cards.curve import Point, times_g
from forcemove_games.cards.deck import Deck, decode_deck, encode_deck, first_deck
from forcemove_games.cards.shuffle_proof import require_shuffle, shuffle
from forcemove_games.discard.position import PositionType
from tests.games.discard.players import Pair, kind_of

__all__ = ["discard_set_up_ms", "discard_turn_ms", "shuffle_prove_ms", "shuffle_verify_ms"]

_CARDS = 52
_CHANNEL = bytes(32)
_TURN = 12
_ROUNDS = 25
_HANDS = 5
_ENDS = (PositionType.OVER, PositionType.TIED)


def shuffle_prove_ms() -> float:
    """Milliseconds for another player's deck in a new order, with new masks and the proof. (The first deck of a hand
    takes less.)"""
    key, deck = _shuffled()
    return _least(lambda: shuffle(deck, key, _CHANNEL, _TURN))


def shuffle_verify_ms() -> float:
    """Milliseconds for the check of such a proof."""
    key, deck = _shuffled()
    after, proof = shuffle(deck, key, _CHANNEL, _TURN)
    return _least(lambda: require_shuffle(deck, after, proof, key, _CHANNEL, _TURN))


def discard_set_up_ms() -> float:
    """Milliseconds from the first key to cards in both hands, for both players: all moves, and all that is checked."""
    labels = (f"set-up {number}" for number in range(_ROUNDS))
    return min(_milliseconds(lambda label=label: Pair(label).play_to(PositionType.DEALT)) for label in labels)  # type: ignore[misc]


def discard_turn_ms() -> float:
    """Milliseconds of a turn in play, proofs made and checked: the mean over the turns of a hand, the least of some."""
    return min(map(_mean_turn, range(_HANDS)))


def _mean_turn(number: int) -> float:
    pair, turns = Pair(f"turns {number}"), 0
    pair.play_to(PositionType.DEALT)
    begun = time.process_time()
    while kind_of(pair.newest) not in _ENDS and pair.step():
        turns += 1
    return (time.process_time() - begun) * 1_000 / turns


def _shuffled() -> tuple[Point, Deck]:
    """A joint key, and a deck that one player has shuffled, as it comes in a message."""
    key = times_g(_TURN)
    deck, _ = shuffle(first_deck(_CARDS, key), key, _CHANNEL, _TURN - 1)
    return key, decode_deck(encode_deck(deck), _CARDS)


def _least(part: Callable[[], object]) -> float:
    return min(_milliseconds(part) for _ in range(_ROUNDS))


def _milliseconds(part: Callable[[], object]) -> float:
    begun = time.process_time()
    part()
    return (time.process_time() - begun) * 1_000
