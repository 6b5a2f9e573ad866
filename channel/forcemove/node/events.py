"""What a client tells its owner while it works: values, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.chain.adjudicator import PlacedLog
from forcemove.chain.chain import Receipt
from forcemove.errors import ForcemoveError
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.state import SignedState

__all__ = ["Event", "CounterpartyFault", "Mined", "SubmissionRefused", "Sent"]


@dataclass(frozen=True, slots=True)
class Sent:
    """We have signed a state and sent it. When it is sent again, to somebody who lacks it, no event says so."""

    signed: SignedState


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction of ours is in the chain."""

    submission: Submission
    receipt: Receipt[PlacedLog]


@dataclass(frozen=True, slots=True)
class SubmissionRefused:
    """The chain has refused what we asked, or has not mined it in time; it is sent again after the next block if it is
    still due, with a higher fee."""

    submission: Submission
    error: ForcemoveError


@dataclass(frozen=True, slots=True)
class CounterpartyFault:
    """A counterparty has sent what it must not."""

    error: ForcemoveError


Event = Sent | Mined | SubmissionRefused | CounterpartyFault
"""Everything that a client tells its owner."""
