"""What a channel asks of the world: a closed union, in the order in which the effects are to be carried out.

The channel that `machine.step` returned is persisted before its effects are carried out: persist, then send.
"""

from __future__ import annotations

from msgspec import Struct

from forcemove.protocol.types import Outcome, Signature, SignedState, SupportProof, VariablePart


class SendState(Struct, frozen=True, tag=True):
    """Send a state with all the signatures that we know to every counterparty. `again`: a counterparty has said that it
    lacks the state, which may have been sent before."""

    signed: SignedState
    again: bool = False


class SendGreeting(Struct, frozen=True, tag=True):
    """Tell every counterparty that the next state that we can take is of turn `next_turn`. A counterparty that is ahead
    will send the states that we lack."""

    next_turn: int


class ChooseMove(Struct, frozen=True, tag=True):
    """It is our turn after `state`: choose a move or conclude. `answer_by`: in a challenge, the block time (seconds) at
    which the machine will conclude for us, else None. `secrets`: what our player has last stored. `is_last_round`:
    begin no further round, because this counterparty makes us pay for challenges that are not needed. `between`: the
    states since our own last one, the oldest first, without `state`: none where two play. Those that only the chain
    was given are missing."""

    state: VariablePart
    answer_by: int | None = None
    secrets: bytes = b""
    is_last_round: bool = False
    between: tuple[VariablePart, ...] = ()

    def __repr__(self) -> str:
        """Without secrets."""
        return f"ChooseMove(state={self.state!r}, answer_by={self.answer_by}, is_last_round={self.is_last_round})"


class SubmitDeposit(Struct, frozen=True, tag=True):
    """Deposit `amount` of `asset`, relying on `expected_held` being there."""

    asset: bytes
    expected_held: int
    amount: int


class SubmitChallenge(Struct, frozen=True, tag=True):
    """Challenge with the last state of the proof."""

    proof: SupportProof


class SubmitRespond(Struct, frozen=True, tag=True):
    """Answer the challenge with the next state."""

    challenged: VariablePart
    response: VariablePart
    signature: Signature


class SubmitCheckpoint(Struct, frozen=True, tag=True):
    """Record the last state of the proof."""

    proof: SupportProof


class SubmitConclude(Struct, frozen=True, tag=True):
    """Conclude with a final state that all have signed."""

    outcome: Outcome
    turn_num: int
    signatures: tuple[Signature, ...]


class SubmitTransfer(Struct, frozen=True, tag=True):
    """Pay the finalised channel out, as far as its holdings, which are `held`, reach."""

    state_hash: bytes
    outcome: Outcome
    held: tuple[tuple[bytes, int], ...]


class SubmitPayCredit(Struct, frozen=True, tag=True):
    """Have the credit of `account` (20 bytes), `amount` of `asset`, paid to it."""

    account: bytes
    asset: bytes
    amount: int


Submission = (
    SubmitDeposit
    | SubmitChallenge
    | SubmitRespond
    | SubmitCheckpoint
    | SubmitConclude
    | SubmitTransfer
    | SubmitPayCredit
)
"""What needs a transaction."""


def operation_name(submission: Submission) -> str:
    """What the adjudicator is asked to do, in one word in lower case, such as `deposit` or `paycredit`."""
    return type(submission).__name__.removeprefix("Submit").lower()


Effect = SendState | SendGreeting | ChooseMove | Submission
