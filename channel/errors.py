"""Every error of the library, as a tree. Errors are facts with values; no code tests their text.

`ForcemoveError`
├── `InvalidValue`            a value was built that the protocol's types do not allow
├── `MalformedBytes`          bytes, hex or JSON that decode to nothing
├── `UnknownVersion`          bytes of a version that this program does not know
├── `RuleError`               a rule of the protocol, or of an app, forbids it; each class has the name and the values
│                             of the Solidity error that the adjudicator reverts with
│   └── `AppError`            ... of an app: subclassed by games
├── `LocalError`              we asked for something that we may not do; nothing has changed
├── `OpeningMismatch`, `StateConflict`, `SignatureMissing`: what can be wrong with a state that came
├── `CounterpartyError`       a counterparty broke a rule; carries the reason and the evidence; nothing has changed
└── `ChainError`              the chain, or the way to it, failed
    └── `PassingError`        ... as it does now and then: the same request may work in a moment

What can go wrong on a log, in a step, in a view or at a card table is defined beside what raises it: `TransportFault`
and `MalformedAction`, `UnexpectedAction` and its like in `forcemove.channel.flow`; `forcemove.games.views`; `CardFault`
in `forcemove.games.sra.faults`.

Knows no other module.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = [
    "AppDataChanged",
    "AppDataTooLong",
    "AppError",
    "AllocationCountOutOfRange",
    "AssetsChanged",
    "AssetsNotSorted",
    "ChainError",
    "ChallengeDurationOutOfRange",
    "ChallengerNotParticipant",
    "ChannelClosed",
    "ChannelFinalized",
    "ChannelIdUsed",
    "ChannelNotFinalized",
    "CounterpartyError",
    "DuplicateParticipant",
    "FinalStateRequired",
    "FinalStateWithAppData",
    "FingerprintMismatch",
    "ForbiddenDestination",
    "ForbiddenRecipient",
    "ForcemoveError",
    "HoldingsBelowExpected",
    "HoldingsOverflow",
    "IndexOfAnotherAsset",
    "IndexOutOfRange",
    "IndicesNotIncreasing",
    "InvalidValue",
    "LocalError",
    "MalformedBytes",
    "NoChallenge",
    "NotAChannelId",
    "NotEnoughGasToPush",
    "NothingToClaim",
    "NothingToDeposit",
    "OutcomeChanged",
    "OutcomeTotalOverflow",
    "ParticipantCountOutOfRange",
    "PassingError",
    "PaymentRefused",
    "PayoutBegun",
    "RuleError",
    "SignatureCountMismatch",
    "SignatureMalleable",
    "SignatureUnrecoverable",
    "SignedStateOutOfRange",
    "SignedStatesNotCanonical",
    "StateCountOutOfRange",
    "TooManyAssets",
    "TotalChanged",
    "TransitionRefused",
    "TurnNumberNotConsecutive",
    "TurnNumberNotIncreased",
    "UnknownVersion",
    "ValueMismatch",
    "WrongSigner",
    "ZeroParticipant",
    "AlreadySigned",
    "FinalStateSigned",
    "NotSupported",
    "OpeningMismatch",
    "OutOfTurn",
    "SignatureMissing",
    "StateConflict",
    "WrongPhase",
    "ReentrancyGuardReentrantCall",
    "SafeERC20FailedOperation",
    "ADJUDICATOR_ERRORS",
]


class ForcemoveError(Exception):
    """The root of all that this library raises on purpose. Subclasses are dataclasses; their fields are the facts."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), *map(repr, self.values().values())))

    def values(self) -> dict[str, object]:
        """The facts, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __str__(self) -> str:
        """The name and the values, bytes as hex."""
        shown = ", ".join(f"{name}={_shown(value)}" for name, value in self.values().items())
        return f"{type(self).__name__}({shown})"


def _shown(value: object) -> str:
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)


@dataclass(eq=False)
class InvalidValue(ForcemoveError):
    """A value that the protocol's types do not allow: `field` names it, `reason` says what is allowed."""

    field: str
    value: object
    reason: str


