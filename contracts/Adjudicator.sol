// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {IAdjudicator} from "./interfaces/IAdjudicator.sol";
import {Hashing} from "./libraries/Hashing.sol";
import {Holdings, HoldingsLibrary} from "./libraries/Holdings.sol";
import {Outcomes} from "./libraries/Outcomes.sol";
import {Payments} from "./libraries/Payments.sol";
import {Records} from "./libraries/Records.sol";
import {Rules} from "./libraries/Rules.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Status, StatusLibrary} from "./libraries/Status.sol";
import {Allocation, FixedPart, HoldingsEntry, HoldingsKey, Signature, State, VariablePart} from "./types/Channel.sol";

/// @title The adjudicator
/// @dev Entry points read as checks, effects, interactions. One lock spans everything that moves money.
contract Adjudicator is IAdjudicator, ReentrancyGuardTransient {
    using Outcomes for bytes32;

    /// @dev Chooses every allocation.
    uint256 private constant ALL = type(uint256).max;

    uint256 private immutable _chainId = block.chainid;
    bytes32 private immutable _domainSeparator = Hashing.domainSeparator();

    mapping(bytes32 channelId => Status) private _statuses;
    mapping(bytes32 channelId => mapping(address asset => Holdings)) private _holdings;
    mapping(address account => mapping(address asset => uint256)) private _credits;

    // ------------------------------------------------------------------------------------------------------ funding

    /// @inheritdoc IAdjudicator
    function deposit(bytes32 channelId, address asset, uint256 expectedHeld, uint256 amount)
        external
        payable
        nonReentrantView
    {
        if (channelId.isAddress()) revert NotAChannelId(channelId);
        bool isEther = asset == address(0);
        uint256 value = isEther ? amount : 0;
        if (msg.value != value) revert ValueMismatch(value, msg.value);
        mapping(address => Holdings) storage ofChannel = _holdings[channelId];
        uint256 held = ofChannel[asset].requireNoPayout(channelId);
        if (held < expectedHeld) revert HoldingsBelowExpected(held, expectedHeld);
        uint256 target;
        unchecked {
            // There is not so much ether.
            if (!isEther && amount > HoldingsLibrary.MAX - expectedHeld) revert HoldingsOverflow(expectedHeld, amount);
            target = expectedHeld + amount;
        }
        if (held >= target) revert NothingToDeposit(held, target);

        if (isEther) {
            ofChannel[asset] = HoldingsLibrary.wrap(target);
            emit EtherDeposited(channelId, target);
            if (held != expectedHeld) _giveBack(held - expectedHeld);
        } else {
            held += _pull(asset, held, target - held);
            ofChannel[asset] = HoldingsLibrary.wrap(held);
            emit TokenDeposited(channelId, asset, held);
        }
    }

    // ----------------------------------------------------------------------------------------------------- disputes

    /// @inheritdoc IAdjudicator
    function challenge(
        FixedPart calldata fixedPart,
        Signature[] calldata signatures,
        VariablePart[] calldata states,
        uint256 signedStates,
        Signature calldata challengerSignature
    ) external {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Status status) = _requireLive(fixedPart, participants);
        VariablePart calldata state = _lastOf(states);
        uint48 turnNum = state.turnNum;
        bytes32 stateHash;
        bytes32 outcomeHash;
        if (!status.isEmpty() && status.isOpen() && turnNum == status.turnNumRecord()) {
            (stateHash, outcomeHash) = _requireRecorded(channelId, status, state);
            signatures = signatures[:0]; // What is not checked must not be logged.
        } else {
            _requireNewer(status, turnNum);
            (stateHash, outcomeHash) = _requireSupported(
                channelId, status, fixedPart, participants, states, state, signatures, signedStates
            );
            if (status.isEmpty()) _requireNotClosed(channelId, state.outcome);
        }
        _requireChallenger(channelId, participants, turnNum, stateHash, challengerSignature);

        uint48 finalizesAt = uint48(block.timestamp) + fixedPart.challengeDuration;
        _statuses[channelId] =
            StatusLibrary.pack(turnNum, finalizesAt, StatusLibrary.fingerprintOf(stateHash, outcomeHash));
        emit ChallengeRegistered(channelId, finalizesAt, Records.pack(state, turnNum, signatures));
    }

    /// @inheritdoc IAdjudicator
    function respond(
        FixedPart calldata fixedPart,
        VariablePart calldata challenged,
        VariablePart calldata response,
        Signature calldata signature
    ) external {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Status status) = _requireLive(fixedPart, participants);
        if (status.isOpen()) revert NoChallenge(channelId);
        (, bytes32 fromOutcome) = _requireRecorded(channelId, status, challenged);
        (bytes32 stateHash, bytes32 outcomeHash) = Rules.requireValidState(channelId, response, fromOutcome);
        Rules.requireValidTransition(
            channelId, fixedPart, participants.length, challenged, response, outcomeHash == fromOutcome
        );
        uint48 turnNum = response.turnNum;
        address mover = participants[turnNum % participants.length];
        Signatures.requireSigner(Hashing.digest(_domain(), stateHash), signature, mover);

        _recordOpen(channelId, turnNum, stateHash, outcomeHash);
        emit Responded(channelId, Records.pack(response, turnNum, signature));
    }

    /// @inheritdoc IAdjudicator
    function checkpoint(
        FixedPart calldata fixedPart,
        Signature[] calldata signatures,
        VariablePart[] calldata states,
        uint256 signedStates
    ) external {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Status status) = _requireLive(fixedPart, participants);
        VariablePart calldata state = _lastOf(states);
        uint48 turnNum = state.turnNum;
        _requireNewer(status, turnNum);
        (bytes32 stateHash, bytes32 outcomeHash) = _requireSupported(
            channelId, status, fixedPart, participants, states, state, signatures, signedStates
        );
        if (status.isEmpty()) _requireNotClosed(channelId, state.outcome);

        _recordOpen(channelId, turnNum, stateHash, outcomeHash);
        emit Checkpointed(channelId, Records.pack(state, turnNum, signatures));
    }

    // ----------------------------------------------------------------------------------------------------- settling

    /// @inheritdoc IAdjudicator
    function conclude(
        FixedPart calldata fixedPart,
        Allocation[] calldata outcome,
        uint48 turnNum,
        Signature[] calldata signatures
    ) external nonReentrant {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Status status) = _requireLive(fixedPart, participants);
        Outcomes.requireValid(outcome, channelId);
        bytes32 stateHash =
            Hashing.stateHash(channelId, Hashing.outcomeHash(outcome), Hashing.EMPTY_HASH, turnNum, true);
        Rules.requireSignedByAll(Hashing.digest(_domain(), stateHash), participants, signatures);

        if (_payAll(channelId, status, outcome)) return;
        emit Concluded(channelId, turnNum);
        uint48 recorded = status.turnNumRecord();
        status = StatusLibrary.pack(turnNum > recorded ? turnNum : recorded, uint48(block.timestamp), 0);
        _payInPart(channelId, status, stateHash, outcome, ALL);
    }

    /// @inheritdoc IAdjudicator
    function transfer(
        bytes32 channelId,
        bytes32 stateHash,
        Allocation[] calldata outcome,
        uint256[] calldata indices
    ) external nonReentrant {
        Status status = _statuses[channelId];
        if (!status.isFinalized()) revert ChannelNotFinalized(channelId, status.finalizesAt());
        status.requireFingerprint(stateHash, Hashing.outcomeHash(outcome));
        uint256 chosen = _choose(outcome, indices);

        if (chosen == ALL && _payAll(channelId, status, outcome)) return;
        _payInPart(channelId, status, stateHash, outcome, chosen);
    }

    /// @inheritdoc IAdjudicator
    function claim(address asset, address to) external nonReentrant {
        _payCredit(msg.sender, asset, to);
    }

    /// @inheritdoc IAdjudicator
    function payCredit(address account, address asset) external nonReentrant {
        _payCredit(account, asset, account);
    }

    // -------------------------------------------------------------------------------------------------------- views

    /// @inheritdoc IAdjudicator
    function statusOf(bytes32 channelId) external view returns (uint256) {
        return Status.unwrap(_statuses[channelId]);
    }

    /// @inheritdoc IAdjudicator
    function holdingsOf(bytes32 channelId, address asset)
        external
        view
        returns (uint256 held, bool payoutBegun, bool closed)
    {
        Holdings holdings = _holdings[channelId][asset];
        return (holdings.amount(), holdings.hasPayoutBegun(), holdings.isClosed());
    }

    /// @inheritdoc IAdjudicator
    function creditOf(address account, address asset) external view returns (uint256) {
        return _credits[account][asset];
    }

    /// @inheritdoc IAdjudicator
    function statusesOf(bytes32[] calldata channelIds) external view returns (uint256[] memory statuses) {
        statuses = new uint256[](channelIds.length);
        for (uint256 i = 0; i < channelIds.length; ++i) {
            statuses[i] = Status.unwrap(_statuses[channelIds[i]]);
        }
    }

    /// @inheritdoc IAdjudicator
    function holdingsOfList(HoldingsKey[] calldata keys) external view returns (HoldingsEntry[] memory entries) {
        entries = new HoldingsEntry[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            Holdings holdings = _holdings[keys[i].channelId][keys[i].asset];
            entries[i] = HoldingsEntry(holdings.amount(), holdings.hasPayoutBegun(), holdings.isClosed());
        }
    }

    /// @inheritdoc IAdjudicator
    function channelIdOf(FixedPart calldata fixedPart) external view returns (bytes32) {
        return Hashing.plainChannelId(fixedPart);
    }

    /// @inheritdoc IAdjudicator
    function stateHashOf(State calldata state) external pure returns (bytes32) {
        return Hashing.plainStateHash(state);
    }

    /// @inheritdoc IAdjudicator
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
        )
    {
        return (hex"0f", "Forcemove", "1", block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    // ------------------------------------------------------------------------------------------------------- checks

    /// @dev The channel's id and status; refuses a finalised channel, and a bad fixed part where nothing is recorded
    /// (where something is, the id shows that it was good).
    function _requireLive(FixedPart calldata fixedPart, address[] calldata participants)
        private
        view
        returns (bytes32 channelId, Status status)
    {
        channelId = Hashing.channelId(fixedPart, participants);
        status = _statuses[channelId];
        if (status.isEmpty()) Rules.requireValidFixedPart(fixedPart, participants);
        else if (status.isFinalized()) revert ChannelFinalized(channelId, status.finalizesAt());
    }

    function _lastOf(VariablePart[] calldata states) private pure returns (VariablePart calldata) {
        uint256 count = states.length;
        if (count == 0) revert StateCountOutOfRange(0);
        unchecked {
            return states[count - 1];
        }
    }

    /// @dev Refuses a turn that is not above the record; where nothing is recorded, any is.
    function _requireNewer(Status status, uint48 turnNum) private pure {
        if (!status.isEmpty() && turnNum <= status.turnNumRecord()) {
            revert TurnNumberNotIncreased(status.turnNumRecord(), turnNum);
        }
    }

    /// @dev Refuses a proof that does not support its last state, `state`, and returns that state's hashes. A longer one
    /// with one signature less than states begins with the recorded state.
    function _requireSupported(
        bytes32 channelId,
        Status status,
        FixedPart calldata fixedPart,
        address[] calldata participants,
        VariablePart[] calldata states,
        VariablePart calldata state,
        Signature[] calldata signatures,
        uint256 signedStates
    ) internal view returns (bytes32 stateHash, bytes32 outcomeHash) {
        if (states.length == 1) {
            if (signedStates != 0) revert SignedStatesNotCanonical(signedStates);
            (stateHash, outcomeHash) = Rules.requireValidState(channelId, state, 0);
            Rules.requireSignedByAll(Hashing.digest(_domain(), stateHash), participants, signatures);
        } else {
            bool fromRecord = signedStates == 0 && signatures.length + 1 == states.length;
            bytes32[] memory hashes;
            (hashes, outcomeHash) =
                Rules.requireValidChain(channelId, status, fixedPart, participants.length, states, fromRecord);
            if (fromRecord) {
                Rules.requireSignedByMovers(_domain(), hashes, state.turnNum, participants, signatures);
            } else {
                Rules.requireSignedInTurn(_domain(), hashes, state.turnNum, participants, signatures, signedStates);
            }
            stateHash = hashes[hashes.length - 1];
        }
    }

    /// @dev Refuses a state that is not the recorded one, which was found valid when it was recorded.
    function _requireRecorded(bytes32 channelId, Status status, VariablePart calldata state)
        private
        pure
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        (stateHash, outcomeHash) = Rules.hashState(channelId, state);
        status.requireFingerprint(stateHash, outcomeHash);
    }

    /// @dev The sender is a participant, or a participant has signed the challenge.
    function _requireChallenger(
        bytes32 channelId,
        address[] calldata participants,
        uint48 turnNum,
        bytes32 stateHash,
        Signature calldata signature
    ) private view {
        if (_isAmong(participants, msg.sender)) return;
        if (signature.r == 0 && signature.vs == 0) revert ChallengerNotParticipant(msg.sender);
        bytes32 challengeHash = Hashing.challengeHash(channelId, turnNum, stateHash);
        address signer = Signatures.recover(Hashing.digest(_domain(), challengeHash), signature);
        if (!_isAmong(participants, signer)) revert ChallengerNotParticipant(signer);
    }

    function _isAmong(address[] calldata participants, address account) private pure returns (bool) {
        for (uint256 i = 0; i < participants.length; ++i) {
            if (participants[i] == account) return true;
        }
        return false;
    }

    /// @dev Refuses a closed channel. Closing leaves no status, so only an empty one calls for this look.
    function _requireNotClosed(bytes32 channelId, Allocation[] calldata outcome) private view {
        mapping(address => Holdings) storage holdings = _holdings[channelId];
        address previous;
        for (uint256 i = 0; i < outcome.length; ++i) {
            address asset = outcome[i].asset;
            if (i != 0 && asset == previous) continue;
            if (holdings[asset].isClosed()) revert ChannelClosed(channelId);
            previous = asset;
        }
    }

    /// @dev The allocations to pay, as a set of bits.
    function _choose(Allocation[] calldata outcome, uint256[] calldata indices) private pure returns (uint256 chosen) {
        if (indices.length == 0) return ALL;
        for (uint256 i = 0; i < indices.length; ++i) {
            uint256 index = indices[i];
            if (index >= outcome.length) revert IndexOutOfRange(index);
            if (i != 0 && index <= indices[i - 1]) revert IndicesNotIncreasing(i);
            if (outcome[index].asset != outcome[indices[0]].asset) revert IndexOfAnotherAsset(index);
            chosen |= 1 << index;
        }
    }

    /// @dev The EIP-712 domain: computed once, and again should the chain have forked away.
    function _domain() private view returns (bytes32) {
        return block.chainid == _chainId ? _domainSeparator : Hashing.domainSeparator();
    }

    // ------------------------------------------------------------------------------------------------------ effects

    function _recordOpen(bytes32 channelId, uint48 turnNum, bytes32 stateHash, bytes32 outcomeHash) private {
        _statuses[channelId] = StatusLibrary.pack(turnNum, 0, StatusLibrary.fingerprintOf(stateHash, outcomeHash));
    }

    /// @dev Pays everything and closes the channel; false, and nothing done, unless it is of one asset, the holdings
    /// cover it, and it goes to addresses.
    function _payAll(bytes32 channelId, Status status, Allocation[] calldata outcome) private returns (bool) {
        address asset = outcome[0].asset;
        if (outcome[outcome.length - 1].asset != asset) return false;
        uint256 total = 0;
        for (uint256 i = 0; i < outcome.length; ++i) {
            Allocation calldata entry = outcome[i];
            if (!entry.destination.isAddress()) return false;
            unchecked {
                total += entry.amount;
            }
        }
        mapping(address => Holdings) storage ofChannel = _holdings[channelId];
        Holdings holdings = ofChannel[asset];
        if (holdings.isClosed()) revert ChannelClosed(channelId);
        if (holdings.amount() < total) return false;

        if (!status.isEmpty()) _statuses[channelId] = StatusLibrary.EMPTY;
        ofChannel[asset] = holdings.minus(total).withTombstone();
        emit Closed(channelId);

        for (uint256 i = 0; i < outcome.length; ++i) {
            Allocation calldata entry = outcome[i];
            _push(asset, entry.destination, entry.amount);
        }
        return true;
    }

    /// @dev Pays what the holdings reach for, keeps the rest owed, and closes the channel if nothing is.
    /// @param status The finalised status; it may not be stored yet, and its fingerprint is about to change.
    function _payInPart(
        bytes32 channelId,
        Status status,
        bytes32 stateHash,
        Allocation[] calldata outcome,
        uint256 chosen
    ) private {
        (uint256[] memory payments, bool paysAny) = _takePayments(channelId, outcome, chosen);
        Allocation[] memory remaining = outcome;
        bool owesNothing = true;
        for (uint256 i = 0; i < payments.length; ++i) {
            remaining[i].amount -= payments[i];
            if (remaining[i].amount != 0) owesNothing = false;
        }
        _mark(channelId, outcome, paysAny, owesNothing);
        if (owesNothing) {
            _statuses[channelId] = StatusLibrary.EMPTY;
            emit Closed(channelId);
        } else {
            _statuses[channelId] = StatusLibrary.pack(
                status.turnNumRecord(),
                status.finalizesAt(),
                StatusLibrary.fingerprintOf(stateHash, Hashing.remainingOutcomeHash(remaining))
            );
            emit PartlyPaid(channelId, stateHash, remaining);
        }
        for (uint256 i = 0; i < payments.length; ++i) {
            // Channels were credited when their payment was taken.
            if (outcome[i].destination.isAddress()) _push(outcome[i].asset, outcome[i].destination, payments[i]);
        }
    }

    /// @dev Takes each chosen allocation's worth out of the holdings; what goes to channels has arrived there on return.
    function _takePayments(bytes32 channelId, Allocation[] calldata outcome, uint256 chosen)
        private
        returns (uint256[] memory payments, bool paysAny)
    {
        payments = new uint256[](outcome.length);
        for (uint256 i = 0; i < outcome.length;) {
            address asset = outcome[i].asset;
            Holdings holdings = _holdings[channelId][asset];
            if (holdings.isClosed()) revert ChannelClosed(channelId);
            uint256 available = holdings.amount();
            uint256 paid = 0;
            (uint256 end,) = Outcomes.groupTotal(outcome, i);
            for (; i < end; ++i) {
                uint256 worth = outcome[i].amount < available ? outcome[i].amount : available;
                available -= worth;
                if (worth == 0 || (chosen >> i) & 1 == 0) continue;
                bytes32 destination = outcome[i].destination;
                if (!destination.isAddress() && !_creditChannel(destination, asset, worth)) continue;
                payments[i] = worth;
                paid += worth;
            }
            if (paid != 0) {
                _holdings[channelId][asset] = holdings.minus(paid);
                paysAny = true;
            }
        }
    }

    /// @dev Flags the channel's holdings: closed once nothing is owed, else as having begun to pay.
    function _mark(bytes32 channelId, Allocation[] calldata outcome, bool paysAny, bool owesNothing) private {
        if (!paysAny && !owesNothing) return;
        for (uint256 start = 0; start < outcome.length;) {
            address asset = outcome[start].asset;
            Holdings holdings = _holdings[channelId][asset];
            _holdings[channelId][asset] = owesNothing ? holdings.withTombstone() : holdings.withPayoutBegun();
            (start,) = Outcomes.groupTotal(outcome, start);
        }
    }

    /// @dev Pays another channel; false, and nothing done, where it is closed or could not hold so much.
    function _creditChannel(bytes32 channelId, address asset, uint256 amount) private returns (bool) {
        Holdings holdings = _holdings[channelId][asset];
        if (holdings.isClosed() || !holdings.fits(amount)) return false;
        holdings = holdings.plus(amount);
        _holdings[channelId][asset] = holdings;
        if (asset == address(0)) emit EtherDeposited(channelId, holdings.amount());
        else emit TokenDeposited(channelId, asset, holdings.amount());
        return true;
    }

    // ------------------------------------------------------------------------------------------------- interactions

    /// @dev Pays a whole credit, with all the gas there is; a failure keeps it.
    function _payCredit(address account, address asset, address to) private {
        uint256 amount = _credits[account][asset];
        if (amount == 0) revert NothingToClaim(account, asset);
        if (to == address(0) || to == address(this)) revert ForbiddenRecipient(to);

        delete _credits[account][asset];
        emit Claimed(account, asset, to, amount);

        if (!Payments.tryPay(asset, to, amount, gasleft())) revert PaymentRefused(asset, to, amount);
    }

    /// @dev Takes an ERC-20 from the sender and returns what arrived.
    function _pull(address asset, uint256 held, uint256 amount) private nonReentrant returns (uint256 arrived) {
        uint256 before = IERC20(asset).balanceOf(address(this));
        SafeERC20.safeTransferFrom(IERC20(asset), msg.sender, address(this), amount);
        arrived = IERC20(asset).balanceOf(address(this)) - before;
        if (arrived > HoldingsLibrary.MAX - held) revert HoldingsOverflow(held, arrived);
    }

    /// @dev Returns to the depositor what somebody else has put in already.
    function _giveBack(uint256 amount) private nonReentrant {
        if (!Payments.tryPay(address(0), msg.sender, amount, gasleft())) {
            revert PaymentRefused(address(0), msg.sender, amount);
        }
    }

    /// @dev Pushes a payment; what is refused becomes a credit. A sender that leaves too little gas for the whole
    /// allowance is refused, lest it turn good payments into credits.
    function _push(address asset, bytes32 destination, uint256 amount) private {
        if (amount == 0) return;
        if (gasleft() < Payments.PUSH_REQUIRED) revert NotEnoughGasToPush(Payments.PUSH_REQUIRED, gasleft());
        address to = address(uint160(uint256(destination)));
        if (Payments.tryPay(asset, to, amount, Payments.PUSH_ALLOWANCE)) return;
        uint256 credit = _credits[to][asset];
        // Only an asset that claims a supply of 2**256 or more reaches the cap; it must not block the others' payments.
        _credits[to][asset] = amount > type(uint256).max - credit ? type(uint256).max : credit + amount;
        emit Credited(to, asset, amount);
    }
}
