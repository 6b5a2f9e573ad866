// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {StorageSlot} from "@openzeppelin/contracts/utils/StorageSlot.sol";

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Hashing} from "./Hashing.sol";

/// @notice What the adjudicator remembers of one asset of one channel, in one storage word. Without a record:
/// CLOSED (bit 255), PAYOUT_BEGUN (bit 253), the amount held (253 bits). With a record, which only the home asset's
/// word has: RECORDED (bit 254), FULL (bit 253), SURPLUS (bit 252), turn number (32 bits), `finalizesAt` (34 bits),
/// fingerprint (186 bits); then what is held is the channel's total (FULL), and what the late word holds.
type Word is uint256;

using Words for Word global;

/// @title Packed storage words
/// @dev One word for money and record: a challenge of a funded channel writes no new slot, and what closes a channel
/// clears its record. The mode is derived from the clock and never stored: Open has no `finalizesAt`, Challenge one that
/// is to come, Finalized one that is not.
library Words {
    /// @dev Nothing held, nothing recorded.
    Word internal constant EMPTY = Word.wrap(0);
    uint256 private constant CLOSED = 1 << 255;
    uint256 private constant RECORDED_AT = 254;
    uint256 private constant RECORDED = 1 << RECORDED_AT;
    uint256 private constant PAYOUT_BEGUN = 1 << 253;
    uint256 private constant FULL = 1 << 253;
    uint256 private constant SURPLUS = 1 << 252;
    /// @dev The most that a channel can hold of an asset.
    uint256 internal constant MAX_AMOUNT = PAYOUT_BEGUN - 1;
    uint256 private constant TURN_NUM_AT = 220;
    uint256 private constant FINALIZES_AT_AT = 186;
    uint256 private constant MAX_TURN_NUM = type(uint32).max;
    uint256 private constant MAX_FINALIZES_AT = (1 << 34) - 1;
    uint256 private constant FINGERPRINT = (1 << 186) - 1;

    // ------------------------------------------------------------------------------------------------------ storage

    /// @dev The slot of an asset's word: keccak256(channelId, asset).
    function slotOf(bytes32 channelId, address asset) internal pure returns (bytes32) {
        return Hashing.pairHash(channelId, bytes32(uint256(uint160(asset))));
    }

    /// @dev The slot of what a recorded channel holds of its home asset beside a FULL total:
    /// keccak256(channelId, asset + 2**160).
    function lateSlotOf(bytes32 channelId, address asset) internal pure returns (bytes32) {
        return Hashing.pairHash(channelId, bytes32(uint256(uint160(asset)) | (1 << 160)));
    }

    function load(bytes32 slot) internal view returns (Word) {
        return Word.wrap(StorageSlot.getUint256Slot(slot).value);
    }

    function store(bytes32 slot, Word word) internal {
        StorageSlot.getUint256Slot(slot).value = Word.unwrap(word);
    }

    // ------------------------------------------------------------------------------------------------------- record

    /// @dev The word of a record.
    function record(uint256 turnNum, uint256 finalizesAt_, uint256 fingerprint_) internal pure returns (Word) {
        if (turnNum > MAX_TURN_NUM) revert IAdjudicator.TurnNumberTooHigh(turnNum);
        if (finalizesAt_ > MAX_FINALIZES_AT) revert IAdjudicator.TimeTooLate(finalizesAt_);
        return Word.wrap(RECORDED | (turnNum << TURN_NUM_AT) | (finalizesAt_ << FINALIZES_AT_AT) | fingerprint_);
    }

    /// @dev A record that takes the place of another one: FULL and SURPLUS stay as they are.
    function withFlagsOf(Word word, Word before) internal pure returns (Word) {
        return Word.wrap(Word.unwrap(word) | (Word.unwrap(before) & (FULL | SURPLUS)));
    }

    /// @dev A record of a channel that holds its total, and more where there is a surplus.
    function withTotal(Word word, bool hasSurplus_) internal pure returns (Word) {
        return Word.wrap(Word.unwrap(word) | FULL | (hasSurplus_ ? SURPLUS : 0));
    }

    /// @dev A record of a channel all of whose money is in the late word.
    function withoutTotal(Word word) internal pure returns (Word) {
        return Word.wrap(Word.unwrap(word) & ~(FULL | SURPLUS));
    }

    function isRecorded(Word word) internal pure returns (bool) {
        return Word.unwrap(word) & RECORDED != 0;
    }

    /// @dev Of a record: whether the channel holds its total.
    function isFull(Word word) internal pure returns (bool) {
        return Word.unwrap(word) & FULL != 0;
    }

    /// @dev Of a record: whether the late word has to be read.
    function hasLate(Word word) internal pure returns (bool) {
        return Word.unwrap(word) & (FULL | SURPLUS) != FULL;
    }

    function turnNumRecord(Word word) internal pure returns (uint48) {
        return uint32(_ifRecorded(word) >> TURN_NUM_AT);
    }

    function finalizesAt(Word word) internal pure returns (uint48) {
        return uint48((_ifRecorded(word) >> FINALIZES_AT_AT) & MAX_FINALIZES_AT);
    }

    /// @dev The word where it is a record, else zero.
    function _ifRecorded(Word word) private pure returns (uint256) {
        unchecked {
            return (Word.unwrap(word) >> RECORDED_AT & 1) * Word.unwrap(word);
        }
    }

    function isOpen(Word word) internal pure returns (bool) {
        return word.finalizesAt() == 0;
    }

    /// @dev At exactly `finalizesAt` it is too late to answer and time to pay.
    function isFinalized(Word word) internal view returns (bool) {
        return !word.isOpen() && block.timestamp >= word.finalizesAt();
    }

    /// @dev Refuses a state, given by its hashes, that is not the recorded one.
    function requireFingerprint(Word word, bytes32 stateHash, bytes32 outcomeHash) internal pure {
        uint256 recorded = _ifRecorded(word) & FINGERPRINT;
        uint256 submitted = fingerprintOf(stateHash, outcomeHash);
        if (recorded != submitted) revert IAdjudicator.FingerprintMismatch(recorded, submitted);
    }

    /// @dev The low 186 bits of keccak256(stateHash, outcomeHash). After a payout the outcome is what is left.
    function fingerprintOf(bytes32 stateHash, bytes32 outcomeHash) internal pure returns (uint256) {
        return uint256(Hashing.pairHash(stateHash, outcomeHash)) & FINGERPRINT;
    }

    // -------------------------------------------------------------------------------------------------------- money

    /// @dev A word that holds an amount, of a channel that has paid nothing out.
    function wrap(uint256 amount_) internal pure returns (Word) {
        return Word.wrap(amount_);
    }

    /// @dev Of a word without a record.
    function amount(Word word) internal pure returns (uint256) {
        return Word.unwrap(word) & MAX_AMOUNT;
    }

    /// @dev Of a channel that has paid everything out, and is closed forever. `stuck`: what had nowhere to go.
    function closed(uint256 stuck) internal pure returns (Word) {
        return Word.wrap(CLOSED | stuck);
    }

    function isClosed(Word word) internal pure returns (bool) {
        return Word.unwrap(word) & CLOSED != 0;
    }

    /// @dev Of a word without a record.
    function hasPayoutBegun(Word word) internal pure returns (bool) {
        return Word.unwrap(word) & PAYOUT_BEGUN != 0;
    }

    /// @dev The amount of a word without a record, where nothing has been paid out; the error tells whether anything more
    /// can come of the channel.
    function requireNoPayout(Word word, bytes32 channelId) internal pure returns (uint256) {
        if (Word.unwrap(word) > MAX_AMOUNT) {
            if (word.isClosed()) revert IAdjudicator.ChannelClosed(channelId);
            revert IAdjudicator.PayoutBegun(channelId);
        }
        return Word.unwrap(word);
    }

    /// @dev Whether `more` can be added without exceeding MAX_AMOUNT.
    function fits(Word word, uint256 more) internal pure returns (bool) {
        return more <= MAX_AMOUNT - word.amount();
    }

    /// @dev The caller has checked that it `fits`; the flag stays.
    function plus(Word word, uint256 more) internal pure returns (Word) {
        unchecked {
            return Word.wrap(Word.unwrap(word) + more);
        }
    }

    /// @dev What is left once the channel has begun to pay out.
    function afterPayout(uint256 amount_) internal pure returns (Word) {
        return Word.wrap(amount_ | PAYOUT_BEGUN);
    }
}
