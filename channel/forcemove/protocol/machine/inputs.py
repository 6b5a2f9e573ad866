"""What can happen to a channel: a closed union, handled by `machine.step`.

Chain inputs are what all endpoints agree on, at the confirmations that the caller wants. What only some endpoints show
is a `ViewsDiffer`: we defend against it, and sign nothing because of it.
"""

from __future__ import annotations

from msgspec import Struct

from forcemove.protocol.logs import Log
from forcemove.protocol.machine.effects import Submission
from forcemove.protocol.machine.record import Owed, Recorded
from forcemove.protocol.types import Outcome, SignedState
from forcemove.protocol.words import Status


class ContractsGenuine(Struct, frozen=True, tag=True):
    """Adjudicator and app are at the addresses that follow from their creation code, with code there; before this
    input, nothing is signed."""


class StateReceived(Struct, frozen=True, tag=True):
    """A counterparty has sent a state with its signature, or with more of them."""

    signed: SignedState


class Greeted(Struct, frozen=True, tag=True):
    """A counterparty (its index) has said that the next state that it can take is of turn `next_turn`."""

    sender: int
    next_turn: int


class Reconnected(Struct, frozen=True, tag=True):
    """The last messages may be lost, ours or theirs: after a restart, on a new connection, or after long silence."""


class MoveChosen(Struct, frozen=True, tag=True):
    """We make this move: the outcome, appData and evidence of the next state. `secrets`: what the player must be given
    to go on after a restart; they are stored with the state, in place of earlier ones. None: they are the same as
    before."""

    outcome: Outcome
    app_data: bytes
    evidence: bytes = b""
    secrets: bytes | None = None

    def __repr__(self) -> str:
        return f"MoveChosen(outcome={self.outcome!r}, app_data={self.app_data!r}, evidence={self.evidence!r})"


class ConcludeWanted(Struct, frozen=True, tag=True):
    """We want to leave: with our next turn at the latest we sign a final state."""


class ChallengeWanted(Struct, frozen=True, tag=True):
    """We do not wait any longer: the chain shall decide from our newest supported state."""


class HoldingsSeen(Struct, frozen=True, tag=True):
    """What the channel holds of an asset, at the confirmation depth."""

    asset: bytes
    held: int


class CreditSeen(Struct, frozen=True, tag=True):
    """What the adjudicator owes of an asset, at the confirmation depth, to our destination's account: payments that
    could not be pushed."""

    asset: bytes
    amount: int


class LogSeen(Struct, frozen=True, tag=True):
    """The adjudicator has logged something about the channel, at the confirmation depth."""

    log: Log


class SubmissionFailed(Struct, frozen=True, tag=True):
    """A transaction that we requested has not happened; if it is still due, the machine requests it again."""

    submission: Submission


ChainChange = LogSeen | HoldingsSeen | CreditSeen | SubmissionFailed
"""What can be learned from the chain."""


class ChainUpdate(Struct, frozen=True, tag="ChainRead", rename={"changes": "news", "from_scratch": "anew"}):
    """Everything that has changed on the chain up to some block, and which of our transactions it has not taken. All of
    it is taken in before any action is due.

    `from_scratch`: it starts at the channel's beginning, and what was seen before does not count any more, as after a
    restart (logs may have been missed, transactions lost) or a reorganisation.
    """

    changes: tuple[ChainChange, ...]
    from_scratch: bool = False


class Clock(Struct, frozen=True):
    """A challenge that runs in what some endpoint shows; `status.finalizes_at` is not 0. `recorded`: the challenged
    state as it was logged there, or None where only the adjudicator's status shows it."""

    status: Status
    recorded: Recorded | None = None


class Payout(Struct, frozen=True):
    """What some endpoint shows as final: the outcome that is `owed`, and what the channel holds there, by asset (20
    bytes each, rising)."""

    owed: Owed
    holdings: tuple[tuple[bytes, int], ...]


class ViewsDiffer(Struct, frozen=True, tag=True):
    """What the endpoints do not agree on. It replaces the one before; where all fields are empty, the endpoints agree.

    `is_denied`: some endpoint denies something that the others show, or not all have shown the channel since the start
    or since our own process stood still, so we sign nothing because of it. `clocks`: those
    that run in some endpoint's view and are not in the record that all agree on; each is answered. `payouts`: what can
    be collected in some endpoint's view, and is not in that record.
    """

    is_denied: bool = False
    clocks: tuple[Clock, ...] = ()
    payouts: tuple[Payout, ...] = ()


class Tick(Struct, frozen=True, tag=True):
    """Time has passed."""


Input = (
    ContractsGenuine
    | StateReceived
    | Greeted
    | Reconnected
    | MoveChosen
    | ConcludeWanted
    | ChallengeWanted
    | HoldingsSeen
    | CreditSeen
    | LogSeen
    | ChainUpdate
    | SubmissionFailed
    | ViewsDiffer
    | Tick
)
