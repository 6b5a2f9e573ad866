"""What the owner of a channel is notified of: values, and nothing else."""

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
    """We have signed a state and sent it. There is no event when the state is sent again, to a counterparty that lacks
    it."""

    signed: SignedState


@dataclass(frozen=True, slots=True)
class Mined:
    """A transaction of ours is in the chain."""

    submission: Submission
    receipt: Receipt[PlacedLog]


@dataclass(frozen=True, slots=True)
class SubmissionRefused:
    """The chain has refused the submission's transaction, or it was mined and has failed. The submission is sent again
    after the next block if it is still due."""

    submission: Submission
    error: ForcemoveError


@dataclass(frozen=True, slots=True)
class CounterpartyFault:
    """A counterparty has sent a message that it must not send."""

    error: ForcemoveError


Event = Sent | Mined | SubmissionRefused | CounterpartyFault
"""Everything that the owner of a channel is notified of."""
