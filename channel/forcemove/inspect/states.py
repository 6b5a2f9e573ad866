"""What can be said of a state by itself: whose turn it is, what kind of state it is, whom it would pay, and who has
really signed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from forcemove.errors import ForcemoveError
from forcemove.protocol.signing import recover
from forcemove.protocol.types import Allocation, FixedPart, Outcome, Signature, VariablePart, destination_address


class StateKind(Enum):
    """What kind of state a turn has."""

    PREFUND = "prefund"
    POSTFUND = "postfund"
    APP = "app"
    FINAL = "final"


def kind_of_state(turn_num: int, is_final: bool, count: int) -> StateKind:
    """The kind of a state of `count` participants."""
    if is_final:
        return StateKind.FINAL
    return StateKind.PREFUND if turn_num < count else StateKind.POSTFUND if turn_num < 2 * count else StateKind.APP


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    """One allocation. `account` (20 bytes): whom it pays, None where it pays another channel. `participant`: its index,
    None where the account is not a participant's, or the participants are unknown."""

    allocation: Allocation
    account: bytes | None
    participant: int | None


def outcome_entries(outcome: Outcome, fixed_part: FixedPart | None = None) -> tuple[OutcomeEntry, ...]:
    """One for each allocation, in their order."""
    return tuple(_entry(allocation, fixed_part.participants if fixed_part else ()) for allocation in outcome)


def _entry(allocation: Allocation, participants: tuple[bytes, ...]) -> OutcomeEntry:
    account = destination_address(allocation.destination)
    return OutcomeEntry(allocation, account, participants.index(account) if account in participants else None)


@dataclass(frozen=True, slots=True)
class StateFacts:
    """A state and what it means in its channel. `kind` and `mover` (a participant's index) are None where the
    participants are unknown."""

    state: VariablePart
    kind: StateKind | None
    mover: int | None
    pays: tuple[OutcomeEntry, ...]


def state_facts(state: VariablePart, fixed_part: FixedPart | None = None) -> StateFacts:
    """The facts of a state. Without the fixed part its mover is unknown."""
    pays = outcome_entries(state.outcome, fixed_part)
    if fixed_part is None:
        return StateFacts(state, None, None, pays)
    kind = kind_of_state(state.turn_num, state.is_final, len(fixed_part.participants))
    return StateFacts(state, kind, fixed_part.mover(state.turn_num), pays)


class SignatureVerdict(Enum):
    """Whether a participant's signature is good."""

    SIGNED = "signed"
    MISSING = "missing"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """The check of one participant's signature. `address`: the participant's, None for an index that is not a
    participant's; `recovered`: the account that has made the signature (20 bytes each); `problem`: why nobody can have
    made it."""

    participant: int
    address: bytes | None
    given: bool
    recovered: bytes | None = None
    problem: ForcemoveError | None = None

    @property
    def verdict(self) -> SignatureVerdict:
        """Whether the participant itself has signed."""
        if not self.given:
            return SignatureVerdict.MISSING
        is_good = self.recovered is not None and self.recovered == self.address
        return SignatureVerdict.SIGNED if is_good else SignatureVerdict.WRONG


def check_signatures(
    participants: tuple[bytes, ...], digest: bytes, signatures: Mapping[int, Signature]
) -> tuple[SignatureCheck, ...]:
    """Recover every signature of `digest`; one check for each participant, and for each index that is nobody's."""
    indices = sorted({*range(len(participants)), *signatures})
    return tuple(_check(index, participants, digest, signatures.get(index)) for index in indices)


def _check(index: int, participants: tuple[bytes, ...], digest: bytes, signature: Signature | None) -> SignatureCheck:
    address = participants[index] if index < len(participants) else None
    if signature is None:
        return SignatureCheck(index, address, given=False)
    try:
        return SignatureCheck(index, address, True, recover(digest, signature))
    except ForcemoveError as error:
        return SignatureCheck(index, address, True, None, error)
