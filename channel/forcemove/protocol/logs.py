"""What the adjudicator logs, as plain values: the twins of `IAdjudicator`'s events, in the same order.

A closed union, for `match`. Where and when a log was emitted is not part of it. Knows only the protocol's values.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from forcemove.protocol.types import Outcome, Signature, VariablePart


class Deposited(Struct, frozen=True, tag=True):
    """A deposit was made: the channel (32 bytes) now holds `held` of `asset` (20 bytes; zero is ether).

    On chain these are two events, `EtherDeposited` and `TokenDeposited`.
    """

    channel_id: bytes
    asset: bytes
    held: int


class ChallengeRegistered(Struct, frozen=True, tag=True):
    """A clock was started: without an answer the channel pays `state` from `finalizes_at` (a block time, seconds) on.

    `signatures` are those of the proof that was given, by participant; none where the recorded state itself was
    challenged. Of the proof's states only the last is logged, so some signatures may be of states that are not here.
    """

    channel_id: bytes
    finalizes_at: int
    state: VariablePart
    signatures: tuple[Signature, ...]


class Responded(Struct, frozen=True, tag=True):
    """The mover answered the challenge with the next state, and its signature."""

    channel_id: bytes
    state: VariablePart
    signature: Signature


class Checkpointed(Struct, frozen=True, tag=True):
    """A later supported state was recorded; no clock runs. The signatures are as in `ChallengeRegistered`."""

    channel_id: bytes
    state: VariablePart
    signatures: tuple[Signature, ...]


class Concluded(Struct, frozen=True, tag=True):
    """The channel was finalised by a final state that all have signed; `PartlyPaid` or `Closed` follows. Where the
    holdings of its one asset covered everything and everything went to addresses, `Closed` is logged alone."""

    channel_id: bytes
    turn_num: int


class PartlyPaid(Struct, frozen=True, tag=True):
    """A payout left `remaining` owed; `state_hash` (32 bytes) is the EIP-712 hash of the state that is paid."""

    channel_id: bytes
    state_hash: bytes
    remaining: Outcome


class Closed(Struct, frozen=True, tag=True):
    """Everything allocated was paid; the id is closed forever."""

    channel_id: bytes


class Credited(Struct, frozen=True, tag=True):
    """A payment to `account` (20 bytes) could not be pushed; the account can claim it."""

    account: bytes
    asset: bytes
    amount: int


class Claimed(Struct, frozen=True, tag=True):
    """`account` collected its credit, to `to` (20 bytes)."""

    account: bytes
    asset: bytes
    to: bytes
    amount: int


Log = Deposited | ChallengeRegistered | Responded | Checkpointed | Concluded | PartlyPaid | Closed | Credited | Claimed
"""Everything that an adjudicator logs."""


def channel_of(log: Log) -> bytes | None:
    """The id of the channel (32 bytes) that a log is of, None where it is of an account alone."""
    match log:
        case Credited() | Claimed():
            return None
        case _:
            return log.channel_id


def recorded_state(log: Log) -> VariablePart | None:
    """The state that a log shows as recorded, None where it shows none."""
    match log:
        case ChallengeRegistered() | Responded() | Checkpointed():
            return log.state
        case Deposited() | Concluded() | PartlyPaid() | Closed() | Credited() | Claimed():
            return None
        case _:
            assert_never(log)


def begins_payout(log: Log) -> bool:
    """Whether the channel has paid out when this is logged: somebody may be owed what could not be pushed."""
    match log:
        case PartlyPaid() | Closed():
            return True
        case ChallengeRegistered() | Responded() | Checkpointed() | Concluded() | Deposited() | Credited() | Claimed():
            return False
        case _:
            assert_never(log)