@dataclass(eq=False)
class MalformedBytes(ForcemoveError):
    """Bytes, hex or JSON that are not the encoding of a `what`."""

    what: str
    reason: str


@dataclass(eq=False)
class UnknownVersion(ForcemoveError):
    """A `what` (a message, a file, a signed action) of a `version` that this program does not know; it knows `known`.

    Of a newer version it was written by a newer program, and ours must be updated; of an older one, whoever has written
    it must update.
    """

    what: str
    version: int
    known: int

    @property
    def is_newer(self) -> bool:
        """Whether it is our program that must be updated."""
        return self.version > self.known


@dataclass(eq=False)
class RuleError(ForcemoveError):
    """A rule forbids it. The class and its values are those of the Solidity custom error."""


@dataclass(eq=False)
class AppError(RuleError):
    """A rule of an app forbids it. Games subclass this, one class for each custom error of their contract."""


@dataclass(eq=False)
class LocalError(ForcemoveError):
    """We asked for something that we may not do. Nothing has changed."""


@dataclass(eq=False)
class WrongPhase(LocalError):
    """The channel is in a phase in which `action` makes no sense."""

    action: str
    phase: str


@dataclass(eq=False)
class ChannelIdUsed(LocalError):
    """The channel of this id has paid out already, before we have signed anything in it. A new channel needs a nonce
    that none has had: draw one at random."""

    channel_id: bytes


@dataclass(eq=False)
class OutOfTurn(LocalError):
    """The next state is for `mover`, a participant's index, to sign."""

    turn_num: int
    mover: int


@dataclass(eq=False)
class AlreadySigned(LocalError):
    """We have signed another state of this turn, or a later one. Two signatures for one turn can cost everything."""

    turn_num: int


@dataclass(eq=False)
class FinalStateSigned(LocalError):
    """We have signed a final state: from there on only final states with its outcome are signed."""

    turn_num: int


@dataclass(eq=False)
class NotSupported(LocalError):
    """Not every participant can be held to our newest state, so that nothing can be proved with it yet."""

    turn_num: int


@dataclass(eq=False)
class OpeningMismatch(ForcemoveError):
    """A setup state is not exactly the one that was agreed on."""

    turn_num: int


@dataclass(eq=False)
class StateConflict(ForcemoveError):
    """A second, different state came for a turn. The first one stands."""

    turn_num: int


@dataclass(eq=False)
class SignatureMissing(ForcemoveError):
    """A state came without the signature of `participant` (an index)."""

    participant: int


@dataclass(eq=False)
class CounterpartyError(ForcemoveError):
    """A counterparty broke a rule. Nothing has changed; `evidence` is what it sent."""

    reason: ForcemoveError
    evidence: object


@dataclass(eq=False)
class ChainError(ForcemoveError):
    """The chain, or the way to it, failed."""


@dataclass(eq=False)
class PassingError(ChainError):
    """The way to the chain failed, as it does now and then: the same request may work in a moment."""


# ------------------------------------------------------------------------- the twins of the adjudicator's errors


@dataclass(eq=False)
class ParticipantCountOutOfRange(RuleError):
    """A channel has 2 to 32 participants."""

    count: int


@dataclass(eq=False)
class ZeroParticipant(RuleError):
    """No participant may be the zero address."""

    index: int


@dataclass(eq=False)
class DuplicateParticipant(RuleError):
    """Participants are distinct."""

    first: int
    second: int


@dataclass(eq=False)
class ChallengeDurationOutOfRange(RuleError):
    """The challenge duration is 60 seconds to 365 days."""

    challenge_duration: int


@dataclass(eq=False)
class AllocationCountOutOfRange(RuleError):
    """An outcome has 1 to 64 allocations."""

    count: int


