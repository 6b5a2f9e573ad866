"""The cost of cards: a shuffle with its proof, its check, a hand's set-up, and a turn of Discard in CPU time; and the
older shuffle by SRA encryption."""

from __future__ import annotations

import time
from itertools import count

from forcemove_games.cards.curve import times_g
from forcemove_games.cards.deck import decode_deck, encode_deck, first_deck
from forcemove_games.cards.shuffle_proof import require_shuffle, shuffle
from forcemove_games.discard.position import PositionType
from forcemove_games.sra.deck import shuffle_between_two
from scripts.measuring.cases import Measured, Row, case, least, medians, timed
from tests.games.discard.players import Pair, kind_of

_CARDS = 52
_CHANNEL = bytes(32)
_TURN = 12
_HANDS = 5
_ENDS = (PositionType.OVER, PositionType.TIED)


@case(Row("sra_shuffle_seconds", "s", "52 cards, two sides, 2048 bits, every check", 1.5))
def sra(rounds: int = 3) -> Measured:
    """A deck that two players shuffle by SRA encryption."""
    return medians(rounds, lambda: {"sra_shuffle_seconds": timed(lambda: shuffle_between_two(_CARDS))})


@case(
    Row("shuffle_prove_ms", "ms", "CPU time: another player's deck of 52 cards shuffled, with the proof", 20),
    Row("shuffle_verify_ms", "ms", "CPU time: that proof checked", 25),
    Row("discard_set_up_ms", "ms", "CPU time: keys, shuffles and deals of 24 cards, made and checked by both", 80),
    Row("discard_turn_ms", "ms", "CPU time: a turn of Discard in memory, proofs made and checked", 5),
)
def cards(rounds: int = 25) -> Measured:
    """Shuffles on the curve with their proofs, and a hand of Discard."""
    key, hands = times_g(_TURN), count()
    deck, _ = shuffle(first_deck(_CARDS, key), key, _CHANNEL, _TURN - 1)
    deck = decode_deck(encode_deck(deck), _CARDS)  # as it comes in a message; the first deck of a hand takes less
    after, proof = shuffle(deck, key, _CHANNEL, _TURN)
    return {
        "shuffle_prove_ms": least(rounds, lambda: shuffle(deck, key, _CHANNEL, _TURN)),
        "shuffle_verify_ms": least(rounds, lambda: require_shuffle(deck, after, proof, key, _CHANNEL, _TURN)),
        "discard_set_up_ms": least(rounds, lambda: Pair(f"set-up {next(hands)}").play_to(PositionType.DEALT)),
        "discard_turn_ms": min(map(_mean_turn, range(_HANDS))),
    }


def _mean_turn(number: int) -> float:
    """Milliseconds of a turn in play: the mean over the turns of a hand."""
    pair, turns = Pair(f"turns {number}"), 0
    pair.play_to(PositionType.DEALT)
    begun = time.process_time()
    while kind_of(pair.newest) not in _ENDS and pair.step():
        turns += 1
    return (time.process_time() - begun) * 1_000 / turns
