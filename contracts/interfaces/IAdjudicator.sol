// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, FixedPart, Signature, VariablePart} from "../types/Channel.sol";

/// @title A ForceMove adjudicator
/// @notice Holds the deposits of state channels and decides when somebody stops. Participants exchange signed states
/// off chain; here they fund, prove what was agreed, challenge who is silent, and are paid.
/// A channel is Open, in Challenge (a clock runs until `finalizesAt`) or Finalized (from `finalizesAt` on). Once
/// everything that an outcome allocates has been paid the channel is closed for ever.
interface IAdjudicator {
    // ------------------------------------------------------------------------------------------------------- events

    /// @notice Ether was paid in; the channel now holds `held` wei.
    event EtherDeposited(bytes32 indexed channelId, uint256 held);

    /// @notice An ERC-20 was paid in; the channel now holds `held` of it.
    event TokenDeposited(bytes32 indexed channelId, address asset, uint256 held);

    /// @notice A clock was started: without an answer the channel pays the recorded state's outcome from `finalizesAt`
    /// (a block time) on. `record`, here and below, is that state with the signatures given, packed: allocations
    /// (three words each), appData, signatures (64 bytes each; some may be of earlier states of the proof); and in the
    /// 12 bytes before the first asset turnNum (6 bytes), isFinal (1), number of allocations (1), length of appData (2).
    event ChallengeRegistered(bytes32 indexed channelId, uint48 finalizesAt, bytes record);

    /// @notice The mover answered the challenge with the next state.
    event Responded(bytes32 indexed channelId, bytes record);

    /// @notice A later supported state was recorded; no clock runs.
    event Checkpointed(bytes32 indexed channelId, bytes record);

    /// @notice The channel was finalised by a final state that all have signed. Where its holdings of its one asset cover
    /// everything and everything goes to addresses, Closed is logged alone.
    event Concluded(bytes32 indexed channelId, uint48 turnNum);

    /// @notice A payout left this much owed; it can be claimed with `transfer` once the holdings allow it.
    event PartlyPaid(bytes32 indexed channelId, bytes32 stateHash, Allocation[] remaining);

    /// @notice Everything allocated was paid; the id is closed for ever.
    event Closed(bytes32 indexed channelId);

    /// @notice A payment could not be pushed; `account` can claim it.
    event Credited(address indexed account, address asset, uint256 amount);

    /// @notice `account` collected its credit, to `to`.
    event Claimed(address indexed account, address asset, address to, uint256 amount);

    // ------------------------------------------------------------------------------------------ errors: the channel

    /// @notice A channel has 2 to 32 participants.
    error ParticipantCountOutOfRange(uint256 count);
    /// @notice No participant may be the zero address.
    error ZeroParticipant(uint256 index);
    /// @notice Participants are distinct.
    error DuplicateParticipant(uint256 first, uint256 second);
    /// @notice The challenge duration is 60 seconds to 365 days.
    error ChallengeDurationOutOfRange(uint48 challengeDuration);

    // -------------------------------------------------------------------------------------------- errors: one state

    /// @notice An outcome has 1 to 64 allocations.
    error AllocationCountOutOfRange(uint256 count);
    /// @notice An outcome names at most 4 assets.
    error TooManyAssets(uint256 count);
    /// @notice Allocations are grouped by asset in rising order.
    error AssetsNotSorted(uint256 index);
    /// @notice No allocation goes to nobody, to the adjudicator, or to the channel itself.
    error ForbiddenDestination(uint256 index, bytes32 destination);
    /// @notice The amounts of one asset add up to less than 2**256.
    error OutcomeTotalOverflow(address asset);
    /// @notice appData has at most 8,192 bytes.
    error AppDataTooLong(uint256 length);
    /// @notice A final state carries no appData.
    error FinalStateWithAppData(uint256 length);

    // ------------------------------------------------------------------------------------- errors: two states in row

