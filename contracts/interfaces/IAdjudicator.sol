// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, FixedPart, State} from "../types/Channel.sol";

/// @title A ForceMove adjudicator
/// @notice Holds the deposits of state channels and decides when somebody stops. Participants exchange signed states
/// off chain; here they fund, prove what was agreed, challenge who is silent, and are paid.
/// A channel is Open, in Challenge (a clock runs until `finalizesAt`) or Finalized (from `finalizesAt` on). Once
/// everything that an outcome allocates has been paid the channel is closed forever, and its id must not be used again.
///
/// SUPPORT. A state may be recorded when a proof shows that every participant can be held to it. A proof is 1 to n
/// consecutive states, n being the number of participants, each a valid transition from the one before; the last is
/// what is proved. It comes in two forms:
/// - Signed by all: exactly n signatures, one of each participant, on the state of its own turn or on a later one of the
///   proof; where its own turn lies before the proof, on any of it.
/// - From the record: the first state is the recorded one, given again and unsigned; each later state is signed by its
///   own mover alone. It is known by having one signature less than states, `signedStates` being zero.
///
/// WHY FROM THE RECORD IS SAFE. What is recorded was supported when it was recorded: all can be held to it, that is to
/// let the mover of the next turn choose any state that the rules allow next. So that mover's signature is all that the
/// next state still needs, and by the same argument the one after it needs only its own mover's. Turns rise by one, so
/// nobody's turn is passed over, and nobody is held to a move in its own turn that it did not sign. Who signs two states
/// for one turn lets the others choose between them, as it does with a proof signed by all; what somebody else signed
/// after one of them proves nothing after the other. Nothing can be recorded this way that a row of challenges and
/// answers on chain could not bring about; it only needs no clock, and nothing of what was hidden before the record.
///
/// WHAT IS PROMISED, also to channels that are paid by other channels:
/// - One state signed by all needs no predecessor: it may jump turns, and may change the totals.
/// - An app without code refuses every move; a final state still stands, and all can still conclude.
/// - `conclude` works at turn 0, and with no holdings.
/// - A finalised channel, also one that is partly paid, still takes payments from other channels, unless it holds its
///   total and has paid nothing yet.
/// - Entry i of an asset is worth the same whatever indices are chosen, and in whatever order they are paid.
/// - An entry that goes to a channel that is closed or full, or that could not hold so much, is skipped: it stays owed,
///   and blocks nobody else.
/// - When the channel closes, what it holds beyond the outcome goes with the last payment of each asset.
///
/// A WARNING. Movers may extend a recorded or a stale state with final states that they sign alone, each in its own
/// turn, until it is the turn of somebody who does not take part: at most n - 1 turns. So anyone who lets all sign a later
/// state puts its turn number at least n above what could be recorded.
///
/// NOT SUPPORTED: tokens that rebase (the first channel to close takes the others' money); NFTs (a deposit counts one
/// unit, and which one is paid out nobody knows); chain splits (holdings stay under the id of the chain before it).
///
/// Calldata that does not decode, or that has dirty bits, reverts without data. While money is being moved everything that
/// moves money, or records a state, reverts with OpenZeppelin's `ReentrancyGuardReentrantCall`.
interface IAdjudicator {
    // ------------------------------------------------------------------------------------------------------- events

    /// @notice Ether was paid in, by a deposit or by another channel's payout; the channel now holds `held` wei.
    event EtherDeposited(bytes32 indexed channelId, uint256 held);

    /// @notice An ERC-20 was paid in, by a deposit or by another channel's payout; the channel now holds `held` of it.
    event TokenDeposited(bytes32 indexed channelId, address asset, uint256 held);

    /// @notice A clock was started: without an answer the channel pays the recorded state's outcome from `finalizesAt`
    /// (a block time) on. `arguments`, here and below, are those of the operation, as far as they were checked: the fixed
    /// part and a proof. Where the recorded state was challenged, they are those of a proof from the record, without
    /// signatures.
    event ChallengeRegistered(bytes32 indexed channelId, uint48 finalizesAt, bytes arguments);

    /// @notice The mover answered the challenge with the next state. Before the arguments stands its turn number (6 bytes).
    event Responded(bytes32 indexed channelId, bytes arguments);

    /// @notice A later supported state was recorded; no clock runs.
    event Checkpointed(bytes32 indexed channelId, bytes arguments);

    /// @notice The channel was finalised by a final state that all have signed. Where its holdings of its one asset cover
    /// everything and everything goes to addresses, Closed is logged alone.
    event Concluded(bytes32 indexed channelId, uint48 turnNum);

    /// @notice A payout left this much owed; it can be claimed with `transfer` once the holdings allow it.
    event PartlyPaid(bytes32 indexed channelId, bytes32 stateHash, Allocation[] remaining);