@dataclass(eq=False)
class TooManyAssets(RuleError):
    """An outcome names at most 4 assets."""

    count: int


@dataclass(eq=False)
class AssetsNotSorted(RuleError):
    """Allocations are grouped by asset in rising order."""

    index: int


@dataclass(eq=False)
class ForbiddenDestination(RuleError):
    """No allocation goes to nobody, to the adjudicator, or to the channel itself."""

    index: int
    destination: bytes


@dataclass(eq=False)
class OutcomeTotalOverflow(RuleError):
    """The amounts of one asset add up to less than 2**256."""

    asset: bytes


@dataclass(eq=False)
class AppDataTooLong(RuleError):
    """appData has at most 8,192 bytes."""

    length: int


@dataclass(eq=False)
class FinalStateWithAppData(RuleError):
    """A final state carries no appData."""

    length: int


@dataclass(eq=False)
class TurnNumberNotConsecutive(RuleError):
    """The second state's turn number is exactly one higher."""

    from_: int
    to: int


@dataclass(eq=False)
class AssetsChanged(RuleError):
    """Both outcomes name the same assets."""


@dataclass(eq=False)
class TotalChanged(RuleError):
    """Both outcomes allocate the same total of each asset."""

    asset: bytes
    from_: int
    to: int


@dataclass(eq=False)
class OutcomeChanged(RuleError):
    """This step must leave the outcome as it is."""


@dataclass(eq=False)
class AppDataChanged(RuleError):
    """This step must leave the appData as it is."""


@dataclass(eq=False)
class FinalStateRequired(RuleError):
    """Only a final state follows a final state."""


@dataclass(eq=False)
class TransitionRefused(RuleError):
    """The app answered something else than true, or has no code."""


@dataclass(eq=False)
class StateCountOutOfRange(RuleError):
    """A proof has 1 to n states."""

    count: int


@dataclass(eq=False)
class SignatureCountMismatch(RuleError):
    """A proof has exactly n signatures."""

    expected: int
    submitted: int


@dataclass(eq=False)
class SignedStateOutOfRange(RuleError):
    """A participant signs the state of its own turn or a later one of the proof."""

    participant: int
    signed_state: int


@dataclass(eq=False)
class SignedStatesNotCanonical(RuleError):
    """Bytes of `signedStates` that belong to no participant are zero."""

    signed_states: int


@dataclass(eq=False)
class SignatureMalleable(RuleError):
    """`s` is at most half the group order; the twin signature is refused."""

    s: bytes


@dataclass(eq=False)
class SignatureUnrecoverable(RuleError):
    """The signature recovers to no address."""


@dataclass(eq=False)
class WrongSigner(RuleError):
    """The signature is somebody else's."""

    expected: bytes
    recovered: bytes


@dataclass(eq=False)
class ChannelFinalized(RuleError):
    """Too late: the channel is Finalized."""

    channel_id: bytes
    finalizes_at: int


@dataclass(eq=False)
class ChannelNotFinalized(RuleError):
    """Too early: the channel is not Finalized."""

    channel_id: bytes
    finalizes_at: int


@dataclass(eq=False)
class NoChallenge(RuleError):
    """There is no challenge to answer."""

    channel_id: bytes


@dataclass(eq=False)
class ChannelClosed(RuleError):
    """Everything was paid; nothing more can be done with this id."""

    channel_id: bytes


@dataclass(eq=False)
class TurnNumberNotIncreased(RuleError):
    """The record only rises."""

    recorded: int
    submitted: int


@dataclass(eq=False)
class FingerprintMismatch(RuleError):
    """What was supplied is not what is recorded."""

    recorded: int
    submitted: int


@dataclass(eq=False)
class ChallengerNotParticipant(RuleError):
    """Only a participant challenges."""

    challenger: bytes


