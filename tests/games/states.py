"""States of games, with everything defaulted that a test does not care about."""

from __future__ import annotations

from typing import Protocol

from forcemove import Allocation, Move, Outcome, VariablePart, address_destination
from forcemove_games.randomness import Randomness
from forcemove_games.tic_tac_toe.position import mark_of

STAKE = 3
BALANCE = 10
ID = bytes.fromhex("c0" * 32)
PLAYING = 10
"""A turn well after the setup; participant 0 has moved, participant 1 moves next."""

_ALICE, _BOB = address_destination(b"\xa1" * 20), address_destination(b"\xb0" * 20)


class Encodable(Protocol):
    def encode(self) -> bytes: ...


def outcome(alice: int = BALANCE, bob: int = BALANCE) -> Outcome:
    return (Allocation(bytes(20), _ALICE, alice), Allocation(bytes(20), _BOB, bob))


def state(position: Encodable | bytes, paid: Outcome | None = None, turn_num: int = PLAYING) -> VariablePart:
    app_data = position if isinstance(position, bytes) else position.encode()
    return VariablePart(outcome() if paid is None else paid, app_data, turn_num)


def final(paid: Outcome | None = None) -> VariablePart:
    return VariablePart(outcome() if paid is None else paid, b"", PLAYING, is_final=True)


def amounts(of: VariablePart | Move) -> tuple[int, ...]:
    return tuple(allocation.amount for allocation in of.outcome)


def cells(*numbers: int) -> int:
    return sum(mark_of(number) for number in numbers)


def always(byte: int) -> Randomness:
    """A source that gives one byte again and again."""
    return lambda count: bytes((byte,)) * count
