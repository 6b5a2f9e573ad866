// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Allocation, FixedPart} from "../../contracts/types/Channel.sol";
import {Token} from "./Token.sol";
import {World, both, implies} from "./World.sol";

/// @title Somebody who takes ether or refuses it
contract Recipient {
    bool private immutable _REFUSES;

    constructor(bool refuses) {
        _REFUSES = refuses;
    }

    receive() external payable {
        if (_REFUSES) revert();
    }
}

/// @title A payout of one channel in one asset to two addresses, and what is claimed of each
abstract contract Payouts is World {
    /// @param asset What it pays in, which is the home asset.
    /// @param word The word of that asset before, and `late` the late one.
    /// @param total What the channel is funded with.
    /// @param held What it holds before.
    /// @param amounts What each is owed by `outcome`.
    /// @param done Whether the call was not refused; if it was, nothing below is set.
    /// @param paid What each has been paid: what arrived and what was credited, if it is an address.
    /// @param laterWord The word afterwards, and `laterLate` the late one.
    /// @param left What the channel holds afterwards.
    /// @param spent What has left the adjudicator.
    struct Payout {
        address asset;
        bytes32 channelId;
        bytes32 stateHash;
        Allocation[] outcome;
        uint256 word;
        uint256 late;
        uint256 total;
        uint256 held;
        uint256[2] amounts;
        bool done;
        uint256[2] paid;
        uint256 laterWord;
        uint256 laterLate;
        uint256 left;
        uint256 spent;
    }

    // ------------------------------------------------------------------------------------------------------ events

    /// @dev What is owed in ether to two who may refuse it, where `mayRefuse` says so.
    function _anyPayments(Payout memory payout, bool mayRefuse) internal {
        payout.outcome = _anyOutcome(ETHER);
        for (uint256 i = 0; i < 2; ++i) {
            payout.outcome[i].destination = bytes32(uint256(uint160(_etherRecipient(mayRefuse))));
            payout.amounts[i] = payout.outcome[i].amount;
        }
    }

    function _etherRecipient(bool mayRefuse) internal returns (address) {
        return address(new Recipient(mayRefuse ? SVM.createBool("refuses") : false));
    }

    function _before(Payout memory payout, bytes32 channelId) internal {
        payout.channelId = channelId;
        _anyTime();
        VM.deal(address(adjudicator), ALL_ETHER);
    }

    /// @dev A channel with a record, full or not.
    function _someRecord(Payout memory payout) internal {
        _someRecordOf(payout, 2);
    }

    /// @param count How many of the outcome's allocations are of the home asset.
    function _someRecordOf(Payout memory payout, uint256 count) internal {
        uint256 word = RECORDED | SVM.createUint(252, "record");
        if (SVM.createBool("full")) {
            payout.total = _anyTotal(payout, count);
            _someTotal(payout, word);
        } else {
            _someLate(payout, word);
        }
    }

    /// @dev A channel that can conclude: with a record or without one, full only if `mayBeFull`.
    function _anyHeld(Payout memory payout, FixedPart memory fixedPart, bool mayBeFull) internal {
        uint256 word = RECORDED | SVM.createUint(252, "record");
        if (mayBeFull && SVM.createBool("full")) {
            payout.total = _anyTotal(payout, 2);
            fixedPart.total = payout.total;
            _before(payout, adjudicator.channelIdOf(fixedPart));
            _someTotal(payout, word);
        } else {
            payout.total = fixedPart.total;
            _before(payout, adjudicator.channelIdOf(fixedPart));
            if (SVM.createBool("recorded")) _someLate(payout, word);
            else _someMoney(payout);
        }
    }

    /// @dev It is full, which is to hold what the outcome pays, and may hold more in the late word.
    function _someTotal(Payout memory payout, uint256 word) private {
        word |= FULL;
        if (SVM.createBool("surplus")) {
            payout.late = SVM.createUint(95, "late");
            word |= SURPLUS;
        }
        payout.held = payout.total + payout.late;
        _storeWords(payout, word);
    }

    /// @dev It has all that it holds in the late word.
    function _someLate(Payout memory payout, uint256 word) private {
        (payout.late, payout.held) = _someHeld();
        _storeWords(payout, word);
    }

    /// @dev A channel of which nothing is recorded; it may be closed, with what was stuck.
    function _someMoney(Payout memory payout) private {
        payout.held = SVM.createUint(96, "held");
        _storeWords(payout, payout.held | (SVM.createUint(1, "closed") << 255));
    }

    /// @dev What an outcome pays of the home asset when that is there, which is below half of ALL_ETHER.
    function _anyTotal(Payout memory payout, uint256 count) private pure returns (uint256 total) {
        for (uint256 i = 0; i < count; ++i) {
            payout.amounts[i] = SVM.createUint(94, "amount");
            payout.outcome[i].amount = payout.amounts[i];
            total += payout.amounts[i];
        }
        VM.assume(total != 0);
    }

    function _storeWords(Payout memory payout, uint256 word) private {
        payout.word = word;
        _storeWord(payout.channelId, payout.asset, word);
        _storeLate(payout.channelId, payout.asset, payout.late);
    }

    function _transfer(Payout memory payout, uint256[] memory indices) internal {
        payout.stateHash = SVM.createBytes32("state");
        // What is recorded was found valid.
        VM.assume(payout.amounts[0] <= type(uint256).max - payout.amounts[1]);
        bytes memory chosen = indices.length == 0 ? bytes("") : abi.encodePacked(uint8(indices.length));
        for (uint256 i = 0; i < indices.length; ++i) {
            chosen = abi.encodePacked(chosen, uint8(indices[i]));
        }
        bytes memory arguments =
            abi.encodePacked(payout.channelId, uint8(20), payout.asset, payout.stateHash, _packed(payout.outcome));
        _pay(payout, abi.encodePacked(adjudicator.transfer.selector, arguments, chosen, uint8(7)));
    }

    function _conclusion(FixedPart memory fixedPart, Payout memory payout, uint48 turnNum)
        internal
        view
        returns (bytes memory)
    {
        bytes memory arguments = bytes.concat(_packed(fixedPart), bytes6(turnNum), _packed(payout.outcome));
        return abi.encodePacked(adjudicator.conclude.selector, arguments, _anySignatures(2), uint8(7));
    }

    function _pay(Payout memory payout, bytes memory call) internal {
        (payout.done,) = address(adjudicator).call(call);
        if (!payout.done) return;
        payout.spent = ALL_ETHER - _balance(address(adjudicator), payout.asset);
        payout.laterWord = _word(payout.channelId, payout.asset);
        payout.laterLate = _late(payout.channelId, payout.asset);
        payout.left = _leftOf(payout.laterWord, payout.laterLate, payout.total);
        for (uint256 i = 0; i < 2; ++i) {
            uint256 destination = uint256(payout.outcome[i].destination);
            if (destination >> 160 == 0) payout.paid[i] = _paid(address(uint160(destination)), payout.asset);
        }
    }

    /// @dev As `_heldOf`, with jumps: on its path a word that was written has known flags, and the solver less to do.
    function _leftOf(uint256 word, uint256 late, uint256 total) private pure returns (uint256 left) {
        if (!_isRecorded(word)) return word & MAX_HELD;
        if (word & FULL != 0) left = total;
        if (word & (FULL | SURPLUS) != FULL) left += late & MAX_HELD;
    }

    /// @dev What somebody who had nothing before was paid.
    function _paid(address account, address asset) internal view returns (uint256) {
        return _balance(account, asset) + _credit(account, asset);
    }

    function _balance(address account, address asset) private view returns (uint256) {
        return asset == ETHER ? account.balance : Token(asset).balanceOf(account);
    }

    // ------------------------------------------------------------------------------------------------------ claims

    /// @dev What is over goes with the last payment once nothing is owed.
    function _requirePaidInOrder(Payout memory payout) internal pure {
        uint256 held = payout.held;
        uint256 first = _least(payout.amounts[0], held);
        unchecked {
            _requirePaid(payout, first, _least(payout.amounts[1], held - first));
        }
    }

    /// @dev Each is paid this much, and the second what is over, too, if nothing is owed then: the channel closes exactly
    /// in that case.
    function _requirePaid(Payout memory payout, uint256 first, uint256 second) internal pure {
        bool closed = _isClosed(payout);
        unchecked {
            uint256 rest = payout.held - first - second;
            uint256 over = closed ? rest : 0;
            bool paid = both(payout.paid[0] == first, payout.paid[1] == second + over);
            bool taken = both(payout.left == rest - over, payout.spent <= first + second + over);
            assert(both(both(paid, taken), payout.word & CLOSED == 0));
        }
        assert(both(first == payout.amounts[0], second == payout.amounts[1]) == closed);
        if (closed) assert(_isClosedForGood(payout));
    }

    function _isClosed(Payout memory payout) internal pure returns (bool) {
        return payout.laterWord & CLOSED != 0;
    }

    /// @dev Of a channel that closes nothing is left, neither money nor a record.
    function _isClosedForGood(Payout memory payout) internal pure returns (bool) {
        return both(payout.laterWord == CLOSED, payout.laterLate == 0);
    }

    /// @dev The channel is not closed; if it has paid anything, it takes no more deposits and is not called full.
    function _isBegun(Payout memory payout) internal pure returns (bool) {
        bool begun = both(payout.laterLate & PAYOUT_BEGUN != 0, payout.laterWord & (FULL | SURPLUS) == 0);
        bool open = both(_isRecorded(payout.laterWord), payout.laterWord & CLOSED == 0);
        return both(open, implies(payout.paid[0] | payout.paid[1] != 0, begun));
    }

    /// @dev Without a jump.
    function _least(uint256 one, uint256 other) internal pure returns (uint256 least) {
        assembly ("memory-safe") {
            least := xor(other, and(xor(one, other), sub(0, lt(one, other))))
        }
    }
}
