"""What games of two players for a stake share; the twin of `TwoPlayer.sol`, with the same errors in the same order.

The mover of a state, who signs it, is participant `turn_num % 2`, and allocation i is participant i's. Each `require_`
function returns when its rule holds and raises when it does not. Amounts and stakes are in the asset's smallest unit.
"""

from __future__ import annotations

from struct import unpack

from msgspec.structs import replace

from forcemove import UINT256_MAX, AppError, InvalidValue, NotOurTurn, Outcome, RoundResult, VariablePart

PLAYERS = 2
DECODED_POSITIONS = 256
"""How many decoded positions a game caches: rules, bots and pictures read the same state again and again."""
_LAST_SETUP_TURN = 2 * PLAYERS - 1


class NotTwoParticipants(AppError):
    """The game is for two."""

    num_participants: int


class NotTwoAllocations(AppError):
    """Each of the two has one allocation."""

    count: int


class NotOneAsset(AppError):
    """Both allocations are of one asset."""

    first: bytes
    second: bytes


class DestinationChanged(AppError):
    """Allocation `index` must keep its destination."""

    index: int
    from_: bytes
    to: bytes


class UnwantedEvidence(AppError):
    """The game needs no evidence; what nobody needs would only make a dispute dear."""

    length: int


class WrongPositionLength(AppError):
    """appData has exactly the length of a position, in bytes."""

    expected: int
    submitted: int


class MalformedPosition(AppError):
    """Word `word` of the position holds a value that it cannot have there."""

    word: int
    value: int


class OtherChannel(AppError):
    """The position names another channel: of games whose position has a word for it."""

    expected: bytes
    submitted: bytes


class StakeChanged(AppError):
    """The stake stays as it is as long as the channel lives."""

    from_: int
    to: int


class NoSuchTransition(AppError):
    """No row of the game's table leads from one position type to the other."""

    from_type: int
    to_type: int


class BalanceTooLow(AppError):
    """Allocation `index` cannot give `stakes` times `stake`."""

    index: int
    balance: int
    stakes: int
    stake: int


class BalanceOverflow(AppError):
    """Allocation `index` cannot take `payment` as well."""

    index: int
    balance: int
    payment: int


class WrongAmount(AppError):
    """After this move allocation `index` holds `expected`."""

    index: int
    expected: int
    submitted: int


SHARED_ERRORS: tuple[type[AppError], ...] = (
    NotTwoParticipants,
    NotTwoAllocations,
    NotOneAsset,
    DestinationChanged,
    WrongPositionLength,
    MalformedPosition,
    StakeChanged,
    NoSuchTransition,
    BalanceTooLow,
    BalanceOverflow,
    WrongAmount,
)
"""What every game of two players can revert with."""

# --------------------------------------------------------------------------------------------- the twin of the library


def require_two_players(from_: Outcome, to: Outcome, num_participants: int) -> None:
    """Refuse anything but two participants with one allocation each, of one asset, to unchanged destinations."""
    if num_participants != PLAYERS:
        raise NotTwoParticipants(num_participants)
    if len(from_) != PLAYERS:
        raise NotTwoAllocations(len(from_))
    if len(to) != PLAYERS:
        raise NotTwoAllocations(len(to))
    if from_[0].asset != from_[1].asset:
        raise NotOneAsset(from_[0].asset, from_[1].asset)
    for index in range(PLAYERS):
        destination = from_[index].destination
        if to[index].destination != destination:
            raise DestinationChanged(index, destination, to[index].destination)


def require_no_evidence(evidence: bytes) -> None:
    """Refuse evidence. Raises `UnwantedEvidence`."""
    if evidence:
        raise UnwantedEvidence(len(evidence))


def read_words(app_data: bytes, words: int) -> tuple[int, ...]:
    """The 32-byte words of appData as integers. Raises `WrongPositionLength` unless there are exactly this many."""
    if len(app_data) != words * 32:
        raise WrongPositionLength(words * 32, len(app_data))
    return tuple(map(int.from_bytes, unpack("32s" * words, app_data)))


def require_same_stake(from_: int, to: int) -> None:
    """Refuse a stake that changes."""
    if from_ != to:
        raise StakeChanged(from_, to)


