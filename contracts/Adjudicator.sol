// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {IAdjudicator} from "./interfaces/IAdjudicator.sol";
import {Batch} from "./libraries/Batch.sol";
import {Channel} from "./libraries/Channels.sol";
import {Hashing} from "./libraries/Hashing.sol";
import {Entry, Outcome, Outcomes} from "./libraries/Outcomes.sol";
import {Payments} from "./libraries/Payments.sol";
import {Proof} from "./libraries/Proofs.sol";
import {Reader} from "./libraries/Reader.sol";
import {Rules} from "./libraries/Rules.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {GivenState} from "./libraries/States.sol";
import {Word, Words} from "./libraries/Words.sol";
import {FixedPart, State} from "./types/Channel.sol";

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
    function challenge() external nonReentrantView {
        (Channel channel, uint256 cursor) = Reader.channel(Reader.START);
        Proof proof = Reader.proof(cursor, channel);
        cursor = proof.end();
        bool isSigned = msg.data.length > cursor;
        Reader.requireEnd(isSigned ? cursor + Reader.SIGNATURE_SIZE : cursor);

        (bytes32 channelId, Word word) = _requireLive(channel);
        uint256 turnNum = proof.last().turnNum();
        bytes32 stateHash;
        bytes32 outcomeHash;
        // What is mostly not so comes first.
        bool isReopened = turnNum == word.turnNumRecord() && word.isOpen() && word.isRecorded();
        if (isReopened) (stateHash, outcomeHash) = _requireRecorded(channelId, word, proof);
        else (stateHash, outcomeHash) = _requireNewer(channelId, word, channel, proof);
        if (!channel.has(msg.sender)) _requireChallenger(channelId, channel, turnNum, stateHash, isSigned, cursor);

        uint256 finalizesAt;
        unchecked {
            // A duration has 32 bits in calldata.
            finalizesAt = block.timestamp + channel.challengeDuration();
        }
        _record(channelId, channel, word, turnNum, finalizesAt, Words.fingerprintOf(stateHash, outcomeHash));
        if (isReopened) emit ChallengeRegistered(channelId, uint48(finalizesAt), Reader.reopened(proof));
        else emit ChallengeRegistered(channelId, uint48(finalizesAt), msg.data[Reader.START:cursor]);
    }

    /// @inheritdoc IAdjudicator
    function respond() external nonReentrantView {
        (Channel channel, uint256 cursor) = Reader.channel(Reader.START);
        GivenState challenged;
        GivenState response;
        (challenged, cursor) = Reader.state(cursor, channel, Reader.NONE, Reader.FIRST);
        (response, cursor) = Reader.state(cursor, channel, challenged, Reader.LATER);
        Reader.requireEnd(cursor + Reader.SIGNATURE_SIZE);

        (bytes32 channelId, Word word) = _requireLive(channel);
        if (word.isOpen()) revert NoChallenge(channelId);
        uint48 turnNum = word.turnNumRecord() + 1;
        challenged.setTurnNum(turnNum - 1);
        response.setTurnNum(turnNum);
        (bytes32 stateHash, bytes32 fromOutcome) = challenged.hashes(channelId, 0);
        word.requireFingerprint(stateHash, fromOutcome);
        bytes32 outcomeHash;
        (stateHash, outcomeHash) = Rules.requireValidState(channelId, channel, response, fromOutcome);
        Rules.requireValidTransition(channelId, channel, challenged, response, outcomeHash == fromOutcome);
        Signatures.requireSigner(Hashing.digest(_domain(), stateHash), cursor, channel.mover(turnNum));

        _record(channelId, channel, word, turnNum, 0, Words.fingerprintOf(stateHash, outcomeHash));
        emit Responded(channelId, bytes.concat(bytes6(turnNum), msg.data[Reader.START:]));
    }

    /// @inheritdoc IAdjudicator
    function checkpoint() external nonReentrantView {
        (Channel channel, uint256 cursor) = Reader.channel(Reader.START);
        Proof proof = Reader.proof(cursor, channel);
        Reader.requireEnd(proof.end());

        (bytes32 channelId, Word word) = _requireLive(channel);
        (bytes32 stateHash, bytes32 outcomeHash) = _requireNewer(channelId, word, channel, proof);
        _record(channelId, channel, word, proof.last().turnNum(), 0, Words.fingerprintOf(stateHash, outcomeHash));
        emit Checkpointed(channelId, msg.data[Reader.START:]);
    }

    // ----------------------------------------------------------------------------------------------------- settling

    /// @inheritdoc IAdjudicator
    function conclude() external nonReentrant {
        (Channel channel, uint256 cursor) = Reader.channel(Reader.START);
        uint48 turnNum = uint48(Reader.number(cursor, 6));
        Outcome outcome;
        uint256 pushAt;
        unchecked {
            // A cursor is never further beyond calldata than an outcome is long.
            (outcome, cursor) = Reader.outcome(cursor + 6, channel);
            pushAt = cursor + Reader.SIGNATURE_SIZE * channel.count();
            Reader.requireEnd(pushAt + 1);
        }

        (bytes32 channelId, Word word) = _requireLive(channel);
        Outcomes.requireValid(outcome, channelId, channel.asset(), channel.total());
        bytes32 stateHash = Hashing.finalStateHash(channelId, Hashing.outcomeHash(outcome), turnNum);
        Rules.requireSignedByAll(Hashing.digest(_domain(), stateHash), channel, cursor);
        if (word.isClosed()) revert ChannelClosed(channelId);

        uint256 push = Reader.number(pushAt, 1);
        if (_payAll(channelId, channel.asset(), word, outcome, push)) return;
        emit Concluded(channelId, turnNum);
        uint48 recorded = word.turnNumRecord();
        word = _record(channelId, channel, word, turnNum > recorded ? turnNum : recorded, block.timestamp, 0);
        _payInPart(Payout(channelId, channel.asset(), word, stateHash, ALL, push), outcome);
    }

    /// @inheritdoc IAdjudicator
    function transfer() external nonReentrant {
        bytes32 channelId = Reader.word(Reader.START);
        (address asset, uint256 cursor) = Reader.asset(Reader.START + 32);
        bytes32 stateHash = Reader.word(cursor);
        Outcome outcome;
        (outcome, cursor) = Reader.outcome(cursor + 32, Reader.channelOf(asset));
        uint256 indicesAt = cursor;
        cursor = Reader.indicesEnd(cursor);
        uint256 push = Reader.number(cursor, 1);
        Reader.requireEnd(cursor + 1);

        Word word = Words.load(Words.slotOf(channelId, asset));
        if (!word.isFinalized()) revert ChannelNotFinalized(channelId, word.finalizesAt());
        word.requireFingerprint(stateHash, Hashing.outcomeHash(outcome));
        uint256 chosen = _choose(outcome, indicesAt, cursor);

        if (chosen == ALL && _payAll(channelId, asset, word, outcome, push)) return;
        _payInPart(Payout(channelId, asset, word, stateHash, chosen, push), outcome);
    }

    /// @inheritdoc IAdjudicator
    function batch() external {
        Batch.run();
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
        return Hashing.channelId(fixedPart);
    }

    /// @inheritdoc IAdjudicator
    function stateHashOf(State calldata state) external pure returns (bytes32) {
        return Hashing.stateHash(state);
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
    function _requireLive(Channel channel) private view returns (bytes32 channelId, Word word) {
        channelId = channel.id();
        word = Words.load(Words.slotOf(channelId, channel.asset()));
        if (!word.isRecorded()) channel.requireValid();
        else if (word.isFinalized()) revert ChannelFinalized(channelId, word.finalizesAt());
    }

    /// @dev Refuses a proof of a turn that is not above the record (where nothing is recorded, any is), and what does not
    /// support its last state. Returns that state's hashes.
    function _requireNewer(bytes32 channelId, Word word, Channel channel, Proof proof)
        private
        view
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        uint256 turnNum = proof.last().turnNum();
        if (turnNum <= word.turnNumRecord() && word.isRecorded()) {
            revert TurnNumberNotIncreased(word.turnNumRecord(), uint48(turnNum));
        }
        (stateHash, outcomeHash) = _requireSupported(channelId, word, channel, proof);
        if (word.isClosed()) revert ChannelClosed(channelId);
    }

    /// @dev Refuses a proof that does not support its last state, and returns that state's hashes.
    function _requireSupported(bytes32 channelId, Word word, Channel channel, Proof proof)
        internal
        view
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        if (proof.count() == 1 && !proof.isFromRecord()) {
            (stateHash, outcomeHash) = Rules.requireValidState(channelId, channel, proof.last(), 0);
            Rules.requireSignedByAll(Hashing.digest(_domain(), stateHash), channel, proof.signaturesStart());
        } else {
            (stateHash, outcomeHash) = Rules.requireValidChain(channelId, word, channel, proof);
            if (proof.isFromRecord()) Rules.requireSignedByMovers(_domain(), channel, proof);
            else Rules.requireSignedInTurn(_domain(), channel, proof);
        }
    }

    /// @dev Refuses a proof whose last state is not the recorded one, which was found valid when it was recorded.
    function _requireRecorded(bytes32 channelId, Word word, Proof proof)
        private
        pure
        returns (bytes32 stateHash, bytes32 outcomeHash)
    {
        for (uint256 i = 0; i < proof.count(); ++i) {
            (stateHash, outcomeHash) = proof.state(i).hashes(channelId, outcomeHash);
        }
        word.requireFingerprint(stateHash, outcomeHash);
    }

    /// @dev A participant has signed the challenge, if anybody has (`isSigned`, where `cursor` is).
    function _requireChallenger(
        bytes32 channelId,
        Channel channel,
        uint256 turnNum,
        bytes32 stateHash,
        bool isSigned,
        uint256 cursor
    ) private view {
        if (!isSigned) revert ChallengerNotParticipant(msg.sender);
        bytes32 challengeHash = Hashing.challengeHash(channelId, turnNum, stateHash);
        address signer = Signatures.recover(Hashing.digest(_domain(), challengeHash), cursor);
        if (!channel.has(signer)) revert ChallengerNotParticipant(signer);
    }

    /// @dev The allocations to pay, as a set of bits. `cursor` and `end`: between which calldata has their indices, behind
    /// their count.
    function _choose(Outcome outcome, uint256 cursor, uint256 end) private pure returns (uint256 chosen) {
        if (cursor == end) return ALL;
        uint256 count = end - cursor - 1;
        uint256 first = Reader.number(cursor + 1, 1);
        for (uint256 i = 0; i < count; ++i) {
            uint256 index = Reader.number(cursor + 1 + i, 1);
            if (index >= outcome.length()) revert IndexOutOfRange(index);
            if (i != 0 && index <= Reader.number(cursor + i, 1)) revert IndicesNotIncreasing(i);
            if (outcome.entry(index).asset() != outcome.entry(first).asset()) revert IndexOfAnotherAsset(index);
            chosen |= 1 << index;
        }
    }

    /// @dev Where the lock is. Nothing else is in transient storage, and the library's own slot is a constant so long that
    /// it has to be copied from the code each time.
    function _reentrancyGuardStorageSlot() internal pure override returns (bytes32) {
        return 0;
    }

    /// @dev The EIP-712 domain: computed once, and again should the chain have forked away.
    function _domain() private view returns (bytes32) {
        return block.chainid == _chainId ? _domainSeparator : Hashing.domainSeparator();
    }

    // ------------------------------------------------------------------------------------------------------ effects

    /// @dev Records a state in the home asset's word, which was `word`; what the channel holds stays what it was.
    function _record(
        bytes32 channelId,
        Channel channel,
        Word word,
        uint256 turnNum,
        uint256 finalizesAt,
        uint256 fingerprint
    ) private returns (Word recorded) {
        address asset = channel.asset();
        recorded = Words.record(turnNum, finalizesAt, fingerprint);
        if (word.isRecorded()) {
            recorded = recorded.withFlagsOf(word);
        } else {
            uint256 total = channel.total();
            uint256 late = word.amount();
            unchecked {
                // A total of zero, which any amount would reach, wraps.
                if (total - 1 < late) {
                    late -= total;
                    recorded = recorded.withTotal(late != 0);
                }
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
    function _payAll(bytes32 channelId, address asset, Word word, Outcome outcome, uint256 push)
        private
        returns (bool)
    {
        uint256 count = outcome.length();
        uint256 total = 0;
        unchecked {
            for (uint256 i = 0; i < count; ++i) {
                Entry entry = outcome.entry(i);
                if (entry.asset() != asset) return false;
                if (!entry.destination().isAddress()) return false;
                total += entry.amount();
            }
        }
        uint256 held = _held(channelId, asset, word, total);
        if (held < total) return false;
        _close(channelId, asset, word, 0);

        unchecked {
            // An outcome that was signed by all, or recorded, is not empty.
            Entry last = outcome.entry(count - 1);
            last.setAmount(last.amount() + (held - total));
            for (uint256 i = 0; i < count; ++i) {
                Entry entry = outcome.entry(i);
                _push(asset, entry.destination(), entry.amount(), push);
            }
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

    /// @dev Pays what the holdings reach for, keeps the rest owed, and closes the channel if nothing is. Of `outcome` is
    /// left what is owed then.
    function _payInPart(Payout memory payout, Outcome outcome) private {
        (uint256[] memory payments, uint256[] memory left) = _takePayments(payout, outcome);
        bool owesNothing = true;
        bool paysAny = false;
        for (uint256 i = 0; i < payments.length; ++i) {
            Entry entry = outcome.entry(i);
            uint256 rest = entry.amount() - payments[i];
            entry.setAmount(rest);
            if (rest != 0) owesNothing = false;
            if (payments[i] != 0) paysAny = true;
        }
        if (owesNothing) {
            _closeAll(payout, outcome, payments, left);
        } else {
            bytes32 outcomeHash = Hashing.outcomeHash(outcome);
            _keepOwed(payout, outcome, left, paysAny, Words.fingerprintOf(payout.stateHash, outcomeHash));
            emit PartlyPaid(payout.channelId, payout.stateHash, outcome.toList());
        }
        for (uint256 i = 0; i < payments.length; ++i) {
            // Channels were credited when their payment was taken.
            if (!outcome.entry(i).destination().isAddress()) continue;
            _push(outcome.entry(i).asset(), outcome.entry(i).destination(), payments[i], payout.push);
        }
    }

    /// @dev What each chosen allocation is paid now; what goes to channels has arrived there on return. `left` is, at the
    /// place of an asset's last allocation, what the channel then holds of it. Nothing of it is stored yet.
    function _takePayments(Payout memory payout, Outcome outcome)
        private
        returns (uint256[] memory payments, uint256[] memory left)
    {
        payments = new uint256[](outcome.length());
        left = new uint256[](outcome.length());
        for (uint256 i = 0; i < outcome.length();) {
            address asset = outcome.entry(i).asset();
            (uint256 end, uint256 total) = Outcomes.groupTotal(outcome, i);
            uint256 held = _heldOf(payout, asset, total);
            uint256 available = held;
            for (; i < end; ++i) {
                uint256 worth = outcome.entry(i).amount() < available ? outcome.entry(i).amount() : available;
                available -= worth;
                if (worth == 0 || (payout.chosen >> i) & 1 == 0) continue;
                bytes32 destination = outcome.entry(i).destination();
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
        Outcome outcome,
        uint256[] memory payments,
        uint256[] memory left
    ) private {
        uint256 ofHome = _heldOf(payout, payout.asset, 0);
        for (uint256 i = 0; i < outcome.length(); ++i) {
            address asset = outcome.entry(i).asset();
            if (!outcome.isEnd(i + 1)) continue;
            bytes32 destination = outcome.entry(i).destination();
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
        Outcome outcome,
        uint256[] memory left,
        bool paysAny,
        uint256 fingerprint
    ) private {
        Word word = Words.record(payout.word.turnNumRecord(), payout.word.finalizesAt(), fingerprint)
            .withFlagsOf(payout.word);
        if (paysAny) {
            uint256 held = _heldOf(payout, payout.asset, 0);
            for (uint256 i = 0; i < outcome.length(); ++i) {
                address asset = outcome.entry(i).asset();
                if (!outcome.isEnd(i + 1)) continue;
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