    /// @notice Everything allocated was paid; the id is closed forever.
    event Closed(bytes32 indexed channelId);

    /// @notice A payment could not be pushed; `account` can claim it.
    event Credited(address indexed account, address asset, uint256 amount);

    /// @notice An item of a batch failed; `selector` is that of what it reverted with. The first item has index 0.
    event BatchFailed(uint256 index, bytes4 selector);

    /// @notice `account` collected its credit, to `to`.
    event Claimed(address indexed account, address asset, address to, uint256 amount);

    // ------------------------------------------------------------------------------------------ errors: the calldata

    /// @notice The byte of calldata at this place (0 is the selector's first) means nothing there.
    error NotCanonical(uint256 place);
    /// @notice Calldata ends where the operation's arguments do.
    error LengthMismatch(uint256 read, uint256 submitted);
    /// @notice A batch has challenges, answers, checkpoints, conclusions and transfers.
    error NotInABatch(bytes4 selector);

    // ------------------------------------------------------------------------------------------ errors: the channel

    /// @notice A channel has 2 to 8 participants.
    error ParticipantCountOutOfRange(uint256 count);
    /// @notice No participant may be the zero address.
    error ZeroParticipant(uint256 index);
    /// @notice Participants are distinct.
    error DuplicateParticipant(uint256 first, uint256 second);
    /// @notice The challenge duration is 60 seconds to 365 days.
    error ChallengeDurationOutOfRange(uint48 challengeDuration);
    /// @notice A channel's total is at most 2**253 - 1.
    error TotalTooHigh(uint256 total);

    // -------------------------------------------------------------------------------------------- errors: one state

    /// @notice An outcome has 1 to 32 allocations.
    error AllocationCountOutOfRange(uint256 count);
    /// @notice An outcome names at most 4 assets.
    error TooManyAssets(uint256 count);
    /// @notice Allocations are grouped by asset in rising order.
    error AssetsNotSorted(uint256 index);
    /// @notice No allocation goes to nobody, to the adjudicator, or to the channel itself.
    error ForbiddenDestination(uint256 index, bytes32 destination);
    /// @notice The amounts of one asset add up to less than 2**256.
    error OutcomeTotalOverflow(address asset);
    /// @notice The amounts of the home asset add up to the channel's total.
    error WrongTotal(uint256 expected, uint256 submitted);
    /// @notice appData and evidence have together at most 8,192 bytes.
    error AppDataTooLong(uint256 length);
    /// @notice A final state carries no appData and no evidence.
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
    /// @notice This step must leave appData and evidence as they are.
    error AppDataChanged();
    /// @notice Only a final state follows a final state.
    error FinalStateRequired();
    /// @notice The app answered something else than true, or has no code.
    error TransitionRefused();

    // -------------------------------------------------------------------------------------- errors: support proofs

    /// @notice A proof has 1 to n states.
    error StateCountOutOfRange(uint256 count);
    /// @notice A participant signs the state of its own turn or a later one of the proof.
    error SignedStateOutOfRange(uint256 participant, uint256 signedState);
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
    error FingerprintMismatch(uint256 recorded, uint256 submitted);
    /// @notice A turn below 2**32 can be recorded.
    error TurnNumberTooHigh(uint256 turnNum);
    /// @notice A clock runs out before the second 2**34 (in the year 2514).
    error TimeTooLate(uint256 finalizesAt);
    /// @notice Only a participant challenges.
    error ChallengerNotParticipant(address challenger);

    // ----------------------------------------------------------------------------------------------- errors: money

    /// @notice An id whose 12 high bytes are zero would be an address.
    error NotAChannelId(bytes32 channelId);
    /// @notice The channel has begun to pay out; deposits would be lost.
    error PayoutBegun(bytes32 channelId);
    /// @notice The channel holds its total, and a state is recorded; deposits would be lost.
    error ChannelFull(bytes32 channelId);
    /// @notice The channel holds less than the depositor relies on.
    error HoldingsBelowExpected(uint256 held, uint256 expected);
    /// @notice Nothing is missing up to the depositor's target.
    error NothingToDeposit(uint256 held, uint256 target);
    /// @notice Ether deposits carry exactly their amount; others carry none.
    error ValueMismatch(uint256 expected, uint256 sent);
    /// @notice A channel holds less than 2**253 of an asset.
    error HoldingsOverflow(uint256 held, uint256 amount);
    /// @notice Indices to pay are strictly increasing.
    error IndicesNotIncreasing(uint256 position);
    /// @notice There is no such allocation.
    error IndexOutOfRange(uint256 index);
    /// @notice Indices to pay are of one asset.
    error IndexOfAnotherAsset(uint256 index);
    /// @notice A payment failed that was allowed less gas than a payee may need: 60,000 and two new storage slots.
    error NotEnoughGasToPush(uint256 required, uint256 allowed);
    /// @notice The account has no credit in this asset.
    error NothingToClaim(address account, address asset);
    /// @notice Nobody is there to be paid.
    error ForbiddenRecipient(address to);
    /// @notice The recipient or the asset refused the payment.
    error PaymentRefused(address asset, address to, uint256 amount);

