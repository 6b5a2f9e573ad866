"""The rules: the twin of `ConnectFour.sol`, with the same checks in the same order and the same errors; the moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forcemove import Allocation, AppError, Move, Outcome, TransitionRow, VariablePart
from tests.scaffold.connect_four.position import (
    BOARD,
    BOTTOM,
    COLUMNS,
    ROWS,
    MalformedPosition,
    Position,
    PositionType,
    WrongPositionLength,
    decode,
    has_four,
)

__all__ = ["ERRORS", "TABLE", "board_before", "can_begin", "drop", "legal_moves", "valid_transition"]

_WAITING, _PLAYING = PositionType

TABLE = (
    TransitionRow(_WAITING, _PLAYING, "next", "begin", "+1", ("one disc on an empty board", "both can pay the stake")),
    TransitionRow(_PLAYING, _PLAYING, "next", "drop", "+2", ("one disc in the lowest free cell of a column",)),
    TransitionRow(_PLAYING, _WAITING, "next", "win", "+2", ("one disc completes a line of four",)),
    TransitionRow(_PLAYING, _WAITING, "next", "fill the board", "+1", ("one disc takes the last cell", "no line")),
)
"""Every kind of legal move. What the signer takes is from the other."""


@dataclass(eq=False)
class NotTwoParticipants(AppError):
    """Two play, and each has one allocation."""

    participants: int
    allocations: int


@dataclass(eq=False)
class NotOneAsset(AppError):
    """All allocations are of one asset."""

    first: bytes
    another: bytes


@dataclass(eq=False)
class DestinationChanged(AppError):
    """Allocation `index` must keep its destination."""

    index: int
    from_: bytes
    to: bytes


@dataclass(eq=False)
class StakeChanged(AppError):
    """The stake stays as it is as long as the channel lives."""

    from_: int
    to: int


@dataclass(eq=False)
class OtherDiscsChanged(AppError):
    """A move leaves the other's discs as they are."""

    from_: int
    to: int


@dataclass(eq=False)
class NotOneNewDisc(AppError):
    """A move adds one disc to the mover's, in the lowest free cell of a column."""

    from_: int
    to: int


@dataclass(eq=False)
class WrongType(AppError):
    """A line of four and a full board end the round, and nothing else does."""

    expected: int
    submitted: int


@dataclass(eq=False)
class BalanceTooLow(AppError):
    """Allocation `index` cannot give `stakes` times `stake`."""

    index: int
    balance: int
    stakes: int
    stake: int


@dataclass(eq=False)
class WrongAmount(AppError):
    """After this move allocation `index` holds `expected`."""

    index: int
    expected: int
    submitted: int


ERRORS: dict[str, type[AppError]] = {
    error.__name__: error
    for error in (
        NotTwoParticipants,
        NotOneAsset,
        DestinationChanged,
        WrongPositionLength,
        MalformedPosition,
        StakeChanged,
        OtherDiscsChanged,
        NotOneNewDisc,
        WrongType,
        BalanceTooLow,
        WrongAmount,
    )
}
"""The twins of the contract's errors, by name."""


def valid_transition(_channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """Whether `to` may follow `from_`: True, or the error that forbids it is raised."""
    _require_seats(from_.outcome, to.outcome, num_participants)
    before, after = decode(from_.app_data), decode(to.app_data)
    if after.stake != before.stake:
        raise StakeChanged(before.stake, after.stake)
    mine, others = board_before(before)
    if after.next != others:
        raise OtherDiscsChanged(others, after.next)
    new = after.last ^ mine
    if not new & _free(mine | others) or new & (new - 1):
        raise NotOneNewDisc(mine, after.last)
    expected = _type_after(after.last, others)
    if after.position_type != expected:
        raise WrongType(expected, after.position_type)
    _require_paid(from_, to, before, _stakes(before, after.last))
    return True


def _require_seats(from_: Outcome, to: Outcome, seats: int) -> None:
    for outcome in (from_, to):
        if seats != 2 or len(outcome) != 2:
            raise NotTwoParticipants(seats, len(outcome))
    for index, (old, new) in enumerate(zip(from_, to, strict=True)):
        if old.asset != from_[0].asset:
            raise NotOneAsset(from_[0].asset, old.asset)
        if new.destination != old.destination:
            raise DestinationChanged(index, old.destination, new.destination)


def _require_paid(from_: VariablePart, to: VariablePart, before: Position, stakes: int) -> None:
    """The mover takes its stakes from the other; to begin a round both must have one."""
    mover = (from_.turn_num + 1) % 2
    for seat, entry in enumerate(from_.outcome):
        given = stakes if seat != mover else int(before.position_type is _WAITING)
        if entry.amount < given * before.stake:
            raise BalanceTooLow(seat, entry.amount, given, before.stake)
    taken = stakes * before.stake
    _require_amount(to.outcome, 1 - mover, from_.outcome[1 - mover].amount - taken)
    _require_amount(to.outcome, mover, from_.outcome[mover].amount + taken)


def _require_amount(outcome: Outcome, index: int, expected: int) -> None:
    if outcome[index].amount != expected:
        raise WrongAmount(index, expected, outcome[index].amount)


def board_before(position: Position) -> tuple[int, int]:
    """The discs of the next mover and of the other, on the board that the next move is made on."""
    return (0, 0) if position.position_type is _WAITING else (position.next, position.last)


def _free(filled: int) -> int:
    """The lowest free cell of each column."""
    return filled + BOTTOM & BOARD & ~filled


def _type_after(last: int, others: int) -> PositionType:
    return _WAITING if has_four(last) or last | others == BOARD else _PLAYING


def _stakes(before: Position, last: int) -> int:
    """What the mover takes, in stakes: then it holds one of the other's or, where nobody has won, each its own."""
    if before.position_type is _WAITING:
        return 1
    return 1 if last | before.last == BOARD and not has_four(last) else 2


# --------------------------------------------------------------------------------------------------------------- moves


def can_begin(outcome: Outcome, stake: int) -> bool:
    """Whether both can pay for a round."""
    return all(entry.amount >= stake for entry in outcome)


def drop(state: VariablePart, column: int) -> Move | None:
    """The move that drops a disc into a column, from 0; None where it is full."""
    before = decode(state.app_data)
    mine, others = board_before(before)
    new = _free(mine | others) & (1 << ROWS) - 1 << (ROWS + 1) * column
    if not new:
        return None
    after = Position(_type_after(mine | new, others), before.stake, mine | new, others)
    taken = _stakes(before, mine | new) * before.stake
    mover = (state.turn_num + 1) % 2
    changed = [
        Allocation(entry.asset, entry.destination, entry.amount + (taken if seat == mover else -taken))
        for seat, entry in enumerate(state.outcome)
    ]
    return Move(tuple(changed), after.encode())


def legal_moves(state: VariablePart) -> Sequence[Move]:
    """Every legal move; none where no round can begin."""
    position = decode(state.app_data)
    if position.position_type is _WAITING and not can_begin(state.outcome, position.stake):
        return []
    return [move for column in range(COLUMNS) if (move := drop(state, column)) is not None]
