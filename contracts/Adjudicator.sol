// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {IAdjudicator} from "./interfaces/IAdjudicator.sol";
import {Hashing} from "./libraries/Hashing.sol";
import {Outcomes} from "./libraries/Outcomes.sol";
import {Payments} from "./libraries/Payments.sol";
import {Records} from "./libraries/Records.sol";
import {Rules} from "./libraries/Rules.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {Word, Words} from "./libraries/Words.sol";
import {Allocation, FixedPart, Signature, State, VariablePart} from "./types/Channel.sol";

/// @title The adjudicator
/// @dev Entry points read as checks, effects, interactions. One lock spans everything that moves money; and since a word
/// has money and record, whatever writes a word refuses to run while money is being moved.
contract Adjudicator is IAdjudicator, ReentrancyGuardTransient {
    using Outcomes for bytes32;

    /// @dev Chooses every allocation.
    uint256 private constant ALL = type(uint256).max;

    uint256 private immutable _chainId = block.chainid;
    bytes32 private immutable _domainSeparator = Hashing.domainSeparator();

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
        (bytes32 slot, Word word) = _receiving(channelId, asset);
        if (word.isRecorded()) revert ChannelFull(channelId);
        uint256 held = word.requireNoPayout(channelId);
        if (held < expectedHeld) revert HoldingsBelowExpected(held, expectedHeld);
        uint256 target;
        unchecked {
            // There is not so much ether.
            if (!isEther && amount > Words.MAX_AMOUNT - expectedHeld) revert HoldingsOverflow(expectedHeld, amount);
            target = expectedHeld + amount;
        }
        if (held >= target) revert NothingToDeposit(held, target);

        if (isEther) {
            Words.store(slot, Words.wrap(target));
            emit EtherDeposited(channelId, target);
            if (held != expectedHeld) _giveBack(held - expectedHeld);
        } else {
            held += _pull(asset, held, target - held);
            Words.store(slot, Words.wrap(held));
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
    ) external nonReentrantView {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Word word) = _requireLive(fixedPart, participants);
        VariablePart calldata state = _lastOf(states);
        uint48 turnNum = state.turnNum;
        bytes32 stateHash;
        bytes32 outcomeHash;
        if (word.isRecorded() && word.isOpen() && turnNum == word.turnNumRecord()) {
            (stateHash, outcomeHash) = _requireRecorded(channelId, word, state);
            signatures = signatures[:0]; // What is not checked must not be logged.
        } else {
            _requireNewer(word, turnNum);
            (stateHash, outcomeHash) = _requireSupported(
                channelId, word, fixedPart, participants, states, state, signatures, signedStates
            );
            if (word.isClosed()) revert ChannelClosed(channelId);
        }
        _requireChallenger(channelId, participants, turnNum, stateHash, challengerSignature);

        uint48 finalizesAt = uint48(block.timestamp) + fixedPart.challengeDuration;
        _record(channelId, fixedPart, word, turnNum, finalizesAt, Words.fingerprintOf(stateHash, outcomeHash));
        emit ChallengeRegistered(channelId, finalizesAt, Records.pack(state, turnNum, signatures));
    }

    /// @inheritdoc IAdjudicator
    function respond(
        FixedPart calldata fixedPart,
        VariablePart calldata challenged,
        VariablePart calldata response,
        Signature calldata signature
    ) external nonReentrantView {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Word word) = _requireLive(fixedPart, participants);
        if (word.isOpen()) revert NoChallenge(channelId);
        (, bytes32 fromOutcome) = _requireRecorded(channelId, word, challenged);
        (bytes32 stateHash, bytes32 outcomeHash) =
            Rules.requireValidState(channelId, fixedPart, response, fromOutcome);
        Rules.requireValidTransition(
            channelId, fixedPart, participants.length, challenged, response, outcomeHash == fromOutcome
        );
        uint48 turnNum = response.turnNum;
        address mover = participants[turnNum % participants.length];
        Signatures.requireSigner(Hashing.digest(_domain(), stateHash), signature, mover);

        _record(channelId, fixedPart, word, turnNum, 0, Words.fingerprintOf(stateHash, outcomeHash));
        emit Responded(channelId, Records.pack(response, turnNum, signature));
    }

    /// @inheritdoc IAdjudicator
    function checkpoint(
        FixedPart calldata fixedPart,
        Signature[] calldata signatures,
        VariablePart[] calldata states,
        uint256 signedStates
    ) external nonReentrantView {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Word word) = _requireLive(fixedPart, participants);
        VariablePart calldata state = _lastOf(states);
        uint48 turnNum = state.turnNum;
        _requireNewer(word, turnNum);
        (bytes32 stateHash, bytes32 outcomeHash) = _requireSupported(
            channelId, word, fixedPart, participants, states, state, signatures, signedStates
        );
        if (word.isClosed()) revert ChannelClosed(channelId);

        _record(channelId, fixedPart, word, turnNum, 0, Words.fingerprintOf(stateHash, outcomeHash));
        emit Checkpointed(channelId, Records.pack(state, turnNum, signatures));
    }

    // ----------------------------------------------------------------------------------------------------- settling

    /// @inheritdoc IAdjudicator
    function conclude(
        FixedPart calldata fixedPart,
        Allocation[] calldata outcome,
        uint48 turnNum,
        Signature[] calldata signatures,
        uint8 push
    ) external nonReentrant {
        address[] calldata participants = fixedPart.participants;
        (bytes32 channelId, Word word) = _requireLive(fixedPart, participants);
        Outcomes.requireValid(outcome, channelId, fixedPart.asset, fixedPart.total);
        bytes32 stateHash = Hashing.stateHash(
            channelId, Hashing.outcomeHash(outcome), Hashing.EMPTY_HASH, Hashing.EMPTY_HASH, turnNum, true
        );
        Rules.requireSignedByAll(Hashing.digest(_domain(), stateHash), participants, signatures);
        if (word.isClosed()) revert ChannelClosed(channelId);

        if (_payAll(channelId, fixedPart.asset, word, outcome, push)) return;
        emit Concluded(channelId, turnNum);
        uint48 recorded = word.turnNumRecord();
        word = _record(
            channelId, fixedPart, word, turnNum > recorded ? turnNum : recorded, uint48(block.timestamp), 0
        );
        _payInPart(Payout(channelId, fixedPart.asset, word, stateHash, ALL, push), outcome);
    }

    /// @inheritdoc IAdjudicator
    function transfer(
        bytes32 channelId,
        address asset,
        bytes32 stateHash,
        Allocation[] calldata outcome,
        uint256[] calldata indices,
        uint8 push
    ) external nonReentrant {
        Word word = Words.load(Words.slotOf(channelId, asset));
        if (!word.isFinalized()) revert ChannelNotFinalized(channelId, word.finalizesAt());
        word.requireFingerprint(stateHash, Hashing.outcomeHash(outcome));
        uint256 chosen = _choose(outcome, indices);

        if (chosen == ALL && _payAll(channelId, asset, word, outcome, push)) return;
        _payInPart(Payout(channelId, asset, word, stateHash, chosen, push), outcome);
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
    function statusOf(bytes32 channelId, address asset) external view returns (uint256) {
        Word word = Words.load(Words.slotOf(channelId, asset));
        return word.isRecorded() ? Word.unwrap(word) : 0;
    }

    /// @inheritdoc IAdjudicator
    function holdingsOf(bytes32 channelId, address asset, uint256 total)
        external
        view
        returns (uint256 held, bool payoutBegun, bool closed)
    {
        Word word = Words.load(Words.slotOf(channelId, asset));
        if (word.isClosed()) return (word.amount(), true, true);
        if (!word.isRecorded()) return (word.amount(), word.hasPayoutBegun(), false);
        Word late = Words.load(Words.lateSlotOf(channelId, asset));
        return (_held(channelId, asset, word, total), late.hasPayoutBegun(), false);
    }

    /// @inheritdoc IAdjudicator
    function creditOf(address account, address asset) external view returns (uint256) {
        return _credits[account][asset];
    }

    /// @inheritdoc IAdjudicator
    function wordsOf(bytes32[] calldata keys) external view returns (uint256[] memory words) {
        words = new uint256[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            words[i] = Word.unwrap(Words.load(keys[i]));
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
        return (hex"0f", "Forcemove", "2", block.chainid, address(this), bytes32(0), new uint256[](0));
    }

    // ------------------------------------------------------------------------------------------------------- checks

    /// @dev The channel's id and the word of its home asset; refuses a finalised channel, and a bad fixed part where nothing
    /// is recorded (where something is, the id shows that it was good).
    function _requireLive(FixedPart calldata fixedPart, address[] calldata participants)
        private
        view
        returns (bytes32 channelId, Word word)
    {
        channelId = Hashing.channelId(fixedPart, participants);
        word = Words.load(Words.slotOf(channelId, fixedPart.asset));
        if (!word.isRecorded()) Rules.requireValidFixedPart(fixedPart, participants);
        else if (word.isFinalized()) revert ChannelFinalized(channelId, word.finalizesAt());
    }

    function _lastOf(VariablePart[] calldata states) private pure returns (VariablePart calldata) {
        uint256 count = states.length;
        if (count == 0) revert StateCountOutOfRange(0);
        unchecked {
            return states[count - 1];
        }
    }

    /// @dev Refuses a turn that is not above the record; where nothing is recorded, any is.
    function _requireNewer(Word word, uint48 turnNum) private pure {
        if (word.isRecorded() && turnNum <= word.turnNumRecord()) {
            revert TurnNumberNotIncreased(word.turnNumRecord(), turnNum);
        }
    }

    /// @dev Refuses a proof that does not support its last state, `state`, and returns that state's hashes. A longer one
    /// with one signature less than states begins with the recorded state.
    function _requireSupported(
        bytes32 channelId,
        Word word,
        FixedPart calldata fixedPart,
        address[] calldata participants,
        VariablePart[] calldata states,
        VariablePart calldata state,
        Signature[] calldata signatures,
        uint256 signedStates
    ) internal view returns (bytes32 stateHash, bytes32 outcomeHash) {
        if (states.length == 1) {
            if (signedStates != 0) revert SignedStatesNotCanonical(signedStates);
            (stateHash, outcomeHash) = Rules.requireValidState(channelId, fixedPart, state, 0);
            Rules.requireSignedByAll(Hashing.digest(_domain(), stateHash), participants, signatures);
        } else {
            bool fromRecord = signedStates == 0 && signatures.length + 1 == states.length;
            bytes32[] memory hashes;
            (hashes, outcomeHash) =
                Rules.requireValidChain(channelId, word, fixedPart, participants.length, states, fromRecord);
            if (fromRecord) {
                Rules.requireSignedByMovers(_domain(), hashes, state.turnNum, participants, signatures);
            } else {
                Rules.requireSignedInTurn(_domain(), hashes, state.turnNum, participants, signatures, signedStates);
            }
            stateHash = hashes[hashes.length - 1];
        }
    }

    /// @dev Refuses a state that is not the recorded one, which was found valid when it was recorded.
    function _requireRecorded(bytes32 channelId, Word word, VariablePart calldata state)
        private
        pure
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        (stateHash, outcomeHash) = Rules.hashState(channelId, state);
        word.requireFingerprint(stateHash, outcomeHash);
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

    /// @dev Records a state in the home asset's word, which was `word`; what the channel holds stays what it was.
    function _record(
        bytes32 channelId,
        FixedPart calldata fixedPart,
        Word word,
        uint48 turnNum,
        uint48 finalizesAt,
        uint256 fingerprint
    ) private returns (Word recorded) {
        address asset = fixedPart.asset;
        recorded = word.record(turnNum, finalizesAt, fingerprint);
        if (!word.isRecorded()) {
            uint256 total = fixedPart.total;
            uint256 late = word.amount();
            if (total != 0 && late >= total) {
                late -= total;
                recorded = recorded.withTotal(late != 0);
            }
            if (late != 0) Words.store(Words.lateSlotOf(channelId, asset), Words.wrap(late));
        }
        Words.store(Words.slotOf(channelId, asset), recorded);
    }

    /// @dev Closes the channel: no record is left in the home asset's words, of which `word` is the first, and no money
    /// but what is `stuck`.
    function _close(bytes32 channelId, address asset, Word word, uint256 stuck) private {
        if (word.isRecorded() && word.hasLate()) Words.store(Words.lateSlotOf(channelId, asset), Words.EMPTY);
        Words.store(Words.slotOf(channelId, asset), Words.closed(stuck));
        emit Closed(channelId);
    }

    /// @dev What a channel holds of its home asset, in whose word `word` stands. `total`: what it is funded with.
    function _held(bytes32 channelId, address asset, Word word, uint256 total) private view returns (uint256 held) {
        if (!word.isRecorded()) return word.amount();
        if (word.isFull()) held = total;
        if (word.hasLate()) held += Words.load(Words.lateSlotOf(channelId, asset)).amount();
    }

    /// @dev The slot and the word that money of this asset comes into: the late one where a state is recorded, unless the
    /// channel is full.
    function _receiving(bytes32 channelId, address asset) private view returns (bytes32 slot, Word word) {
        slot = Words.slotOf(channelId, asset);
        word = Words.load(slot);
        if (word.isRecorded() && !word.isFull()) {
            slot = Words.lateSlotOf(channelId, asset);
            word = Words.load(slot);
        }
    }

    /// @dev Pays everything and closes the channel; false, and nothing done, unless it is of the home asset alone, the
    /// holdings cover it, and it goes to addresses. What is held beyond it goes with the last payment.
    function _payAll(bytes32 channelId, address asset, Word word, Allocation[] calldata outcome, uint256 push)
        private
        returns (bool)
    {
        uint256 last = outcome.length - 1;
        if (outcome[0].asset != asset || outcome[last].asset != asset) return false;
        uint256 total = 0;
        for (uint256 i = 0; i <= last; ++i) {
            Allocation calldata entry = outcome[i];
            if (!entry.destination.isAddress()) return false;
            unchecked {
                total += entry.amount;
            }
        }
        uint256 held = _held(channelId, asset, word, total);
        if (held < total) return false;
        _close(channelId, asset, word, 0);

        for (uint256 i = 0; i < last; ++i) {
            _push(asset, outcome[i].destination, outcome[i].amount, push);
        }
        unchecked {
            _push(asset, outcome[last].destination, outcome[last].amount + (held - total), push);
        }
        return true;
    }

    /// @dev A payout. `asset`: the home asset, in whose word `word`, the record, stands.
    struct Payout {
        bytes32 channelId;
        address asset;
        Word word;
        bytes32 stateHash;
        uint256 chosen;
        uint256 push;
    }

    /// @dev Pays what the holdings reach for, keeps the rest owed, and closes the channel if nothing is.
    function _payInPart(Payout memory payout, Allocation[] calldata outcome) private {
        (uint256[] memory payments, uint256[] memory left) = _takePayments(payout, outcome);
        Allocation[] memory remaining = outcome;
        bool owesNothing = true;
        bool paysAny = false;
        for (uint256 i = 0; i < payments.length; ++i) {
            remaining[i].amount -= payments[i];
            if (remaining[i].amount != 0) owesNothing = false;
            if (payments[i] != 0) paysAny = true;
        }
        if (owesNothing) {
            _closeAll(payout, outcome, payments, left);
        } else {
            bytes32 outcomeHash = Hashing.remainingOutcomeHash(remaining);
            _keepOwed(payout, outcome, left, paysAny, Words.fingerprintOf(payout.stateHash, outcomeHash));
            emit PartlyPaid(payout.channelId, payout.stateHash, remaining);
        }
        for (uint256 i = 0; i < payments.length; ++i) {
            // Channels were credited when their payment was taken.
            if (!outcome[i].destination.isAddress()) continue;
            _push(outcome[i].asset, outcome[i].destination, payments[i], payout.push);
        }
    }

    /// @dev What each chosen allocation is paid now; what goes to channels has arrived there on return. `left` is, at the
    /// place of an asset's last allocation, what the channel then holds of it. Nothing of it is stored yet.
    function _takePayments(Payout memory payout, Allocation[] calldata outcome)
        private
        returns (uint256[] memory payments, uint256[] memory left)
    {
        payments = new uint256[](outcome.length);
        left = new uint256[](outcome.length);
        for (uint256 i = 0; i < outcome.length;) {
            address asset = outcome[i].asset;
            (uint256 end, uint256 total) = Outcomes.groupTotal(outcome, i);
            uint256 held = _heldOf(payout, asset, total);
            uint256 available = held;
            for (; i < end; ++i) {
                uint256 worth = outcome[i].amount < available ? outcome[i].amount : available;
                available -= worth;
                if (worth == 0 || (payout.chosen >> i) & 1 == 0) continue;
                bytes32 destination = outcome[i].destination;
                if (!destination.isAddress() && !_creditChannel(destination, asset, worth)) continue;
                payments[i] = worth;
                held -= worth;
            }
            left[end - 1] = held;
        }
    }

    /// @dev What the channel holds of any asset. `total`: what a full channel holds of its home asset.
    function _heldOf(Payout memory payout, address asset, uint256 total) private view returns (uint256) {
        if (asset == payout.asset) return _held(payout.channelId, asset, payout.word, total);
        return Words.load(Words.slotOf(payout.channelId, asset)).amount();
    }

    /// @dev Closes the channel in every asset. What is held beyond the outcome goes with an asset's last payment; it is
    /// stuck only where that goes to a channel that takes no more, or the home asset is not in the outcome.
    function _closeAll(
        Payout memory payout,
        Allocation[] calldata outcome,
        uint256[] memory payments,
        uint256[] memory left
    ) private {
        uint256 ofHome = _heldOf(payout, payout.asset, 0);
        for (uint256 i = 0; i < outcome.length; ++i) {
            address asset = outcome[i].asset;
            if (i + 1 < outcome.length && outcome[i + 1].asset == asset) continue;
            bytes32 destination = outcome[i].destination;
            uint256 stuck = left[i];
            if (destination.isAddress()) {
                payments[i] += stuck;
                stuck = 0;
            } else if (stuck != 0 && _creditChannel(destination, asset, stuck)) {
                stuck = 0;
            }
            if (asset == payout.asset) ofHome = stuck;
            else Words.store(Words.slotOf(payout.channelId, asset), Words.closed(stuck));
        }
        _close(payout.channelId, payout.asset, payout.word, ofHome);
    }

    /// @dev Writes down what is held and owed after a payout in part: `fingerprint` is that of what is left.
    function _keepOwed(
        Payout memory payout,
        Allocation[] calldata outcome,
        uint256[] memory left,
        bool paysAny,
        uint256 fingerprint
    ) private {
        Word word = payout.word.record(payout.word.turnNumRecord(), payout.word.finalizesAt(), fingerprint);
        if (paysAny) {
            uint256 held = _heldOf(payout, payout.asset, 0);
            for (uint256 i = 0; i < outcome.length; ++i) {
                address asset = outcome[i].asset;
                if (i + 1 < outcome.length && outcome[i + 1].asset == asset) continue;
                if (asset == payout.asset) held = left[i];
                else Words.store(Words.slotOf(payout.channelId, asset), Words.afterPayout(left[i]));
            }
            word = word.withoutTotal();
            Words.store(Words.lateSlotOf(payout.channelId, payout.asset), Words.afterPayout(held));
        }
        Words.store(Words.slotOf(payout.channelId, payout.asset), word);
    }

    /// @dev Pays another channel; false, and nothing done, where it is closed or full, or could not hold so much.
    function _creditChannel(bytes32 channelId, address asset, uint256 amount) private returns (bool) {
        (bytes32 slot, Word word) = _receiving(channelId, asset);
        if (word.isRecorded() || word.isClosed() || !word.fits(amount)) return false;
        word = word.plus(amount);
        Words.store(slot, word);
        if (asset == address(0)) emit EtherDeposited(channelId, word.amount());
        else emit TokenDeposited(channelId, asset, word.amount());
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
        if (arrived > Words.MAX_AMOUNT - held) revert HoldingsOverflow(held, arrived);
    }

    /// @dev Returns to the depositor what somebody else has put in already.
    function _giveBack(uint256 amount) private nonReentrant {
        if (!Payments.tryPay(address(0), msg.sender, amount, gasleft())) {
            revert PaymentRefused(address(0), msg.sender, amount);
        }
    }

    /// @dev Pushes a payment, with `push` steps of gas; what is refused becomes a credit. A sender that gave less than a
    /// payee may need is refused, lest it turn good payments into credits.
    function _push(address asset, bytes32 destination, uint256 amount, uint256 push) private {
        if (amount == 0) return;
        address to = address(uint160(uint256(destination)));
        uint256 gasAllowance = Payments.allowance(push);
        if (Payments.tryPay(asset, to, amount, gasAllowance)) return;
        Payments.requireEnough(gasAllowance);
        uint256 credit = _credits[to][asset];
        // Only an asset that claims a supply of 2**256 or more reaches the cap; it must not block the others' payments.
        _credits[to][asset] = amount > type(uint256).max - credit ? type(uint256).max : credit + amount;
        emit Credited(to, asset, amount);
    }
}