    // -------------------------------------------------------------------------------------------------- operations

    /// @notice Pays into a channel, at most up to `expectedHeld + amount`. What is not needed goes back, so that a
    /// stranger's dust cannot block a funding. An ERC-20 deposit credits what arrived.
    /// @dev Reverts with NotAChannelId, ValueMismatch, ChannelClosed, PayoutBegun, HoldingsBelowExpected,
    /// HoldingsOverflow, NothingToDeposit, PaymentRefused (of the rest), in this order; first of all with ChannelFull.
    /// @param channelId Where to.
    /// @param asset The zero address for ether, else an ERC-20 with an allowance for this contract.
    /// @param expectedHeld What the depositor relies on being there already: the sum of the allocations before its own.
    /// @param amount What the depositor owes; for ether, exactly what is sent along.
    function deposit(bytes32 channelId, address asset, uint256 expectedHeld, uint256 amount) external payable;

    /// @notice Starts the clock on a supported state above the record; or, in mode Open, on the recorded state itself,
    /// whatever proof comes with it: none is needed, and none is logged. So a challenge that somebody has front-run with
    /// a checkpoint of the same state still starts the clock.
    /// @dev Packed arguments, as are those of `respond`, `checkpoint`, `conclude`, `transfer` and `batch`: after the
    /// selector the bytes that `contracts/README.md` lists, none of them spare. Here: the fixed part; a proof; a participant's
    /// signature of the challenge, which may be missing, and is ignored, where the sender is a participant.
    ///
    /// Reverts, in this order, with
    /// - while calldata is read NotCanonical, StateCountOutOfRange (no state, or more than n); then LengthMismatch;
    /// - where nothing is recorded: ParticipantCountOutOfRange; for each participant ZeroParticipant,
    ///   DuplicateParticipant; ChallengeDurationOutOfRange; TotalTooHigh;
    /// - ChannelFinalized;
    /// - the recorded turn in mode Open: FingerprintMismatch;
    /// - any other turn: TurnNumberNotIncreased; what is wrong with the proof, see below; where nothing is recorded
    ///   ChannelClosed;
    /// - ChallengerNotParticipant, SignatureMalleable, SignatureUnrecoverable (of the challenger's signature);
    ///   TurnNumberTooHigh, TimeTooLate.
    ///
    /// A proof of one state: what is wrong with the state; for each participant SignatureMalleable,
    /// SignatureUnrecoverable, WrongSigner.
    /// A longer one: what is wrong with the first state, from the record FingerprintMismatch; for each later state what is
    /// wrong with it, then AssetsChanged, TotalChanged, OutcomeChanged, FinalStateRequired, AppDataChanged, what the app
    /// reverts with, TransitionRefused; for each participant SignedStateOutOfRange, SignatureMalleable,
    /// SignatureUnrecoverable, WrongSigner. From the record, instead of the last four: for each signature
    /// SignatureMalleable, SignatureUnrecoverable, WrongSigner.
    /// A state: AllocationCountOutOfRange; for each allocation AssetsNotSorted, TooManyAssets, ForbiddenDestination,
    /// OutcomeTotalOverflow; WrongTotal; AppDataTooLong; FinalStateWithAppData.
    function challenge() external;

    /// @notice Answers a challenge with the next state, signed by its mover alone.
    /// @dev Arguments: the fixed part; the state in challenge, given again; the next state; its mover's signature.
    /// Reverts, in this order, with NotCanonical, LengthMismatch; what `challenge` reverts with where nothing is recorded;
    /// ChannelFinalized; NoChallenge; FingerprintMismatch; what is wrong with the response, and with the step to it, as in
    /// a proof; SignatureMalleable, SignatureUnrecoverable, WrongSigner.
    function respond() external;

    /// @notice Records a later supported state and stops the clock. Anyone may send it.
    /// @dev Arguments: the fixed part; a proof. Reverts, in this order, with NotCanonical, StateCountOutOfRange,
    /// LengthMismatch; what `challenge` reverts with where nothing is recorded; ChannelFinalized; TurnNumberNotIncreased;
    /// what is wrong with the proof, as in `challenge`; where nothing is recorded ChannelClosed; TurnNumberTooHigh.
    function checkpoint() external;

