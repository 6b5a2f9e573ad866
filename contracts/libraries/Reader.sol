// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAdjudicator} from "../interfaces/IAdjudicator.sol";
import {Channel} from "./Channels.sol";
import {Hashing} from "./Hashing.sol";
import {Outcome} from "./Outcomes.sol";
import {Proof, Proofs} from "./Proofs.sol";
import {GivenState} from "./States.sol";

/// @title The reader of packed calldata
/// @dev Each function reads what begins at `cursor`, puts it where the free memory begins, and returns it with the place
/// where it ends; `contracts/README.md` lists the bytes. Beyond calldata's end there are zeros: what has read them is
/// refused by `requireEnd`. Written in assembly because every operation pays for it: Solidity needs twice the gas.
library Reader {
    /// @dev Where the arguments begin, after the selector.
    uint256 internal constant START = 4;
    uint256 internal constant SIGNATURE_SIZE = 64;
    /// @dev Where in a proof its head stands, which tells how many states it has.
    uint256 private constant HEAD_AT = 6;
    uint256 private constant FROM_RECORD = 0x80;

    // A state's flags.
    uint256 private constant FINAL = 1;
    uint256 private constant SAME_OUTCOME = 2;
    uint256 private constant IN_WORDS = 4;
    uint256 private constant EVIDENCE_HASH = 8;
    uint256 private constant EVIDENCE = 16;
    // Those that a state may have that is alone, the first of several, or a later one: the hash of its evidence is enough
    // only where no app is asked about it, and only the later ones have a state before.
    uint256 internal constant ALONE = FINAL | IN_WORDS | EVIDENCE;
    uint256 internal constant FIRST = ALONE | EVIDENCE_HASH;
    uint256 internal constant LATER = ALONE | SAME_OUTCOME;

    /// @dev No state before.
    GivenState internal constant NONE = GivenState.wrap(0);

    /// @dev Refuses calldata of which more or less than all was read.
    function requireEnd(uint256 end) internal pure {
        if (end != msg.data.length) revert IAdjudicator.LengthMismatch(end, msg.data.length);
    }

    /// @dev The number in the next `size` bytes, 0 to 32.
    function number(uint256 cursor, uint256 size) internal pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := shr(sub(256, shl(3, size)), calldataload(cursor))
        }
    }

    /// @dev The next 32 bytes.
    function word(uint256 cursor) internal pure returns (bytes32 value) {
        assembly ("memory-safe") {
            value := calldataload(cursor)
        }
    }

    /// @dev Head (1: bits 0 to 3 the number of participants, bit 7 that the home asset is ether), nonce (8), app (20), duration
    /// (4), asset (20, unless it is ether), size of total (1), total, participants (20 each).
    function channel(uint256 cursor) internal view returns (Channel result, uint256 end) {
        bytes4 notCanonical = IAdjudicator.NotCanonical.selector;
        assembly ("memory-safe") {
            let head := byte(0, calldataload(cursor))
            if and(head, 0x70) { refuse(notCanonical, cursor) }
            result := mload(0x40)
            mstore(add(result, 0x20), chainid())
            mstore(add(result, 0x40), address())
            mstore(add(result, 0x60), shr(192, calldataload(add(cursor, 1))))
            mstore(add(result, 0x80), shr(96, calldataload(add(cursor, 9))))
            mstore(add(result, 0xa0), shr(224, calldataload(add(cursor, 29))))
            end := add(cursor, 33)
            mstore(add(result, 0xc0), 0)
            if lt(head, 0x80) {
                mstore(add(result, 0xc0), shr(96, calldataload(end)))
                end := add(end, 20)
            }
            let size := byte(0, calldataload(end))
            if gt(size, 32) { refuse(notCanonical, end) }
            end := add(end, 1)
            mstore(add(result, 0xe0), shr(sub(256, shl(3, size)), calldataload(end)))
            end := add(end, size)
            let next := add(result, 0x100)
            let last := add(next, shl(5, and(head, 0x0f)))
            for {} lt(next, last) { next := add(next, 0x20) } {
                mstore(next, shr(96, calldataload(end)))
                end := add(end, 20)
            }
            mstore(result, sub(sub(last, result), 0x20))
            mstore(0x40, last)
            function refuse(selector, place) {
                mstore(0, selector)
                mstore(4, place)
                revert(0, 0x24)
            }
        }
    }

    /// @dev Size (1: 0 for ether, else 20), address.
    function asset(uint256 cursor) internal pure returns (address result, uint256 end) {
        uint256 size = number(cursor, 1);
        if (size != 0 && size != 20) revert IAdjudicator.NotCanonical(cursor);
        unchecked {
            return (address(uint160(number(cursor + 1, size))), cursor + 1 + size);
        }
    }

    /// @dev A channel of which only the home asset is known.
    function channelOf(address home) internal pure returns (Channel result) {
        assembly ("memory-safe") {
            result := mload(0x40)
            mstore(result, 0xe0)
            mstore(add(result, 0xc0), home)
            mstore(add(result, 0xe0), 0)
            mstore(0x40, add(result, 0x100))
        }
    }

    /// @dev Where indices end, of which there are none where only one more byte is left: count (1, not 0) and 1 each.
    function indicesEnd(uint256 cursor) internal pure returns (uint256) {
        unchecked {
            if (msg.data.length <= cursor + 1) return cursor;
            uint256 count = number(cursor, 1);
            if (count == 0) revert IAdjudicator.NotCanonical(cursor);
            return cursor + 1 + count;
        }
    }

    /// @dev Count (1); of each allocation, where its asset is another one than before (home, before the first), 62 (1) and the
    /// asset (20); tag (1: the destination's kind in bits 6 and 7, the amount's size in the others), destination (none,
    /// 20 or 32), amount (0 to 32, or none where the size is 63: the rest of the total).
    /// @param channel_ Whose participants kind 0 stands for, each at its place.
    function outcome(uint256 cursor, Channel channel_) internal pure returns (Outcome result, uint256 end) {
        bytes4 notCanonical = IAdjudicator.NotCanonical.selector;
        assembly ("memory-safe") {
            result := mload(0x40)
            let next := add(result, 0x20)
            mstore(result, byte(0, calldataload(cursor)))
            mstore(0x40, add(next, mul(mload(result), 0x60)))
            end := add(cursor, 1)
            let participant := add(channel_, 0x100)
            let current := mload(add(channel_, 0xc0))
            let rest := mload(add(channel_, 0xe0))
            for {} lt(next, mload(0x40)) { next := add(next, 0x60) } {
                let tag := byte(0, calldataload(end))
                if eq(tag, 62) {
                    current := shr(96, calldataload(add(end, 1)))
                    end := add(end, 21)
                    tag := byte(0, calldataload(end))
                }
                let place := end
                end := add(end, 1)
                mstore(next, current)
                switch shr(6, tag)
                case 0 {
                    if gt(participant, add(channel_, mload(channel_))) { refuse(notCanonical, place) }
                    mstore(add(next, 0x20), mload(participant))
                }
                case 1 {
                    mstore(add(next, 0x20), shr(96, calldataload(end)))
                    end := add(end, 20)
                }
                case 2 {
                    mstore(add(next, 0x20), calldataload(end))
                    end := add(end, 32)
                }
                default { refuse(notCanonical, place) }
                participant := add(participant, 0x20)
                let size := and(tag, 0x3f)
                let isHome := eq(current, mload(add(channel_, 0xc0)))
                let value := rest
                switch gt(size, 32)
                case 0 {
                    value := shr(sub(256, shl(3, size)), calldataload(end))
                    end := add(end, size)
                }
                default {
                    let total := mload(add(channel_, 0xe0))
                    if or(iszero(and(eq(size, 63), isHome)), or(iszero(total), gt(rest, total))) {
                        refuse(notCanonical, place)
                    }
                }
                mstore(add(next, 0x40), value)
                rest := sub(rest, mul(value, isHome))
            }
            function refuse(selector, place) {
                mstore(0, selector)
                mstore(4, place)
                revert(0, 0x24)
            }
        }
    }

    /// @dev Flags (1), outcome (unless it is that of the state before), appData, evidence or its hash (32). Its turn number is
    /// for the caller to set.
    /// @param before The state before, or `NONE`.
    /// @param allowed The flags that it may have.
    function state(uint256 cursor, Channel channel_, GivenState before, uint256 allowed)
        internal
        pure
        returns (GivenState given, uint256 end)
    {
        uint256 flags = number(cursor, 1);
        if (flags & EVIDENCE_HASH != 0) allowed &= ~(EVIDENCE | FINAL);
        if (flags & ~allowed != 0) revert IAdjudicator.NotCanonical(cursor);
        assembly ("memory-safe") {
            given := add(mload(0x40), 0x60)
            mstore(sub(given, 0x20), shr(1, and(flags, SAME_OUTCOME)))
            mstore(given, 0xa0)
            mstore(add(given, 0x80), and(flags, FINAL))
            mstore(0x40, add(given, 0xa0))
            end := add(cursor, 1)
        }
        if (flags & SAME_OUTCOME != 0) _repeatOutcome(before);
        else (, end) = outcome(end, channel_);
        uint256 appData = _free();
        end = flags & IN_WORDS != 0 ? _words(end, before) : _bytes(end);
        uint256 evidence = _free();
        bytes32 evidenceHash = Hashing.EMPTY_HASH;
        if (flags & EVIDENCE != 0) {
            if (number(end, 2) == 0) revert IAdjudicator.NotCanonical(end);
            end = _bytes(end);
            evidenceHash = Hashing.bytesHash(evidence);
        } else {
            _noBytes();
            if (flags & EVIDENCE_HASH != 0) (evidenceHash, end) = (word(end), end + 32);
        }
        assembly ("memory-safe") {
            mstore(sub(given, 0x40), evidenceHash)
            mstore(add(given, 0x20), sub(appData, given))
            mstore(add(given, 0x40), sub(evidence, given))
        }
    }

    /// @dev The last turn (6), head (1: how many states, 128 more where the first is the recorded one), the states; where
    /// several are signed by all, the index of the one that each participant has signed (1 each); signatures (64 each).
    function proof(uint256 cursor, Channel channel_) internal pure returns (Proof result) {
        unchecked {
            uint256 head = number(cursor + HEAD_AT, 1);
            uint256 count = head & ~FROM_RECORD;
            // Where there is none the difference wraps.
            if (count - 1 >= channel_.count()) revert IAdjudicator.StateCountOutOfRange(count);
            uint256 turn = number(cursor, 6) + 1;
            if (count > turn) revert IAdjudicator.NotCanonical(cursor + HEAD_AT);
            turn -= count;
            result = Proofs.create(count, head != count, cursor);
            uint256 allowed = count == 1 ? ALONE : FIRST;
            GivenState given = NONE;
            uint256 end = cursor + HEAD_AT + 1;
            for (uint256 i = 0; i < count; ++i) {
                (given, end) = state(end, channel_, given, allowed);
                given.setTurnNum(turn + i);
                result.setState(i, given);
                allowed = LATER;
            }
            uint256 signedStart = end;
            uint256 signers = channel_.count();
            if (head != count) signers = count - 1;
            else if (count != 1) end += signers;
            result.setEnds(signedStart, end, end + SIGNATURE_SIZE * signers);
        }
    }

    /// @dev The arguments up to the signatures of a challenge with the recorded state, as they are logged: as if from the
    /// record, and without what was not checked.
    function reopened(Proof given) internal pure returns (bytes memory logged) {
        logged = msg.data[START:given.signedStart()];
        logged[given.start() - START + HEAD_AT] |= bytes1(uint8(FROM_RECORD));
    }

    // ------------------------------------------------------------------------------------- parts of a state, in a row

    function _free() private pure returns (uint256 pointer) {
        assembly ("memory-safe") {
            pointer := mload(0x40)
        }
    }

    function _repeatOutcome(GivenState before) private pure {
        assembly ("memory-safe") {
            let size := sub(mload(add(before, 0x20)), 0xa0)
            let next := mload(0x40)
            mcopy(next, add(before, 0xa0), size)
            mstore(0x40, add(next, size))
        }
    }

    function _noBytes() private pure {
        assembly ("memory-safe") {
            let next := mload(0x40)
            mstore(next, 0)
            mstore(0x40, add(next, 0x20))
        }
    }

    /// @dev Size (2) and the bytes. The last word is zeroed before it is written.
    function _bytes(uint256 cursor) private pure returns (uint256 end) {
        assembly ("memory-safe") {
            let size := shr(240, calldataload(cursor))
            let next := mload(0x40)
            let last := add(next, and(add(size, 0x3f), not(0x1f)))
            mstore(sub(last, 0x20), 0)
            mstore(next, size)
            end := add(cursor, 2)
            calldatacopy(add(next, 0x20), end, size)
            end := add(end, size)
            mstore(0x40, last)
        }
    }

    /// @dev Count (1) and tokens: up to 0x20 one word with so many low bytes; from 0x40 on 1 to 64 words of zeros, from 0x80 on
    /// as many as at the same places of the state before, from 0xc0 on as many that follow.
    function _words(uint256 cursor, GivenState before) private pure returns (uint256 end) {
        bytes4 notCanonical = IAdjudicator.NotCanonical.selector;
        assembly ("memory-safe") {
            let next := mload(0x40)
            let last := add(next, shl(5, byte(0, calldataload(cursor))))
            mstore(next, sub(last, next))
            let distance := 0
            let sourceEnd := 0
            if before {
                let source := add(before, mload(add(before, 0x20)))
                distance := sub(source, next)
                sourceEnd := add(add(source, 0x20), mload(source))
            }
            next := add(next, 0x20)
            last := add(last, 0x20)
            mstore(0x40, last)
            end := add(cursor, 1)
            for {} lt(next, last) {} {
                let token := byte(0, calldataload(end))
                if lt(token, 33) {
                    mstore(next, shr(sub(256, shl(3, token)), calldataload(add(end, 1))))
                    next := add(next, 0x20)
                    end := add(end, add(token, 1))
                    continue
                }
                let size := shl(5, add(and(token, 0x3f), 1))
                let after_ := add(next, size)
                let kind := shr(6, token)
                if or(gt(after_, last), or(iszero(kind), and(eq(kind, 2), gt(add(after_, distance), sourceEnd)))) {
                    mstore(0, notCanonical)
                    mstore(4, end)
                    revert(0, 0x24)
                }
                end := add(end, 1)
                switch kind
                case 1 { calldatacopy(next, calldatasize(), size) }
                case 2 { mcopy(next, add(next, distance), size) }
                default {
                    calldatacopy(next, end, size)
                    end := add(end, size)
                }
                next := after_
            }
        }
    }
}
