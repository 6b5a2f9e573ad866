"""The twins of the adjudicator's custom errors: same names, same values in the same order. Pure."""

from __future__ import annotations

from forcemove.errors import RuleError


class NotCanonical(RuleError):
    """The byte at this place of the calldata means nothing."""

    place: int


class LengthMismatch(RuleError):
    """Calldata is as long as what is read of it."""

    read: int
    submitted: int


class NotInABatch(RuleError):
    """A batch is of challenges, checkpoints, responses, conclusions and transfers."""

    selector: bytes


class ParticipantCountOutOfRange(RuleError):
    """A channel has 2 to 8 participants."""

    count: int


class ZeroParticipant(RuleError):
    """No participant may be the zero address."""

    index: int


class DuplicateParticipant(RuleError):
    """Participants are distinct."""

    first: int
    second: int


class ChallengeDurationOutOfRange(RuleError):
    """The challenge duration is 60 seconds to 365 days."""

    challenge_duration: int


class TotalTooHigh(RuleError):
    """A channel's total is at most 2**253 - 1."""

    total: int


class AllocationCountOutOfRange(RuleError):
    """An outcome has 1 to 32 allocations."""

    count: int


class TooManyAssets(RuleError):
    """An outcome names at most 4 assets."""

    count: int


class AssetsNotSorted(RuleError):
    """Allocations are grouped by asset in rising order."""

    index: int


class ForbiddenDestination(RuleError):
    """No allocation goes to nobody, to the adjudicator, or to the channel itself."""

    index: int
    destination: bytes


class OutcomeTotalOverflow(RuleError):
    """The amounts of one asset add up to less than 2**256."""

    asset: bytes


class WrongTotal(RuleError):
    """The amounts of the home asset add up to the channel's total."""

    expected: int
    submitted: int


class AppDataTooLong(RuleError):
    """appData and evidence have together at most 8,192 bytes."""

    length: int


class FinalStateWithAppData(RuleError):
    """A final state carries no appData and no evidence."""

    length: int


class TurnNumberNotConsecutive(RuleError):
    """The second state's turn number is exactly one higher."""

    from_: int
    to: int


class AssetsChanged(RuleError):
    """Both outcomes name the same assets."""


class TotalChanged(RuleError):
    """Both outcomes allocate the same total of each asset."""

    asset: bytes
    from_: int
    to: int


class OutcomeChanged(RuleError):
    """This step must leave the outcome as it is."""


class AppDataChanged(RuleError):
    """This step must leave appData and evidence as they are."""


class FinalStateRequired(RuleError):
    """Only a final state follows a final state."""


class TransitionRefused(RuleError):
    """The app answered something else than true, or has no code."""


class StateCountOutOfRange(RuleError):
    """A proof has 1 to n states."""

    count: int


class SignedStateOutOfRange(RuleError):
    """A participant signs the state of its own turn or a later one of the proof."""

    participant: int
    signed_state: int


class SignatureMalleable(RuleError):
    """`s` is at most half the group order; the twin signature is refused."""

    s: bytes


class SignatureUnrecoverable(RuleError):
    """The signature recovers to no address."""


class WrongSigner(RuleError):
    """The signature is somebody else's."""

    expected: bytes
    recovered: bytes


class ChannelFinalized(RuleError):
    """Too late: the channel is Finalized."""

    channel_id: bytes
    finalizes_at: int


class ChannelNotFinalized(RuleError):
    """Too early: the channel is not Finalized."""

    channel_id: bytes
    finalizes_at: int


class NoChallenge(RuleError):
    """There is no challenge to answer."""

    channel_id: bytes


class ChannelClosed(RuleError):
    """Everything was paid; nothing more can be done with this id."""

    channel_id: bytes


class TurnNumberNotIncreased(RuleError):
    """The record only rises."""

    recorded: int
    submitted: int


class FingerprintMismatch(RuleError):
    """What was supplied is not what is recorded."""

    recorded: int
    submitted: int


class TurnNumberTooHigh(RuleError):
    """A turn below 2**32 can be recorded."""

    turn_num: int


class TimeTooLate(RuleError):
    """A clock runs out before the second 2**34 (in the year 2514)."""

    finalizes_at: int


class ChallengerNotParticipant(RuleError):
    """Only a participant challenges."""

    challenger: bytes


class NotAChannelId(RuleError):
    """An id whose 12 high bytes are zero would be an address."""

    channel_id: bytes


class PayoutBegun(RuleError):
    """The channel has begun to pay out; deposits would be lost."""

    channel_id: bytes


class HoldingsBelowExpected(RuleError):
    """The channel holds less than the depositor relies on."""

    held: int
    expected: int


class ChannelFull(RuleError):
    """The channel holds its total, and a state is recorded; deposits would be lost."""

    channel_id: bytes


class NothingToDeposit(RuleError):
    """Nothing is missing up to the depositor's target."""

    held: int
    target: int


class ValueMismatch(RuleError):
    """Ether deposits carry exactly their amount; others carry none."""

    expected: int
    sent: int


class HoldingsOverflow(RuleError):
    """A channel holds less than 2**253 of an asset."""

    held: int
    amount: int


class IndicesNotIncreasing(RuleError):
    """Indices to pay are strictly increasing."""

    position: int


class IndexOutOfRange(RuleError):
    """There is no such allocation."""

    index: int


class IndexOfAnotherAsset(RuleError):
    """Indices to pay are of one asset."""

    index: int


class NotEnoughGasToPush(RuleError):
    """A payment failed that was allowed less gas than a payee may need: 60,000 and two new storage slots."""

    required: int
    allowed: int


class NothingToClaim(RuleError):
    """The account has no credit in this asset."""

    account: bytes
    asset: bytes


class ForbiddenRecipient(RuleError):
    """Nobody is there to be paid."""

    to: bytes


class PaymentRefused(RuleError):
    """The recipient or the asset refused the payment."""

    asset: bytes
    to: bytes
    amount: int


class ReentrancyGuardReentrantCall(RuleError):
    """The receiver of a payment called back into a function that moves money (OpenZeppelin's error)."""


class SafeERC20FailedOperation(RuleError):
    """The token did not let itself be pulled in (OpenZeppelin's error)."""

    token: bytes


ADJUDICATOR_ERRORS: dict[str, type[RuleError]] = {
    each.__name__: each for each in RuleError.__subclasses__() if each.__module__ == __name__
}
"""Every custom error of IAdjudicator by name; the order of fields is that of the Solidity parameters."""
