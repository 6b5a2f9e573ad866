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
import {Rules, StateHashes} from "./libraries/Rules.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Status, StatusLibrary} from "./libraries/Status.sol";
import {Allocation, FixedPart, Signature, SupportProof, VariablePart} from "./types/Channel.sol";

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
        nonReentrant
    {
        if (channelId.isAddress()) revert NotAChannelId(channelId);
        uint256 value = asset == address(0) ? amount : 0;
        if (msg.value != value) revert ValueMismatch(value, msg.value);
        Holdings holdings = _holdings[channelId][asset];
        if (holdings.isClosed()) revert ChannelClosed(channelId);
        if (holdings.hasPayoutBegun()) revert PayoutBegun(channelId);
        uint256 held = holdings.amount();
        if (held < expectedHeld) revert HoldingsBelowExpected(held, expectedHeld);
        if (amount > HoldingsLibrary.MAX - expectedHeld) revert HoldingsOverflow(expectedHeld, amount);
        uint256 target = expectedHeld + amount;
        if (held >= target) revert NothingToDeposit(held, target);
        uint256 missing = target - held;

        uint256 arrived = asset == address(0) ? missing : _pull(asset, missing);
        if (!holdings.fits(arrived)) revert HoldingsOverflow(held, arrived);
        _holdings[channelId][asset] = holdings.plus(arrived);
        emit Deposited(channelId, asset, arrived, held + arrived);

        uint256 rest = value == 0 ? 0 : amount - missing;
        if (rest != 0 && !Payments.tryPay(asset, msg.sender, rest, gasleft())) {
            revert PaymentRefused(asset, msg.sender, rest);
        }
    }

    // ----------------------------------------------------------------------------------------------------- disputes

    /// @inheritdoc IAdjudicator
    function challenge(
        FixedPart calldata fixedPart,
        SupportProof calldata proof,
        Signature calldata challengerSignature
    ) external {
        (bytes32 channelId, Status status) = _requireLive(fixedPart);
        if (proof.states.length == 0) revert StateCountOutOfRange(0);
        VariablePart calldata state = proof.states[proof.states.length - 1];
        bytes32 stateHash;
        uint160 fingerprint;
        if (!status.isEmpty() && status.isOpen() && state.turnNum == status.turnNumRecord()) {
            (stateHash, fingerprint) = _requireRecorded(channelId, status, state);
            _requireNoProof(proof);
        } else {
            (stateHash, fingerprint) = _requireNewer(channelId, status, fixedPart, proof);
        }
        _requireChallenger(channelId, fixedPart, state.turnNum, stateHash, challengerSignature);

        uint48 finalizesAt = uint48(block.timestamp) + fixedPart.challengeDuration;
        _statuses[channelId] = StatusLibrary.pack(state.turnNum, finalizesAt, fingerprint);
        emit ChallengeRegistered(channelId, finalizesAt, state, proof.signatures, proof.signedStates);
    }

    /// @inheritdoc IAdjudicator
    function respond(
        FixedPart calldata fixedPart,
        VariablePart calldata challenged,
        VariablePart calldata response,
        Signature calldata signature
    ) external {
        (bytes32 channelId, Status status) = _requireLive(fixedPart);
        if (status.isOpen()) revert NoChallenge(channelId);
        StateHashes memory from = Rules.requireValidState(channelId, challenged);
        _requireFingerprint(status, StatusLibrary.fingerprintOf(from.state, from.outcome));
        StateHashes memory to = Rules.requireValidState(channelId, response);
        Rules.requireValidTransition(fixedPart, challenged, from, response, to);
        address mover = fixedPart.participants[response.turnNum % fixedPart.participants.length];
        Signatures.requireSigner(Hashing.digest(_domain(), to.state), signature, mover);

        _recordOpen(channelId, response.turnNum, StatusLibrary.fingerprintOf(to.state, to.outcome));
        emit Responded(channelId, response, signature);
    }

    /// @inheritdoc IAdjudicator
    function checkpoint(FixedPart calldata fixedPart, SupportProof calldata proof) external {
        (bytes32 channelId, Status status) = _requireLive(fixedPart);
        if (proof.states.length == 0) revert StateCountOutOfRange(0);
        VariablePart calldata state = proof.states[proof.states.length - 1];
        (, uint160 fingerprint) = _requireNewer(channelId, status, fixedPart, proof);

        _recordOpen(channelId, state.turnNum, fingerprint);
        emit Checkpointed(channelId, state, proof.signatures, proof.signedStates);
    }

    // ----------------------------------------------------------------------------------------------------- settling

    /// @inheritdoc IAdjudicator
    function conclude(
        FixedPart calldata fixedPart,
        Allocation[] calldata outcome,
        uint48 turnNum,
        Signature[] calldata signatures
    ) external nonReentrant {
        (bytes32 channelId, Status status) = _requireLive(fixedPart);
        Outcomes.requireValid(outcome, channelId);
        bytes32 stateHash =
            Hashing.stateHash(channelId, Hashing.outcomeHash(outcome), Hashing.EMPTY_HASH, turnNum, true);
        address[] calldata participants = fixedPart.participants;
        if (signatures.length != participants.length) {
            revert SignatureCountMismatch(participants.length, signatures.length);
        }
        bytes32 digest = Hashing.digest(_domain(), stateHash);
        for (uint256 i = 0; i < participants.length; ++i) {
            Signatures.requireSigner(digest, signatures[i], participants[i]);
        }


        uint48 recorded = status.turnNumRecord();
        Status finalized = StatusLibrary.pack(turnNum > recorded ? turnNum : recorded, uint48(block.timestamp), 0);
        emit Concluded(channelId, turnNum);
        _settle(channelId, stateHash, outcome, ALL, status, finalized);
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
        _requireFingerprint(status, StatusLibrary.fingerprintOf(stateHash, Hashing.outcomeHash(outcome)));
        uint256 chosen = _choose(outcome, indices);

        _settle(channelId, stateHash, outcome, chosen, status, status);
    }

    /// @inheritdoc IAdjudicator
    function claim(address asset, address to) external nonReentrant {
        uint256 amount = _credits[msg.sender][asset];
        if (amount == 0) revert NothingToClaim(msg.sender, asset);
        if (to == address(0) || to == address(this)) revert ForbiddenRecipient(to);

        delete _credits[msg.sender][asset];
        emit Claimed(msg.sender, asset, to, amount);

        if (!Payments.tryPay(asset, to, amount, gasleft())) revert PaymentRefused(asset, to, amount);
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

    // ------------------------------------------------------------------------------------------------------- checks

    /// @dev The channel's id and status; refuses a finalised channel, and a bad fixed part where nothing is recorded
    /// (where something is, the id shows that it was good).
    function _requireLive(FixedPart calldata fixedPart) private view returns (bytes32 channelId, Status status) {
        channelId = Hashing.channelId(fixedPart);
        status = _statuses[channelId];
        if (status.isEmpty()) Rules.requireValidFixedPart(fixedPart);
        else if (status.isFinalized()) revert ChannelFinalized(channelId, status.finalizesAt());
    }

    /// @dev Refuses a state that is not above the record (nothing recorded: any is), not supported, or of a closed
    /// channel. A closed channel has no status, so only an empty one needs the look.
    function _requireNewer(
        bytes32 channelId,
        Status status,
        FixedPart calldata fixedPart,
        SupportProof calldata proof
    ) private view returns (bytes32 stateHash, uint160 fingerprint) {
        VariablePart calldata state = proof.states[proof.states.length - 1];
        if (!status.isEmpty() && state.turnNum <= status.turnNumRecord()) {
            revert TurnNumberNotIncreased(status.turnNumRecord(), state.turnNum);
        }
        StateHashes memory hashes = Rules.requireSupported(_domain(), channelId, fixedPart, proof);
        if (status.isEmpty()) _requireNotClosed(channelId, state.outcome);
        return (hashes.state, StatusLibrary.fingerprintOf(hashes.state, hashes.outcome));
    }

    /// @dev Refuses a state that is not the recorded one.
    function _requireRecorded(bytes32 channelId, Status status, VariablePart calldata state)
        private
        view
        returns (bytes32 stateHash, uint160 fingerprint)
    {
        StateHashes memory hashes = Rules.requireValidState(channelId, state);
        fingerprint = StatusLibrary.fingerprintOf(hashes.state, hashes.outcome);
        _requireFingerprint(status, fingerprint);
        return (hashes.state, fingerprint);
    }

    /// @dev What is not checked must not be logged.
    function _requireNoProof(SupportProof calldata proof) private pure {
        if (proof.states.length != 1) revert StateCountOutOfRange(proof.states.length);
        if (proof.signatures.length != 0) revert SignatureCountMismatch(0, proof.signatures.length);
        if (proof.signedStates != 0) revert SignedStatesNotCanonical(proof.signedStates);
    }

    function _requireFingerprint(Status status, uint160 fingerprint) private pure {
        if (status.fingerprint() != fingerprint) revert FingerprintMismatch(status.fingerprint(), fingerprint);
    }

    /// @dev The sender is a participant, or a participant has signed the challenge.
    function _requireChallenger(
        bytes32 channelId,
        FixedPart calldata fixedPart,
        uint48 turnNum,
        bytes32 stateHash,
        Signature calldata signature
    ) private view {
        if (_isParticipant(fixedPart, msg.sender)) return;
        if (signature.r == 0 && signature.vs == 0) revert ChallengerNotParticipant(msg.sender);
        bytes32 challengeHash = Hashing.challengeHash(channelId, turnNum, stateHash);
        address signer = Signatures.recover(Hashing.digest(_domain(), challengeHash), signature);
        if (!_isParticipant(fixedPart, signer)) revert ChallengerNotParticipant(signer);
    }

    function _isParticipant(FixedPart calldata fixedPart, address account) private pure returns (bool) {
        address[] calldata participants = fixedPart.participants;
        for (uint256 i = 0; i < participants.length; ++i) {
            if (participants[i] == account) return true;
        }
        return false;
    }

    function _requireNotClosed(bytes32 channelId, Allocation[] calldata outcome) private view {
        for (uint256 start = 0; start < outcome.length;) {
            if (_holdings[channelId][outcome[start].asset].isClosed()) revert ChannelClosed(channelId);
            (start,) = Outcomes.groupTotal(outcome, start);
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

    function _recordOpen(bytes32 channelId, uint48 turnNum, uint160 fingerprint) private {
        _statuses[channelId] = StatusLibrary.pack(turnNum, 0, fingerprint);
    }

    /// @dev Takes an ERC-20 from the sender and returns what arrived.
    function _pull(address asset, uint256 amount) private returns (uint256) {
        uint256 before = IERC20(asset).balanceOf(address(this));
        SafeERC20.safeTransferFrom(IERC20(asset), msg.sender, address(this), amount);
        return IERC20(asset).balanceOf(address(this)) - before;
    }

    /// @dev Pays the chosen allocations of a finalised channel: in full and once for all where that is possible.
    /// @param before The stored status.
    /// @param finalized The status that a remainder leaves, but for its fingerprint.
    function _settle(
        bytes32 channelId,
        bytes32 stateHash,
        Allocation[] calldata outcome,
        uint256 chosen,
        Status before,
        Status finalized
    ) private {
        if (chosen == ALL && _canPayAll(channelId, outcome)) {
            if (!before.isEmpty()) _statuses[channelId] = StatusLibrary.EMPTY;
            _closeAll(channelId, outcome);
            emit Closed(channelId);
            for (uint256 i = 0; i < outcome.length; ++i) {
                _push(outcome[i].asset, outcome[i].destination, outcome[i].amount);
            }
        } else {
            _settleInPart(channelId, stateHash, outcome, chosen, before, finalized);
        }
    }

    /// @dev Whether the holdings cover everything and everything goes to addresses. Refuses a closed channel.
    function _canPayAll(bytes32 channelId, Allocation[] calldata outcome) private view returns (bool) {
        for (uint256 start = 0; start < outcome.length;) {
            Holdings holdings = _holdings[channelId][outcome[start].asset];
            if (holdings.isClosed()) revert ChannelClosed(channelId);
            uint256 total;
            (start, total) = Outcomes.groupTotal(outcome, start);
            if (holdings.amount() < total) return false;
        }
        for (uint256 i = 0; i < outcome.length; ++i) {
            if (!outcome[i].destination.isAddress()) return false;
        }
        return true;
    }

    /// @dev Takes every total out of the holdings, which cover it, and leaves the tombstones.
    function _closeAll(bytes32 channelId, Allocation[] calldata outcome) private {
        for (uint256 start = 0; start < outcome.length;) {
            address asset = outcome[start].asset;
            uint256 total;
            (start, total) = Outcomes.groupTotal(outcome, start);
            _holdings[channelId][asset] = _holdings[channelId][asset].minus(total).withTombstone();
        }
    }

    /// @dev Pays what the holdings reach for, keeps the rest owed, and closes the channel if nothing is.
    function _settleInPart(
        bytes32 channelId,
        bytes32 stateHash,
        Allocation[] calldata outcome,
        uint256 chosen,
        Status before,
        Status finalized
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
            if (!before.isEmpty()) _statuses[channelId] = StatusLibrary.EMPTY;
            emit Closed(channelId);
        } else {
            _statuses[channelId] = StatusLibrary.pack(
                finalized.turnNumRecord(),
                finalized.finalizesAt(),
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
        _holdings[channelId][asset] = holdings.plus(amount);
        return true;
    }

    // ------------------------------------------------------------------------------------------------- interactions

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