def require_both_afford(outcome: Outcome, stake: int) -> None:
    """Refuse the start of a round that one of the two could not pay for."""
    for index in range(PLAYERS):
        require_affords(outcome, index, 1, stake)


def require_affords(outcome: Outcome, index: int, stakes: int, stake: int) -> None:
    """Refuse allocation `index` if it is below `stakes * stake`."""
    balance = outcome[index].amount
    if balance < stakes * stake:
        raise BalanceTooLow(index, balance, stakes, stake)


def require_paid(from_: Outcome, to: Outcome, mover: int, stakes: int, stake: int) -> None:
    """Refuse any outcome but that in which the mover has taken `stakes` times `stake` from the other.

    - `from_`: the outcome before.
    - `to`: the outcome after.
    - `mover`: index of the participant that takes.
    - `stakes`: how many stakes the mover takes.
    - `stake`: of a round, in the asset's smallest unit.
    """
    payment = _payment(from_, mover, stakes, stake)
    gained, left = from_[mover].amount + payment, from_[1 - mover].amount - payment
    if to[mover].amount != gained:
        raise WrongAmount(mover, gained, to[mover].amount)
    if to[1 - mover].amount != left:
        raise WrongAmount(1 - mover, left, to[1 - mover].amount)


def _payment(outcome: Outcome, mover: int, stakes: int, stake: int) -> int:
    require_affords(outcome, 1 - mover, stakes, stake)
    payment, balance = stakes * stake, outcome[mover].amount
    if payment > UINT256_MAX - balance:
        raise BalanceOverflow(mover, balance, payment)
    return payment


# ------------------------------------------------------------------------------------------------ for those who play


def encode_words(*words: int) -> bytes:
    """Integers as 32-byte big-endian words, one after the other."""
    return b"".join(value.to_bytes(32, "big") for value in words)


def take_stakes(outcome: Outcome, mover: int, stakes: int, stake: int) -> Outcome:
    """The outcome that `require_paid` demands after a move; raises as that function does."""
    require_two_players(outcome, outcome, PLAYERS)
    return shift(outcome, mover, _payment(outcome, mover, stakes, stake))


def shift(outcome: Outcome, mover: int, payment: int) -> Outcome:
    """The outcome in which the mover has taken `payment`, which may be negative, from the other.

    Raises `InvalidValue` where an amount would leave the range of a uint256.
    """
    changes = (payment, -payment) if mover == 0 else (-payment, payment)
    return tuple(
        replace(allocation, amount=allocation.amount + change)
        for allocation, change in zip(outcome, changes, strict=True)
    )


def round_result(winner: int | None, reason: str, stake: int) -> RoundResult:
    """The result of a round that one of two won from the other, or that was drawn.

    - `winner`: the seat, None for a draw.
    - `reason`: see `RoundResult`.
    - `stake`: what it was played for, in the asset's smallest unit.
    """
    gains = (0, 0) if winner is None else (stake, -stake) if winner == 0 else (-stake, stake)
    return RoundResult(winner, reason, gains)


def movers(state: VariablePart) -> tuple[int, int]:
    """The seats of the last mover and of the next one; in the opening they are those of the first move."""
    last = max(state.turn_num, _LAST_SETUP_TURN) % PLAYERS
    return last, 1 - last


def can_afford(outcome: Outcome, stake: int) -> bool:
    """Whether both can start a round for this stake."""
    return all(allocation.amount >= stake for allocation in outcome)


def require_seat(seat: int) -> None:
    """Refuse a seat that is neither 0 nor 1, with `InvalidValue`."""
    if type(seat) is not int or seat not in range(PLAYERS):
        raise InvalidValue("seat", seat, "0 or 1")


def is_our_turn(state: VariablePart, seat: int) -> bool:
    """Whether `seat` moves after `state`."""
    return (state.turn_num + 1) % PLAYERS == seat


def require_our_turn(state: VariablePart, seat: int) -> None:
    """Raise `NotOurTurn` unless `seat` moves after `state`."""
    if not is_our_turn(state, seat):
        raise NotOurTurn(state.turn_num, seat)
