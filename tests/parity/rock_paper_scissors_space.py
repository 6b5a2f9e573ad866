"""The whole table of rock-paper-scissors: all pairs of position types, plays, payments and rounds, and dirty fields.

`run_parity()` compares bytecode and Python on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import product

from msgspec.structs import replace

from forcemove import UINT256_MAX, VariablePart
from forcemove.testing.calls import FROM, ID, TO, Bench, TransitionCall, Variation, outcome
from forcemove_games.commitment import Opening
from forcemove_games.rock_paper_scissors import GAME
from forcemove_games.rock_paper_scissors.openings import pre_commit_of
from forcemove_games.rock_paper_scissors.position import Position, PositionType, Weapon, initial
from forcemove_games.rock_paper_scissors.rules import legal_moves, propose

STAKE = 3
BALANCE = 10
ROUND = 7
SALT = b"\x5a" * 32

_FIRST_TURN = 10
_STAKE, _ROUND_NUM = 1, 8
_WORDS = range(9)
_VALUES = (0, 1, 2, 3, 4, 1 << 128, 1 << 255, UINT256_MAX)
_LENGTHS = (0, 256, 287, 289, 320)
_TURNS = (3, 4)


def positions(proposed_at: int) -> list[Position]:
    """Each type with each of its plays, proposed on this turn."""
    start, hidden = Position(PositionType.START, STAKE, ID, round_num=ROUND), [Opening(a, SALT) for a in Weapon]
    proposed = [
        replace(
            start,
            position_type=PositionType.ROUND_PROPOSED,
            pre_commit=pre_commit_of(ID, proposed_at, each),
            proposed_at=proposed_at,
        )
        for each in hidden
    ]
    accepted = [
        replace(each, position_type=PositionType.ROUND_ACCEPTED, b_play=int(b)) for each, b in product(proposed, Weapon)
    ]
    revealed = [
        replace(each, position_type=PositionType.REVEAL, a_play=opening.choice, salt=SALT)
        for each, (opening, _) in zip(accepted, product(hidden, Weapon), strict=True)
    ]
    return [start, *proposed, *accepted, *revealed]


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
    return _start(), propose(_start(), Opening(Weapon.ROCK, SALT)).after(_start())


def _start() -> VariablePart:
    return VariablePart(outcome(BALANCE, BALANCE), initial(ID, STAKE).encode(), _FIRST_TURN)


def pairs() -> Iterator[TransitionCall]:
    """Every pair of positions, with either participant as the mover. All were proposed on the turn of the second."""
    balances = outcome(BALANCE, BALANCE)
    for turn_num in _TURNS:
        for old, new in product(positions(turn_num + 1), positions(turn_num + 1)):
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