    /// @notice The second state's turn number is exactly one higher.
    error TurnNumberNotConsecutive(uint48 from, uint48 to);
    /// @notice Both outcomes name the same assets.
    error AssetsChanged();
    /// @notice Both outcomes allocate the same total of each asset.
    error TotalChanged(address asset, uint256 from, uint256 to);
    /// @notice This step must leave the outcome as it is.
    error OutcomeChanged();
    /// @notice This step must leave the appData as it is.
    error AppDataChanged();
    /// @notice Only a final state follows a final state.
    error FinalStateRequired();
    /// @notice The app answered something else than true, or has no code.
    error TransitionRefused();

    // -------------------------------------------------------------------------------------- errors: support proofs

    /// @notice A proof has 1 to n states.
    error StateCountOutOfRange(uint256 count);
    /// @notice A proof has exactly n signatures.
    error SignatureCountMismatch(uint256 expected, uint256 submitted);
    /// @notice A participant signs the state of its own turn or a later one of the proof.
    error SignedStateOutOfRange(uint256 participant, uint256 signedState);
    /// @notice Bytes of `signedStates` that belong to no participant are zero.
    error SignedStatesNotCanonical(uint256 signedStates);
    /// @notice `s` is at most half the group order; the twin signature is refused.
    error SignatureMalleable(bytes32 s);
    /// @notice The signature recovers to no address.
    error SignatureUnrecoverable();
    /// @notice The signature is somebody else's.
    error WrongSigner(address expected, address recovered);

    // ------------------------------------------------------------------------------------------ errors: operations

    /// @notice Too late: the channel is Finalized.
    error ChannelFinalized(bytes32 channelId, uint48 finalizesAt);
    /// @notice Too early: the channel is not Finalized.
    error ChannelNotFinalized(bytes32 channelId, uint48 finalizesAt);
    /// @notice There is no challenge to answer.
    error NoChallenge(bytes32 channelId);
    /// @notice Everything was paid; nothing more can be done with this id.
    error ChannelClosed(bytes32 channelId);
    /// @notice The record only rises.
    error TurnNumberNotIncreased(uint48 recorded, uint48 submitted);
    /// @notice What was supplied is not what is recorded.
    error FingerprintMismatch(uint160 recorded, uint160 submitted);
    /// @notice Only a participant challenges.
    error ChallengerNotParticipant(address challenger);

    // ----------------------------------------------------------------------------------------------- errors: money

    /// @notice An id whose 12 high bytes are zero would be an address.
    error NotAChannelId(bytes32 channelId);
    /// @notice The channel has begun to pay out; deposits would be lost.
    error PayoutBegun(bytes32 channelId);
    /// @notice The channel holds less than the depositor relies on.
    error HoldingsBelowExpected(uint256 held, uint256 expected);
    /// @notice Nothing is missing up to the depositor's target.
    error NothingToDeposit(uint256 held, uint256 target);
    /// @notice Ether deposits carry exactly their amount; others carry none.
    error ValueMismatch(uint256 expected, uint256 sent);
    /// @notice A channel holds less than 2**254 of an asset.
    error HoldingsOverflow(uint256 held, uint256 amount);
    /// @notice Indices to pay are strictly increasing.
    error IndicesNotIncreasing(uint256 position);
    /// @notice There is no such allocation.
    error IndexOutOfRange(uint256 index);
    /// @notice Indices to pay are of one asset.
    error IndexOfAnotherAsset(uint256 index);
    /// @notice The whole gas allowance of a payment must be at hand.
    error NotEnoughGasToPush(uint256 required, uint256 left);
    /// @notice The sender has no credit in this asset.
    error NothingToClaim(address account, address asset);
    /// @notice Nobody is there to be paid.
    error ForbiddenRecipient(address to);
    /// @notice The recipient or the asset refused the payment.
    error PaymentRefused(address asset, address to, uint256 amount);

    // -------------------------------------------------------------------------------------------------- operations

