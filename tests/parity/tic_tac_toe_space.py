"""Every position of tic-tac-toe that play can reach, every legal move, and every illegal neighbour of each.

`run_parity()` compares bytecode and Python on all of them; `scripts/measure parity` times it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, repeat
from multiprocessing import get_context
from typing import NamedTuple

from forcemove import UINT256_MAX, VariablePart
from forcemove.testing.calls import FROM, TO, Bench, TransitionCall, Variation, outcome
from forcemove_games.tic_tac_toe import GAME
from forcemove_games.tic_tac_toe.position import FULL_BOARD, PositionType, decode
from forcemove_games.tic_tac_toe.rules import legal_moves, mark, play_again
from tests.protocol.builders import terms

STAKE = 3
BALANCE = 10
FIRST_TURN = 3

_PROCESSES = os.cpu_count() or 1
_TYPE, _STAKE, _NOUGHTS, _CROSSES = range(4)
_BOARD_BITS = tuple(1 << bit for bit in range(9))
_DIRTY_BITS = (1 << 9, 1 << 128, 1 << 255)
_TYPES = range(len(PositionType) + 1)
_LENGTHS = (0, 96, 127, 129, 160)


def start(turn_num: int = FIRST_TURN) -> VariablePart:
    """The state from which the first round is played; the mover of the next turn is X."""
    return VariablePart(outcome(BALANCE, BALANCE), GAME.initial_app_data(terms(STAKE)), turn_num)


def boards(turn_num: int = FIRST_TURN) -> dict[tuple[int, int], VariablePart]:
    """A state for each board (noughts, crosses) that play reaches, the empty one first."""
    found = {(0, 0): start(turn_num)}
    waiting = [start(turn_num)]
    while waiting:
        state = waiting.pop()
        for successor in marks(state):
            position = decode(successor.app_data)
            board = (position.noughts, position.crosses)
            if board not in found:
                found[board] = successor
                waiting.append(successor)
    return found


def marks(state: VariablePart) -> list[VariablePart]:
    """Every state that one more mark makes; none where the round is over."""
    if decode(state.app_data).position_type in (PositionType.VICTORY, PositionType.DRAW):
        return []
    return [move.after(state) for move in legal_moves(state)]


def moves(turn_num: int = FIRST_TURN) -> Iterator[tuple[VariablePart, VariablePart]]:
    """Every legal move: all marks, and after each end of a round the two steps to the next."""
    for state in boards(turn_num).values():
        successors = marks(state)
        if successors:
            yield from ((state, successor) for successor in successors)
        else:
            first = play_again(state).after(state)
            yield state, first
            yield first, play_again(first).after(first)


def reachable() -> list[VariablePart]:
    """A state of each position that play reaches."""
    return list({at.app_data: at for pair in moves() for at in pair}.values())


def first_move() -> tuple[VariablePart, VariablePart]:
    """A legal move, from the position in which a channel starts."""
    return start(), mark(start(), 4).after(start())


def neighbours(call: TransitionCall) -> list[Variation]:
    """The move itself and, for each field, what differs from it there: each bit, each type, each payment, the stake."""
    stake = call.word(TO, _STAKE, STAKE + 1)
    return [call.unchanged(), *_positions(call, TO), *_moved_marks(call), stake, *_payments(call)]


def neighbours_of_position(call: TransitionCall, side: int) -> list[Variation]:
    """What can be wrong with one of the two states alone, so that it need not be asked again for each move."""
    state = (call.from_, call.to)[side]
    words = [int.from_bytes(state.app_data[i : i + 32], "big") for i in range(0, 128, 32)]
    dirty = [call.word(side, i, words[i] ^ bit) for i in range(4) for bit in _DIRTY_BITS]
    return dirty + [call.length(side, length) for length in _LENGTHS]


def _positions(call: TransitionCall, side: int) -> list[Variation]:
    """Each bit of each board turned over, and each other type."""
    state = (call.from_, call.to)[side]
    words = [int.from_bytes(state.app_data[i : i + 32], "big") for i in range(0, 128, 32)]
    flipped = [call.word(side, i, words[i] ^ bit) for i in (_NOUGHTS, _CROSSES) for bit in _BOARD_BITS]
    return flipped + [call.word(side, _TYPE, kind) for kind in _TYPES if kind != words[_TYPE]]


def _moved_marks(call: TransitionCall) -> list[Variation]:
    """A mark of each side on another cell, which keeps the numbers of marks; and the sides exchanged."""
    position = decode(call.to.app_data)
    free = FULL_BOARD & ~(position.noughts | position.crosses)
    found = [call.both(call.word(TO, _NOUGHTS, position.crosses), call.word(TO, _CROSSES, position.noughts))]
    for index, marks_ in ((_NOUGHTS, position.noughts), (_CROSSES, position.crosses)):
        if marks_ and free:
            found += [call.word(TO, index, marks_ ^ end(marks_) ^ end(free)) for end in (_lowest, _highest)]
    return found


def _lowest(marks_: int) -> int:
    return marks_ & -marks_


def _highest(marks_: int) -> int:
    return 1 << (marks_.bit_length() - 1)


def _payments(call: TransitionCall) -> list[Variation]:
    """Every other number of stakes to either side, a unit more or less, and amounts that do not add up."""
    alice, bob = (allocation.amount for allocation in call.from_.outcome)
    payments = [stakes * STAKE for stakes in (-2, -1, 0, 1, 2)]
    found = [call.amounts(TO, alice + n, bob - n) for n in payments if -alice <= n <= bob]
    alice, bob = (allocation.amount for allocation in call.to.outcome)
    unit_off = ((alice + 1, bob - 1), (alice - 1, bob + 1), (alice + 1, bob), (alice, bob + 1))
    return found + [call.amounts(TO, *amounts) for amounts in unit_off]


def _stakes(call: TransitionCall) -> list[Variation]:
    """Stakes, the same on both sides, that the balances do not cover or that overflow when doubled; full accounts."""
    stakes = (0, BALANCE, BALANCE + STAKE + 1, 2**255, UINT256_MAX)
    found = [call.both(call.word(FROM, _STAKE, stake), call.word(TO, _STAKE, stake)) for stake in stakes]
    full = [call.amounts(FROM, UINT256_MAX, BALANCE), call.amounts(FROM, BALANCE, UINT256_MAX)]
    return [*found, *full, call.amounts(FROM, STAKE - 1, BALANCE), call.amounts(FROM, BALANCE, STAKE - 1)]


class Question(NamedTuple):
    """A move, and which of its two states have not been in an earlier question."""

    from_: VariablePart
    to: VariablePart
    is_from_new: bool
    is_to_new: bool

    def variations(self) -> tuple[TransitionCall, list[Variation]]:
        """The call, and all that is asked about it."""
        call = TransitionCall(self.from_, self.to)
        found = neighbours(call)
        if self.is_from_new:
            found += [*_positions(call, FROM), *neighbours_of_position(call, FROM), *_stakes(call)]
        if self.is_to_new:
            found += neighbours_of_position(call, TO)
        return call, found

    def alone(self) -> tuple[TransitionCall, list[Variation]]:
        """The call, and nothing but the move itself."""
        call = TransitionCall(self.from_, self.to)
        return call, [call.unchanged()]


def questions(turn_num: int = FIRST_TURN) -> Iterator[Question]:
    """All moves."""
    seen: set[tuple[int, bytes]] = set()
    for from_, to in moves(turn_num):
        from_key, to_key = (FROM, from_.app_data), (TO, to.app_data)
        yield Question(from_, to, from_key not in seen, to_key not in seen)
        seen |= {from_key, to_key}


class Parity(NamedTuple):
    """What a comparison found to be equal: all cases, and among them the legal moves, which both accept."""

    cases: int
    moves: int


def compare_share(share: int, shares: int, neighbours_of_one_in: int = 1) -> Parity:
    """Compare one of this many equal shares of all moves, and the illegal neighbours of every one or of one in this
    many.

    With the seats exchanged only the moves themselves and the wrong side's credit are asked about.
    """
    bench = Bench(GAME.artifact, GAME)
    accepted = 0
    for number, question in enumerate(islice(questions(), share, None, shares)):
        has_neighbours = number % neighbours_of_one_in == 0
        accepted += bench.compare(*(question.variations() if has_neighbours else question.alone()))[0]
    for from_, to in islice(moves(FIRST_TURN + 1), share, None, shares):
        call = TransitionCall(from_, to)
        accepted += bench.compare(call, [call.unchanged(), call.amounts(TO, *_swapped(to))])[0]
    return Parity(bench.cases, accepted)


def _swapped(state: VariablePart) -> tuple[int, int]:
    """What the state pays to each, exchanged: the wrong side is credited."""
    alice, bob = state.outcome
    return bob.amount, alice.amount


def compare_all() -> Parity:
    """Compare all cases, on all cores."""
    with ProcessPoolExecutor(_PROCESSES, mp_context=get_context("spawn")) as pool:
        shares = list(pool.map(compare_share, range(_PROCESSES), repeat(_PROCESSES)))
    return Parity(sum(share.cases for share in shares), sum(share.moves for share in shares))


def run_parity() -> tuple[int, float]:
    """Compare all cases; returns how many there were and the seconds that they took."""
    started = time.perf_counter()
    return compare_all().cases, time.perf_counter() - started
