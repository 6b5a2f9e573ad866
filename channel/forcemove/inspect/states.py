"""What can be said of a state by itself: whose turn it is, what kind of state it is, and whom it would pay."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from forcemove.protocol.types import Allocation, FixedPart, Outcome, VariablePart, destination_address


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