    /// @notice Pays into a channel, at most up to `expectedHeld + amount`. What is not needed goes back, so that a
    /// stranger's dust cannot block a funding. An ERC-20 deposit credits what arrived.
    /// @dev Reverts with NotAChannelId, ValueMismatch, ChannelClosed, PayoutBegun, HoldingsBelowExpected,
    /// HoldingsOverflow, NothingToDeposit, PaymentRefused (of the rest), in this order.
    /// @param channelId Where to.
    /// @param asset The zero address for ether, else an ERC-20 with an allowance for this contract.
    /// @param expectedHeld What the depositor relies on being there already: the sum of the allocations before its own.
    /// @param amount What the depositor owes; for ether, exactly what is sent along.
    function deposit(bytes32 channelId, address asset, uint256 expectedHeld, uint256 amount) external payable;

    /// @notice Starts the clock on a state: one above the record with its proof, or in mode Open the recorded state
    /// itself, which needs no proof (no signatures, `signedStates` zero).
    /// @param fixedPart The channel.
    /// @param signatures Exactly n; the i-th is participant i's.
    /// @param states 1 to n consecutive states, each a valid transition from the one before; the last is the challenge.
    /// @param signedStates Byte i, counted from the lowest, is the index in `states` of what participant i signed: the
    /// state of its own turn or a later one, any where its own turn lies before them. Bytes n to 31 are zero.
    /// @param challengerSignature A participant's signature of the challenge where the sender is no participant;
    /// ignored (and best zero) where it is one.
    function challenge(
        FixedPart calldata fixedPart,
        Signature[] calldata signatures,
        VariablePart[] calldata states,
        uint256 signedStates,
        Signature calldata challengerSignature
    ) external;

    /// @notice Answers a challenge with the next state, signed by its mover alone.
    /// @param fixedPart The channel.
    /// @param challenged The state in challenge, given again.
    /// @param response The next state.
    /// @param signature Of `response`, by its mover.
    function respond(
        FixedPart calldata fixedPart,
        VariablePart calldata challenged,
        VariablePart calldata response,
        Signature calldata signature
    ) external;

    /// @notice Records a later supported state and stops the clock. Anyone may send it.
    /// @param fixedPart The channel.
    /// @param signatures As in `challenge`.
    /// @param states As in `challenge`.
    /// @param signedStates As in `challenge`.
    function checkpoint(
        FixedPart calldata fixedPart,
        Signature[] calldata signatures,
        VariablePart[] calldata states,
        uint256 signedStates
    ) external;

    /// @notice Finalises at once with a final state that all have signed, and pays.
    /// @param fixedPart The channel.
    /// @param outcome Of the final state, whose appData is empty.
    /// @param turnNum Of the final state; it may be below the record.
    /// @param signatures The i-th is participant i's.
    function conclude(
        FixedPart calldata fixedPart,
        Allocation[] calldata outcome,
        uint48 turnNum,
        Signature[] calldata signatures
    ) external;

    /// @notice Pays a finalised channel out, as far as its holdings reach. Entry i of an asset is worth
    /// min(amount i, max(0, held - unpaid amounts before i)), whoever else is chosen.
    /// @param channelId The channel.
    /// @param stateHash The EIP-712 struct hash of the recorded state.
    /// @param outcome Its outcome, less what has been paid.
    /// @param indices Which allocations to pay: strictly increasing, of one asset; none means all.
    function transfer(
        bytes32 channelId,
        bytes32 stateHash,
        Allocation[] calldata outcome,
        uint256[] calldata indices
    ) external;

    /// @notice Pays the sender's whole credit in one asset to `to`. If the payment fails the credit stays.
    function claim(address asset, address to) external;

    // ------------------------------------------------------------------------------------------------------- views

    /// @notice A channel's packed status word: `turnNumRecord` in the 48 high bits, then `finalizesAt` 48 (zero: no
    /// clock), then `fingerprint` 160: the low bits of keccak256(stateHash, outcomeHash). Zero: nothing recorded.
    function statusOf(bytes32 channelId) external view returns (uint256);

    /// @notice What a channel holds, and whether it has begun to pay out or is closed.
    function holdingsOf(bytes32 channelId, address asset)
        external
        view
        returns (uint256 held, bool payoutBegun, bool closed);

    /// @notice What `account` can claim.
    function creditOf(address account, address asset) external view returns (uint256);
}
