"""What the owner of a channel is notified of: values, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from forcemove.chain.adjudicator import PlacedLog
from forcemove.chain.chain import Receipt
from forcemove.errors import ForcemoveError
from forcemove.history.entries import LogPosition
from forcemove.protocol.logs import Log
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.types import SignedState


@dataclass(frozen=True, slots=True)
class Sent:
    """We have signed a state and sent it. There is no event when the state is sent again, to a counterparty that lacks
    it."""

    signed: SignedState


@dataclass(frozen=True, slots=True)
class Received:
    """We have taken in a counterparty's state, or its signature on the newest one. It is not in the journal yet: see
    `Node.on_committed`."""

    signed: SignedState


@dataclass(frozen=True, slots=True)
class LogAdded:
    """The adjudicator has logged something about the channel, as all endpoints show it at the confirmations of the
    channel. A process that continues a channel is not notified again of what the journal's history has."""

    log: Log
    position: LogPosition


@dataclass(frozen=True, slots=True)
class LogRemoved:
    """A reorganisation has removed a log."""

    log: Log
    position: LogPosition


@dataclass(frozen=True, slots=True)
class Mined:
    """Our transaction is in the chain."""

    submission: Submission
    receipt: Receipt[PlacedLog]


@dataclass(frozen=True, slots=True)
class SubmissionRefused:
    """The chain has refused the submission's transaction, or it was mined and has failed. The submission is sent again
    after the next block if it is still due. `cost`: what a mined transaction has cost, in wei."""

    submission: Submission
    error: ForcemoveError
    cost: int = 0


@dataclass(frozen=True, slots=True)
class CounterpartyFault:
    """A counterparty has sent a message that it must not send."""

    error: ForcemoveError


Event = Sent | Received | LogAdded | LogRemoved | Mined | SubmissionRefused | CounterpartyFault
"""Everything that the owner of a channel is notified of."""
