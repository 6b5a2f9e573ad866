"""The rules: the twin of `HeapGame.sol`, with the same checks in the same order and the same errors; and the moves."""

from __future__ import annotations

from collections.abc import Sequence

from forcemove import Allocation, AppError, Move, Outcome, TransitionRow, VariablePart

from heap_game.position import (
    MOST,
    SIZE,
    MalformedPosition,
    Position,
    PositionType,
    WrongPositionLength,
    decode,
)

__all__ = ["ERRORS", "TABLE", "can_begin", "heap_before", "legal_moves", "take", "valid_transition"]

_WAITING, _TAKING = PositionType

TABLE = (
    TransitionRow(_WAITING, _TAKING, "next", "begin", "+1 of each", ("takes 1 to 3 of 10", "all can pay the stake")),
    TransitionRow(_TAKING, _TAKING, "next", "take", "+n of the last mover", ("takes 1 to 3", "some are left")),
    TransitionRow(_TAKING, _WAITING, "next", "take the last", "+n of the last mover", ("takes 1 to 3",)),
)
"""Every kind of legal move."""


class NotOneAllocationEach(AppError):
    """Each participant has one allocation."""

    count: int


class NotOneAsset(AppError):
    """All allocations are of one asset."""

    first: bytes
    another: bytes


class DestinationChanged(AppError):
    """Allocation `index` must keep its destination."""

    index: int
    from_: bytes
    to: bytes


class UnwantedEvidence(AppError):
    """The game needs no evidence; what nobody needs would only make a dispute dear."""

    length: int


class StakeChanged(AppError):
    """The stake stays as it is as long as the channel lives."""

    from_: int
    to: int


class WrongTake(AppError):
    """A move takes one to three."""

    heap: int
    left: int


class BalanceTooLow(AppError):
    """Allocation `index` cannot give `stakes` times `stake`."""

    index: int
    balance: int
    stakes: int
    stake: int


class WrongAmount(AppError):
    """After this move allocation `index` holds `expected`."""

    index: int
    expected: int
    submitted: int


ERRORS: dict[str, type[AppError]] = {
    error.__name__: error
    for error in (
        NotOneAllocationEach,
        NotOneAsset,
        DestinationChanged,
        UnwantedEvidence,
        WrongPositionLength,
        MalformedPosition,
        StakeChanged,
        WrongTake,
        BalanceTooLow,
        WrongAmount,
    )
}
"""The twins of the contract's errors, by name."""


def valid_transition(channel_id: bytes, from_: VariablePart, to: VariablePart, num_participants: int) -> bool:
    """Whether `to` may follow `from_`: True, or the error that forbids it is raised."""
    _require_seats(from_.outcome, to.outcome, num_participants)
    if to.evidence:
        raise UnwantedEvidence(len(to.evidence))
    before, after = decode(from_.app_data), decode(to.app_data)
    if after.stake != before.stake:
        raise StakeChanged(before.stake, after.stake)
    heap = heap_before(before)
    if after.heap >= heap or heap - after.heap > MOST:
        raise WrongTake(heap, after.heap)
    _require_paid(from_, to, before)
    return True


def _require_seats(from_: Outcome, to: Outcome, seats: int) -> None:
    for outcome in (from_, to):
        if len(outcome) != seats:
            raise NotOneAllocationEach(len(outcome))
    for index, (old, new) in enumerate(zip(from_, to, strict=True)):
        if old.asset != from_[0].asset:
            raise NotOneAsset(from_[0].asset, old.asset)
        if new.destination != old.destination:
            raise DestinationChanged(index, old.destination, new.destination)


def _require_paid(from_: VariablePart, to: VariablePart, before: Position) -> None:
    """The mover takes what the others give; with the first move of a round all must be able to give a stake."""
    mover = to.turn_num % len(from_.outcome)
    taken = 0
    for seat, entry in enumerate(from_.outcome):
        stakes = _stakes_of(from_, before, seat)
        if entry.amount < stakes * before.stake:
            raise BalanceTooLow(seat, entry.amount, stakes, before.stake)
        if seat != mover:
            _require_amount(to.outcome, seat, entry.amount - stakes * before.stake)
            taken += stakes * before.stake
    _require_amount(to.outcome, mover, from_.outcome[mover].amount + taken)


def _require_amount(outcome: Outcome, index: int, expected: int) -> None:
    if outcome[index].amount != expected:
        raise WrongAmount(index, expected, outcome[index].amount)


def _stakes_of(state: VariablePart, position: Position, seat: int) -> int:
    """How many stakes a participant must be able to give with the next move."""
    seats = len(state.outcome)
    if position.position_type is _WAITING:
        return 1
    return seats if seat == state.turn_num % seats else 0


def _next_mover(state: VariablePart) -> int:
    return (state.turn_num + 1) % len(state.outcome)


def heap_before(position: Position) -> int:
    """What the next move takes from."""
    return SIZE if position.position_type is _WAITING else position.heap


# --------------------------------------------------------------------------------------------------------------- moves


def can_begin(outcome: Outcome, stake: int) -> bool:
    """Whether all can pay for a round."""
    return all(entry.amount >= stake for entry in outcome)


def take(state: VariablePart, count: int) -> Move:
    """The move that takes this many from the heap; whether it is legal the rules say."""
    position = decode(state.app_data)
    left = heap_before(position) - count
    after = Position(_TAKING if left > 0 else _WAITING, position.stake, left)
    return Move(_outcome_after(state, position), after.encode())


def _outcome_after(state: VariablePart, position: Position) -> Outcome:
    mover, taken = _next_mover(state), 0
    changed: list[Allocation] = list(state.outcome)
    for seat, entry in enumerate(state.outcome):
        if seat != mover:
            given = _stakes_of(state, position, seat) * position.stake
            changed[seat] = _with_amount(entry, entry.amount - given)
            taken += given
    changed[mover] = _with_amount(changed[mover], changed[mover].amount + taken)
    return tuple(changed)


def _with_amount(entry: Allocation, amount: int) -> Allocation:
    return Allocation(entry.asset, entry.destination, amount)


def legal_moves(state: VariablePart) -> Sequence[Move]:
    """Every legal move; none where no round can begin."""
    position = decode(state.app_data)
    if position.position_type is _WAITING and not can_begin(state.outcome, position.stake):
        return []
    return [take(state, count) for count in range(1, min(MOST, heap_before(position)) + 1)]