    /// @notice Finalises at once with a final state that all have signed, and pays as `transfer` does. It may be of any
    /// turn, and the channel may hold nothing.
    /// @dev Arguments: the fixed part; turn number and outcome of the final state; each participant's signature of it; push,
    /// as of `transfer`. Reverts, in this order, with NotCanonical, LengthMismatch; what `challenge` reverts with where
    /// nothing is recorded; ChannelFinalized; AllocationCountOutOfRange; for each allocation AssetsNotSorted, TooManyAssets,
    /// ForbiddenDestination, OutcomeTotalOverflow; WrongTotal; for each participant SignatureMalleable,
    /// SignatureUnrecoverable, WrongSigner; ChannelClosed; TurnNumberTooHigh, TimeTooLate (where not everything is paid);
    /// NotEnoughGasToPush.
    function conclude() external;

    /// @notice Pays a finalised channel out, as far as its holdings reach. Entry i of an asset is worth
    /// min(amount i, max(0, held - unpaid amounts before i)), no matter who else is chosen. What goes to an address is pushed,
    /// and what it refuses becomes its credit; what goes to a channel is added to its holdings, and logged there as a
    /// deposit is. A channel that is closed, or could not hold so much, is skipped and stays owed.
    /// @dev Arguments: the channel's id; its home asset; the EIP-712 struct hash of the recorded state; its outcome, less
    /// what has been paid; the indices of the allocations to pay, strictly increasing and of one asset, where not all are
    /// to be paid; push: the gas that each payment may use, in units of 16,384 (what is left of the transaction's gas can make
    /// it less). A payment that fails must have been allowed 60,000 and what two new storage slots cost, which the
    /// contract measures: 7 units are enough at today's prices.
    /// Reverts, in this order, with NotCanonical, LengthMismatch, ChannelNotFinalized; FingerprintMismatch; for each index
    /// IndexOutOfRange, IndicesNotIncreasing, IndexOfAnotherAsset; NotEnoughGasToPush.
    function transfer() external;

    /// @notice Runs several of the five operations above, each with its own share of gas; one that fails is logged, and
    /// stops no other. The contract is their sender, so a challenge needs its challenger's signature.
    /// @dev Arguments: for each, its gas, the length of its calldata, and that calldata. Reverts with LengthMismatch and
    /// NotInABatch.
    function batch() external;

    /// @notice Pays the sender's whole credit in one asset to `to`. If the payment fails the credit stays.
    /// @dev Reverts with NothingToClaim, ForbiddenRecipient, PaymentRefused, in this order.
    function claim(address asset, address to) external;

    /// @notice Pays the whole credit of `account` in one asset to `account` itself, with all the gas there is. Anyone may
    /// send it: so also a payee that cannot call `claim` gets its money. If the payment fails the credit stays.
    /// @dev Reverts with NothingToClaim, ForbiddenRecipient, PaymentRefused, in this order.
    function payCredit(address account, address asset) external;

    // ------------------------------------------------------------------------------------------------------- views

    /// @notice A channel's packed status word, by the channel's home asset: RECORDED (bit 254), FULL (bit 253: it holds
    /// its total), SURPLUS (bit 252: and more), turn number (32 bits from 220), `finalizesAt` (34 bits from 186; zero: no
    /// clock), fingerprint (186 bits: the low ones of keccak256(stateHash, outcomeHash)). Zero: nothing recorded.
    function statusOf(bytes32 channelId, address asset) external view returns (uint256);

    /// @notice What a channel holds, and whether it has begun to pay out or is closed. `total`: that of its fixed part,
    /// which only a full channel's home asset needs.
    function holdingsOf(bytes32 channelId, address asset, uint256 total)
        external
        view
        returns (uint256 held, bool payoutBegun, bool closed);

    /// @notice What `account` can claim.
    function creditOf(address account, address asset) external view returns (uint256);

    /// @notice Words as they are in storage, in the order asked for. Keys are keccak256(channelId, asset), of whose word
    /// `statusOf` is the record; keccak256(channelId, asset + 2**160) for what a recorded channel holds of its home asset
    /// beside its total. A word without a record: CLOSED (bit 255), payout begun (bit 253), what is held (253 bits).
    function wordsOf(bytes32[] calldata keys) external view returns (uint256[] memory);

    /// @notice The id of a channel of this adjudicator on this chain: keccak256 over one word each of chain id,
    /// adjudicator, channelNonce, appDefinition, challengeDuration, asset, total, and the participants. Whether the fixed part is good
    /// it does not say.
    function channelIdOf(FixedPart calldata fixedPart) external view returns (bytes32);

    /// @notice The EIP-712 struct hash of a state, given as it is signed: of
    /// State(bytes32 channelId,Allocation[] outcome,bytes appData,bytes evidence,uint48 turnNum,bool isFinal) with
    /// Allocation(address asset,bytes32 destination,uint256 amount). Whether the state is good it does not say.
    function stateHashOf(State calldata state) external view returns (bytes32);

    /// @notice The EIP-712 domain of all signatures (EIP-5267): name "Forcemove", version "2", chain id, this contract.
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        );
}