@dataclass(eq=False)
class NotAChannelId(RuleError):
    """An id whose 12 high bytes are zero would be an address."""

    channel_id: bytes


@dataclass(eq=False)
class PayoutBegun(RuleError):
    """The channel has begun to pay out; deposits would be lost."""

    channel_id: bytes


@dataclass(eq=False)
class HoldingsBelowExpected(RuleError):
    """The channel holds less than the depositor relies on."""

    held: int
    expected: int


@dataclass(eq=False)
class NothingToDeposit(RuleError):
    """Nothing is missing up to the depositor's target."""

    held: int
    target: int


@dataclass(eq=False)
class ValueMismatch(RuleError):
    """Ether deposits carry exactly their amount; others carry none."""

    expected: int
    sent: int


@dataclass(eq=False)
class HoldingsOverflow(RuleError):
    """A channel holds less than 2**254 of an asset."""

    held: int
    amount: int


@dataclass(eq=False)
class IndicesNotIncreasing(RuleError):
    """Indices to pay are strictly increasing."""

    position: int


@dataclass(eq=False)
class IndexOutOfRange(RuleError):
    """There is no such allocation."""

    index: int


@dataclass(eq=False)
class IndexOfAnotherAsset(RuleError):
    """Indices to pay are of one asset."""

    index: int


@dataclass(eq=False)
class NotEnoughGasToPush(RuleError):
    """The whole gas allowance of a payment must be at hand."""

    required: int
    left: int


@dataclass(eq=False)
class NothingToClaim(RuleError):
    """The sender has no credit in this asset."""

    account: bytes
    asset: bytes


@dataclass(eq=False)
class ForbiddenRecipient(RuleError):
    """Nobody is there to be paid."""

    to: bytes


@dataclass(eq=False)
class PaymentRefused(RuleError):
    """The recipient or the asset refused the payment."""

    asset: bytes
    to: bytes
    amount: int


@dataclass(eq=False)
class ReentrancyGuardReentrantCall(RuleError):
    """Whoever is being paid called back into what moves money (OpenZeppelin's error)."""


@dataclass(eq=False)
class SafeERC20FailedOperation(RuleError):
    """The token did not let itself be pulled in (OpenZeppelin's error)."""

    token: bytes


ADJUDICATOR_ERRORS: dict[str, type[RuleError]] = {
    error.__name__: error
    for error in (
        ParticipantCountOutOfRange,
        ZeroParticipant,
        DuplicateParticipant,
        ChallengeDurationOutOfRange,
        AllocationCountOutOfRange,
        TooManyAssets,
        AssetsNotSorted,
        ForbiddenDestination,
        OutcomeTotalOverflow,
        AppDataTooLong,
        FinalStateWithAppData,
        TurnNumberNotConsecutive,
        AssetsChanged,
        TotalChanged,
        OutcomeChanged,
        AppDataChanged,
        FinalStateRequired,
        TransitionRefused,
        StateCountOutOfRange,
        SignatureCountMismatch,
        SignedStateOutOfRange,
        SignedStatesNotCanonical,
        SignatureMalleable,
        SignatureUnrecoverable,
        WrongSigner,
        ChannelFinalized,
        ChannelNotFinalized,
        NoChallenge,
        ChannelClosed,
        TurnNumberNotIncreased,
        FingerprintMismatch,
        ChallengerNotParticipant,
        NotAChannelId,
        PayoutBegun,
        HoldingsBelowExpected,
        NothingToDeposit,
        ValueMismatch,
        HoldingsOverflow,
        IndicesNotIncreasing,
        IndexOutOfRange,
        IndexOfAnotherAsset,
        NotEnoughGasToPush,
        NothingToClaim,
        ForbiddenRecipient,
        PaymentRefused,
        ReentrancyGuardReentrantCall,
        SafeERC20FailedOperation,
    )
}
"""Every custom error of IAdjudicator by name; the order of fields is that of the Solidity parameters."""
