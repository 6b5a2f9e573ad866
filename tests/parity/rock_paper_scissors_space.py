"""The whole table of rock-paper-scissors: all pairs of position types, plays, payments and rounds, and dirty fields.

`run_parity()` compares bytecode and Python on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

from forcemove import UINT256_MAX, VariablePart
from forcemove.testing.calls import FROM, TO, Bench, TransitionCall, Variation, outcome
from forcemove_games.commitment import Opening, commit
from forcemove_games.rock_paper_scissors import GAME
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon
from forcemove_games.rock_paper_scissors.rules import legal_moves, propose
from tests.protocol.builders import terms

STAKE = 3
BALANCE = 10
ROUND = 7
SALT = b"\x5a" * 32

_FIRST_TURN = 10
_STAKE, _ROUND_NUM = 1, 6
_WORDS = range(7)
_VALUES = (0, 1, 2, 3, 4, 1 << 128, 1 << 255, UINT256_MAX)
_LENGTHS = (0, 192, 223, 225, 256)
_TURNS = (3, 4)


def positions() -> list[Position]:
    """Each type with each of its plays."""
    proposed = [Position(PositionType.ROUND_PROPOSED, STAKE, commit(a, SALT), round_num=ROUND) for a in Weapon]
    played = [(commit(a, SALT), int(b), int(a)) for a, b in product(Weapon, Weapon)]
    return [
        Position(PositionType.START, STAKE, round_num=ROUND),
        *proposed,
        *(
            Position(PositionType.ROUND_ACCEPTED, STAKE, commitment, b, 0, round_num=ROUND)
            for commitment, b, _ in played
        ),
        *(Position(PositionType.REVEAL, STAKE, commitment, b, a, SALT, ROUND) for commitment, b, a in played),
    ]


def reachable() -> list[VariablePart]:
    """A state of each position that play reaches in one round and the beginning of the next, for each weapon of A's."""
    found = {}
    for weapon in Weapon:
        waiting = [_start()]
        while waiting and waiting[0].turn_num < _FIRST_TURN + 5:
            at = waiting.pop(0)
            found[at.app_data] = at
            waiting += [move.after(at) for move in legal_moves(at, Opening(weapon, SALT))]
    return list(found.values())


def first_move() -> tuple[VariablePart, VariablePart]:
    """A legal move, from the position in which a channel starts."""
    return _start(), propose(_start(), commit(Weapon.ROCK, SALT)).after(_start())


def _start() -> VariablePart:
    return VariablePart(outcome(BALANCE, BALANCE), GAME.initial_app_data(terms(STAKE)), _FIRST_TURN)


def pairs() -> Iterator[TransitionCall]:
    """Every pair of positions, with either participant as the mover."""
    for turn_num, old, new in product(_TURNS, positions(), positions()):
        balances = outcome(BALANCE, BALANCE)
        yield TransitionCall(
            VariablePart(balances, old.encode(), turn_num), VariablePart(balances, new.encode(), turn_num + 1)
        )


def neighbours(call: TransitionCall) -> list[Variation]:
    """What is asked about a pair: payments in each of three rounds, every odd value of every word, lengths, stakes."""
    rounds = [call.word(TO, _ROUND_NUM, number) for number in (ROUND - 1, ROUND, ROUND + 1)]
    found = [call.both(payment, at) for payment, at in product(_payments(call), rounds)]
    for side in (FROM, TO):
        found += [call.word(side, index, value) for index, value in product(_WORDS, _VALUES)]
        found += [call.length(side, length) for length in _LENGTHS]
        found += [call.amounts(side, STAKE - 1, BALANCE), call.amounts(side, BALANCE, STAKE - 1)]
        found += [call.amounts(side, UINT256_MAX, BALANCE), call.amounts(side, BALANCE, UINT256_MAX)]
    return found + _stakes(call) + [call.both(call.word(FROM, _ROUND_NUM, UINT256_MAX), at) for at in rounds]


def _payments(call: TransitionCall) -> list[Variation]:
    """Every number of stakes to either side, and a unit more or less: of `to`, but built to be joined with another."""
    payments = [stakes * STAKE + units for stakes in (-2, -1, 0, 1, 2) for units in (-1, 0, 1)]
    return [call.amounts(TO, BALANCE + payment, BALANCE - payment) for payment in payments]


def _stakes(call: TransitionCall) -> list[Variation]:
    """Stakes, the same on both sides, that the balances do not cover or that overflow when doubled."""
    stakes = (0, BALANCE, BALANCE + 1, 2**255, UINT256_MAX)
    return [call.both(call.word(FROM, _STAKE, stake), call.word(TO, _STAKE, stake)) for stake in stakes]


def run_parity() -> tuple[int, float]:
    """Compare all of it; returns how many cases there were and the seconds that they took."""
    started = time.perf_counter()
    bench = Bench(GAME.artifact, GAME)
    for call in pairs():
        bench.compare(call, neighbours(call))
    return bench.cases, time.perf_counter() - started
